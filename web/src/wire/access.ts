// Whether the server lets us in.

import { signal } from "@preact/signals";

/** `refused` as soon as one call was; the page then asks for a token. */
export const access = signal<"unknown" | "granted" | "refused">("unknown");
