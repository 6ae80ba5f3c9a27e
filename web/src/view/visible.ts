// What is to be agreed to reads as it runs: characters that turn a line around or that nobody sees are told by their number.
// The terminal client has the same list (src/cli/show/safe.rs).

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `<U+${code}>`;
  });
}
