// The end of a text. Pure.

export function tail(text: string, lines: number): { shown: string; hidden: number } {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let found = 0; found < lines; found += 1) {
    at = text.lastIndexOf("\n", at - 1);
    if (at < 0) return { shown: text, hidden: 0 };
  }
  return { shown: text.slice(at + 1), hidden: linesBefore(text, at) };
}

/** Counted without making a list of them: this runs with every piece of a long output. */
function linesBefore(text: string, end: number): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
