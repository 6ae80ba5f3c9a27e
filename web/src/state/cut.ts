// Where a long answer may be cut, so that no row of the conversation grows without end while it is written.

const LONG = 4_000;
const STEP = 500;

/** A place between two paragraphs, outside of code and lists; nothing if the text is short or has none. */
export function cutAnswer(text: string, added: number): number | undefined {
  if (text.length < LONG) return undefined;
  // Looked for now and then, not with every piece.
  if (Math.floor(text.length / STEP) === Math.floor((text.length - added) / STEP)) return undefined;
  let cut: number | undefined;
  let fence: string | undefined;
  let at = 0;
  let blank = false;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (blank && fence === undefined && startsAnew(line)) cut = at;
    if (mark !== undefined) fence = nextFence(fence, mark);
    blank = line.trim() === "";
    at += line.length + 1;
  }
  return cut !== undefined && cut > LONG / 4 ? cut : undefined;
}

/** A line that can only begin a block of its own. */
function startsAnew(line: string): boolean {
  return /^(?:[#\p{L}*_`~[(]|\d+[^\d.)])/u.test(line) && !/^[*+-] /.test(line);
}

function nextFence(open: string | undefined, mark: string): string | undefined {
  if (open === undefined) return mark;
  return mark[0] === open[0] && mark.length >= open.length ? undefined : open;
}
