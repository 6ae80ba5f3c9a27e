// Whether something is folded. Rows come and go while the reader scrolls, so it is remembered outside of them.

import { signal, type Signal } from "@preact/signals";

const folds = new Map<string, Signal<boolean>>();

export function openness(key: string, initially: boolean): Signal<boolean> {
  let fold = folds.get(key);
  if (fold === undefined) folds.set(key, (fold = signal(initially)));
  return fold;
}
