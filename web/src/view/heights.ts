// How high rows are, as far as they were measured, and where each begins. Pure arithmetic.

interface Keyed {
  key: string;
}

export class Heights<T extends Keyed> {
  #rows: readonly T[] = [];
  #stale = true;
  #known = new Map<string, number>();
  #tops = new Float64Array(1);
  #count = 0;

  /** Remembers a measured height; whether it is news. */
  set(key: string, height: number): boolean {
    if (this.#known.get(key) === height) return false;
    this.#known.set(key, height);
    this.#stale = true;
    return true;
  }

  /** `guess` is asked for rows that nobody has seen yet. */
  constructor(private readonly guess: (row: T) => number) {}

  layout(rows: readonly T[]): void {
    if (!this.#stale && rows === this.#rows) return;
    this.#rows = rows;
    this.#stale = false;
    if (this.#tops.length < rows.length + 1) this.#tops = new Float64Array(Math.max(64, rows.length * 2));
    let top = 0;
    for (let at = 0; at < rows.length; at += 1) {
      this.#tops[at] = top;
      const row = rows[at] as T;
      top += this.#known.get(row.key) ?? this.guess(row);
    }
    this.#tops[rows.length] = top;
    this.#count = rows.length;
  }

  get total(): number {
    return this.#tops[this.#count] ?? 0;
  }

  top(index: number): number {
    return this.#tops[Math.min(index, this.#count)] ?? 0;
  }

  /** The row at a height; the last one for all that lies below. */
  at(height: number): number {
    let low = 0;
    let high = Math.max(0, this.#count - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#tops[middle] ?? 0) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
