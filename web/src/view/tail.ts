// The end of a text. Pure.

export function tail(text: string, lines: number): { shown: string; hidden: number } {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let found = 0; found < lines; found += 1) {
    at = text.lastIndexOf("\n", at - 1);
    if (at < 0) return { shown: text, hidden: 0 };
  }
  return { shown: text.slice(at + 1), hidden: text.slice(0, at).split("\n").length };
}
