// Cuts a body of gRPC-Web into its frames. Pure: bytes in, frames out.

/** One frame: a message, or the trailers at the end. */
export interface Frame {
  trailer: boolean;
  payload: Uint8Array;
}

const TRAILER = 0x80;
const PREFIX = 5;

export class FrameCutter {
  #rest = new Uint8Array(0);

  /** The frames that end within this piece. */
  push(piece: Uint8Array): Frame[] {
    let bytes = piece;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + piece.length);
      bytes.set(this.#rest);
      bytes.set(piece, this.#rest.length);
    }
    const frames: Frame[] = [];
    let at = 0;
    while (bytes.length - at >= PREFIX) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0);
      const end = at + PREFIX + length;
      if (end > bytes.length) break;
      const trailer = ((bytes[at] ?? 0) & TRAILER) !== 0;
      // Copied, so that one small message does not keep a large chunk alive.
      frames.push({ trailer, payload: bytes.slice(at + PREFIX, end) });
      at = end;
    }
    this.#rest = bytes.slice(at);
    return frames;
  }
}

/** `grpc-status: 0` and so on, as a record. */
export function readTrailers(payload: Uint8Array): Record<string, string> {
  const lines = new TextDecoder().decode(payload).split("\r\n");
  const pairs = lines.filter((line) => line.includes(":")).map((line) => line.split(/:(.*)/s));
  return Object.fromEntries(pairs.map(([name, value]) => [(name ?? "").toLowerCase(), (value ?? "").trim()]));
}
