// Whether the inspector is shown: known apart from it, as it is loaded only then.

import { signal } from "@preact/signals";

export const inspectorOpen = signal(false);
