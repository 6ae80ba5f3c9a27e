// The list of what passed. Rows are all of one height, so only those in sight are drawn.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Direction, Entry } from "../../wire/log";
import { size } from "../words";

interface Props {
  entries: readonly Entry[];
  selected: Entry | undefined;
  select: (entry: Entry) => void;
}

const HEIGHT = 26;
const ARROWS: Record<Direction, [string, string]> = {
  request: ["→", "sent"],
  message: ["←", "received"],
  trailers: ["■", "ended"],
  failure: ["✕", "failed"],
};

export function EntryList({ entries, selected, select }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [entries.length, entries.at(-1)?.id]);
  const scrolled = () => {
    const { current } = box;
    if (current === null) return;
    atEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < HEIGHT;
    setTop(current.scrollTop);
  };
  const from = Math.max(0, Math.floor(top / HEIGHT) - 10);
  const shown = entries.slice(from, from + 60);
  const step = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const at = entries.findIndex((entry) => entry.id === selected?.id);
    const next = entries[at + by];
    if (by === 0 || next === undefined) return;
    event.preventDefault();
    select(next);
    reveal(box.current, (at + by) * HEIGHT);
  };
  return (
    <div
      ref={box}
      class="entries"
      onScroll={scrolled}
      onKeyDown={step}
      role="listbox"
      aria-label="Messages"
      tabIndex={0}
      aria-activedescendant={selected && `entry-${selected.id}`}
    >
      <div role="presentation" style={{ height: `${from * HEIGHT}px` }} />
      {shown.map((entry) => (
        <Line key={entry.id} entry={entry} current={entry.id === selected?.id} select={select} />
      ))}
      <div role="presentation" style={{ height: `${Math.max(0, entries.length - from - shown.length) * HEIGHT}px` }} />
    </div>
  );
}

function reveal(box: HTMLElement | null, top: number): void {
  if (box === null) return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + HEIGHT - box.clientHeight;
}

function Line({ entry, current, select }: { entry: Entry; current: boolean; select: (entry: Entry) => void }) {
  const [arrow, word] = ARROWS[entry.direction];
  return (
    <div
      id={`entry-${entry.id}`}
      class={`entry-line entry-${entry.direction}`}
      role="option"
      aria-selected={current}
      onClick={() => select(entry)}
    >
      <span class="entry-time">{new Date(entry.time).toISOString().slice(11, 23)}</span>
      <span class="entry-arrow" title={word}>
        <span aria-hidden="true">{arrow}</span>
        <span class="visually-hidden">{word}</span>
      </span>
      <span class="entry-method">{entry.method}</span>
      <span class="entry-call">#{entry.call}</span>
      <span class="entry-size">{size(entry.bytes.length)}</span>
    </div>
  );
}
