// Once a frame, and never for long: whatever comes in between waits for the next one.

// Leaves most of a frame to layout and paint.
const BUDGET = 6;

/** Works a queue off in slices of one frame; `drawn` is told after each. */
export class FrameQueue<T> {
  #waiting: T[] = [];
  #next = 0;
  #scheduled = false;

  constructor(
    private readonly work: (one: T) => void,
    private readonly drawn: () => void,
    private readonly schedule: (run: () => void) => void = nextFrame,
    private readonly now: () => number = () => performance.now(),
  ) {}

  push(one: T): void {
    this.#waiting.push(one);
    if (!this.#scheduled) this.#again();
  }

  #again(): void {
    this.#scheduled = true;
    this.schedule(() => this.#run());
  }

  #run(): void {
    this.#scheduled = false;
    const began = this.now();
    while (this.#next < this.#waiting.length) {
      this.work(this.#waiting[this.#next++] as T);
      if (this.#next % 16 === 0 && this.now() - began > BUDGET) break;
    }
    if (this.#next >= this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else {
      this.#again();
    }
    this.drawn();
  }
}

/** A page in the background gets no frames, but what it holds should still be up to date. */
export function nextFrame(run: () => void): void {
  if (document.hidden) setTimeout(run, 100);
  else requestAnimationFrame(run);
}
