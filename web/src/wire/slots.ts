// A few places for many streams. Whoever waits gets the next one; whoever has one is told when others wait.

export class Slots {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get wanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves with a place. One that is given up while waiting is passed on. */
  enter(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const admitted = () => {
        signal.removeEventListener("abort", gone);
        resolve();
      };
      const gone = () => {
        this.#waiting = this.#waiting.filter((one) => one !== admitted);
        // The caller leaves like any other, so it needs a place to leave.
        this.#free -= 1;
        resolve();
      };
      signal.addEventListener("abort", gone, { once: true });
      this.#waiting.push(admitted);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
