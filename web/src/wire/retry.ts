// How long to wait before trying again, and a wait that can be cut short.

const FIRST = 400;
const LONGEST = 10_000;

/** Doubles up to ten seconds; the spread keeps many pages from coming back in one beat. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST, FIRST * 2 ** attempt);
  return Math.round(full * (0.75 + random() * 0.5));
}

const waiting = new Set<() => void>();

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      waiting.delete(done);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    waiting.add(done);
    signal?.addEventListener("abort", done);
  });
}

/** Everything that waits to try again does so now. */
export function hurry(): void {
  for (const done of [...waiting]) done();
}
