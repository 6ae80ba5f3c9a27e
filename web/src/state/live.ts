// What a running call prints, put together from pieces that know where they begin.

export interface Heard {
  live: string;
  heard: number;
}

// The end is what people look at; the server itself keeps no more of a snapshot.
const MOST = 400_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Appends what of the piece is new. Offsets count bytes of UTF-8. */
export function appendLive(to: Heard, offset: number, text: string): boolean {
  if (text === "") return false;
  const bytes = encoder.encode(text);
  const end = offset + bytes.length;
  if (end <= to.heard) return false;
  const known = to.heard - offset;
  if (known > 0) to.live += decoder.decode(bytes.subarray(known));
  else to.live += known < 0 ? `\n[${-known} bytes were left out]\n${text}` : text;
  to.heard = end;
  if (to.live.length > MOST * 1.25) to.live = to.live.slice(-MOST);
  return true;
}
