// A list that draws only what can be seen. Rows measure themselves; the list keeps its place when they grow, and follows
// the end while the reader is there.

import { Component, createRef, type ComponentChildren } from "preact";
import { Heights } from "./heights";

export interface Row {
  key: string;
  revision: number;
}

interface Props<T extends Row> {
  label: string;
  rows: readonly T[];
  /** Changes when a row did. */
  revision: number;
  busy: boolean;
  /** How high a row will be, about. */
  guess: (row: T) => number;
  /** A row that is drawn once does not hear how many there are, so it says that this is not known. */
  render: (row: T, position: number) => ComponentChildren;
  before?: ComponentChildren;
  after?: ComponentChildren;
  /** The key of a row to bring into view. */
  target?: string | undefined;
  /** Grows when the reader wants to go to the end. */
  jumps: number;
  onEnd?: (atEnd: boolean) => void;
}

interface State {
  from: number;
  to: number;
}

const OVERSCAN = 400;
const NEAR_END = 32;
const MOST_PASSES = 3;

export class VirtualList<T extends Row> extends Component<Props<T>, State> {
  override state: State = { from: 0, to: 20 };
  #box = createRef<HTMLDivElement>();
  #inner = createRef<HTMLDivElement>();
  #heights = new Heights<T>((row) => this.props.guess(row));
  #atEnd = true;
  /** The key of a row to go to. */
  #wanted: string | undefined;
  /** The box as it was last. */
  #seen = { scrollTop: 0, scrollHeight: 0, clientHeight: 0 };
  /** The row that the reader looks at, and how far into it. */
  #anchor = { key: "", index: 0, below: 0 };
  #observer = new ResizeObserver((entries) => this.#measured(entries));
  #observed = new Set<Element>();
  /** How often the list has drawn itself again in this frame. */
  #passes = 0;

  override componentDidMount(): void {
    this.#wanted = this.props.target;
    if (this.#box.current) this.#observer.observe(this.#box.current);
    this.#settle();
  }

  override componentWillUnmount(): void {
    this.#observer.disconnect();
  }

  override componentDidUpdate(before: Props<T>): void {
    if (this.props.target !== before.target) this.#wanted = this.props.target;
    if (this.props.jumps !== before.jumps) this.#follow(true);
    this.#show();
    this.#settle();
  }

  /** Goes to the row that is wanted, once it is there. */
  #show(): void {
    const key = this.#wanted;
    const at = key === undefined ? -1 : this.props.rows.findIndex((row) => row.key === key);
    if (key === undefined || at < 0) return;
    this.#wanted = undefined;
    this.#follow(false);
    this.#anchor = { key, index: at, below: 0 };
  }

  /** Measures the rows that are drawn now, stays where the reader is, and draws other rows if they should be. */
  #settle(): void {
    const inner = this.#inner.current;
    if (inner === null) return;
    const drawn = new Set<Element>(inner.children);
    for (const row of this.#observed) if (!drawn.has(row)) this.#observer.unobserve(row);
    for (const row of drawn) {
      if (this.#observed.has(row)) continue;
      this.#observer.observe(row);
      this.#measure(row, row.getBoundingClientRect().height);
    }
    this.#observed = drawn;
    // Rows whose height was only guessed make room for others. They come to rest soon; if not, the next frame goes on.
    this.#passes += 1;
    if (this.#passes === 1) requestAnimationFrame(() => this.#nextFrame());
    if (this.#passes <= MOST_PASSES) this.#rest();
  }

  #nextFrame(): void {
    const restless = this.#passes > MOST_PASSES;
    this.#passes = 0;
    if (restless) this.#settle();
  }

  /** What is drawn keeps its place, and it is looked whether it is enough. */
  #rest(): void {
    this.#heights.layout(this.props.rows);
    this.#hold();
    this.#range();
  }

  #measure(row: Element, height: number): void {
    const { key } = (row as HTMLElement).dataset;
    if (key !== undefined && row.isConnected) this.#heights.set(key, height);
  }

  /** Stays at the end, or keeps the first visible row where it is, whatever happened above it. */
  #hold(): void {
    const box = this.#box.current;
    if (box === null) return;
    if (this.#atEnd) {
      box.scrollTop = box.scrollHeight;
      this.#see(box);
      return;
    }
    const { rows } = this.props;
    const { key, index, below } = this.#anchor;
    const now = rows[index]?.key === key ? index : rows.findIndex((row) => row.key === key);
    if (now < 0) return;
    const wanted = this.#lead() + this.#heights.top(now) + below;
    if (Math.abs(box.scrollTop - wanted) > 1) box.scrollTop = wanted;
    this.#see(box);
  }

  // The heights of drawn rows move nothing but the rows themselves, so nothing has to be drawn again for them.
  #measured(entries: ResizeObserverEntry[]): void {
    for (const { target, contentRect } of entries) this.#measure(target, contentRect.height);
    this.#rest();
  }

  /** What stands above the first row. */
  #lead(): number {
    return (this.#inner.current?.previousElementSibling as HTMLElement | null)?.offsetTop ?? 0;
  }

  #scrolled = (): void => {
    const box = this.#box.current;
    if (box === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END;
    // The end also moves away by itself, when rows come or the box shrinks. Where nothing else changed, the reader went up.
    const still = scrollHeight === this.#seen.scrollHeight && clientHeight === this.#seen.clientHeight;
    this.#follow(near || (this.#atEnd && !(still && scrollTop < this.#seen.scrollTop)));
    if (this.#atEnd) this.#hold();
    else this.#see(box);
    this.#remember(scrollTop - this.#lead());
    this.#range();
  };

  #wheeled = (event: WheelEvent): void => {
    if (event.deltaY < 0 && (this.#box.current?.scrollTop ?? 0) > 0) this.#follow(false);
  };

  #follow(atEnd: boolean): void {
    if (atEnd === this.#atEnd) return;
    this.#atEnd = atEnd;
    this.props.onEnd?.(atEnd);
  }

  #see({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void {
    this.#seen = { scrollTop, scrollHeight, clientHeight };
  }

  #remember(top: number): void {
    const index = this.#heights.at(top);
    this.#anchor = { key: this.props.rows[index]?.key ?? "", index, below: top - this.#heights.top(index) };
  }

  #range(): void {
    const box = this.#box.current;
    if (box === null) return;
    const top = box.scrollTop - this.#lead();
    const from = this.#heights.at(top - OVERSCAN);
    const to = this.#heights.at(top + box.clientHeight + OVERSCAN) + 1;
    if (from !== this.state.from || to !== this.state.to) this.setState({ from, to });
  }

  override render({ label, rows, busy, render, before, after }: Props<T>, { from, to }: State) {
    this.#heights.layout(rows);
    const first = Math.min(from, Math.max(0, rows.length - 1));
    const shown = rows.slice(first, to);
    const above = this.#heights.top(first);
    const below = this.#heights.total - this.#heights.top(Math.min(to, rows.length));
    return (
      <div ref={this.#box} class="feed-box" onScroll={this.#scrolled} onWheel={this.#wheeled} tabIndex={0} role="region" aria-label={label}>
        {before}
        <div role="feed" aria-label={`${label}, items`} aria-busy={busy} class="feed">
          <div style={{ height: `${above}px` }} role="presentation" />
          <div ref={this.#inner} role="presentation">
            {shown.map((row, at) => (
              <Slot key={row.key} row={row} revision={row.revision} index={first + at} render={render} />
            ))}
          </div>
          <div style={{ height: `${below}px` }} role="presentation" />
        </div>
        {after}
      </div>
    );
  }
}

interface SlotProps<T extends Row> {
  row: T;
  revision: number;
  index: number;
  render: (row: T, position: number) => ComponentChildren;
}

/** Draws its row again only when the row changed. */
class Slot<T extends Row> extends Component<SlotProps<T>> {
  override shouldComponentUpdate(next: SlotProps<T>): boolean {
    const now = this.props;
    return next.row !== now.row || next.revision !== now.revision || next.index !== now.index || next.render !== now.render;
  }

  override render({ row, index, render }: SlotProps<T>) {
    return (
      <div class="slot" data-key={row.key} data-index={index} role="presentation">
        {render(row, index + 1)}
      </div>
    );
  }
}
