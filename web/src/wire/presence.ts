// Whether somebody looks. A browser has six connections to a server over plain HTTP, for all of its pages together, so a
// page that nobody looks at gives its own back after a while.

const PATIENCE = 10_000;

let away = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function become(now: boolean): void {
  if (away === now) return;
  away = now;
  for (const told of [...listeners]) told();
}

if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => become(true), PATIENCE);
    else become(false);
  });
}

export function isAway(): boolean {
  return away;
}

/** Told when the page is left, and when it is looked at again. */
export function onPresence(told: () => void): () => void {
  listeners.add(told);
  return () => listeners.delete(told);
}

/** At once, or when somebody looks again. */
export function present(signal: AbortSignal): Promise<void> {
  if (!away || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      deaf();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const deaf = onPresence(done);
    signal.addEventListener("abort", done);
  });
}
