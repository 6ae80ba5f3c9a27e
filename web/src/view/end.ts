// The end of the conversation, for whoever wants to go there.

import { signal } from "@preact/signals";

/** Grows with each wish. */
export const jumps = signal(0);

export function toEnd(): void {
  jumps.value += 1;
}
