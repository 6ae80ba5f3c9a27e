// A unified diff as lines. Light enough for a list; the signs say what the colours say.

import { changedLines, diffLines } from "./diff";

const MOST = 200;

export function UnifiedDiff({ text, label }: { text: string; label: string }) {
  const lines = diffLines(text);
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lines.slice(0, MOST).map((line, at) => (
        <span key={at} class={`diff-line diff-${line.kind}`}>
          {line.text}
          {"\n"}
        </span>
      ))}
      {lines.length > MOST && <span class="diff-line diff-hunk">{lines.length - MOST} more lines</span>}
    </pre>
  );
}

export function DiffCount({ text }: { text: string }) {
  const { added, removed } = changedLines(text);
  return (
    <span class="diff-count" aria-label={`${added} lines added, ${removed} removed`}>
      <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
    </span>
  );
}
