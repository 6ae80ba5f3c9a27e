// Which dialog is open, if any.

import { signal } from "@preact/signals";

export type DialogName = "settings" | "statistics" | "help" | "licenses";

export const dialog = signal<DialogName | undefined>(undefined);
