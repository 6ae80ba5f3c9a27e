// What a tool printed. While it runs the end is followed, unless the reader has scrolled away from it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { openness } from "./fold";
import { tail } from "./tail";
import { count } from "./words";

interface Props {
  id: string;
  text: string;
  label: string;
  running?: boolean;
}

// The last lines: more than anybody reads in a card, and cheap to lay out.
const LINES = 400;
const NEAR = 24;

export function Output({ id, text, label, running = false }: Props) {
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  const whole = openness(`${id}:whole`, false);
  useLayoutEffect(() => {
    if (running && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, running]);
  const scrolled = () => {
    const { current } = box;
    if (current) atEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR;
  };
  const { shown, hidden } = whole.value ? { shown: text, hidden: 0 } : tail(text, LINES);
  return (
    <div class="output">
      {hidden > 0 && (
        <button type="button" class="link" onClick={() => (whole.value = true)}>
          Show {count(hidden)} earlier lines
        </button>
      )}
      <pre ref={box} onScroll={scrolled} tabIndex={0} aria-label={label}>
        {shown}
      </pre>
    </div>
  );
}
