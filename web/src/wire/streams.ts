// Streams that do not end when the connection does. They know nothing of what they carry.

import { access } from "./client";
import { isPassing, isRefused, problemOf } from "./errors";
import { linkDown, linkGone, linkUp } from "./links";
import { backoff, pause } from "./retry";

export interface Opened {
  signal: AbortSignal;
  /** The server has answered, though perhaps with nothing to say yet. */
  onHeader: () => void;
}

export interface Kept<T> {
  name: string;
  /** Opens it anew, from wherever the reader is by then. */
  open: (options: Opened) => AsyncIterable<T>;
  take: (message: T) => void;
  /** After an orderly end: whether that was all. */
  finished: () => boolean;
  /** It cannot be had, and trying again will not help. */
  failed?: (error: unknown) => void;
}

// Longer slices would be felt in scrolling and typing.
const SLICE = 8;

/** Reads the stream until it is finished, over as many connections as that takes. */
export async function keep<T>(kept: Kept<T>, signal: AbortSignal): Promise<void> {
  let attempt = 0;
  const up = () => {
    attempt = 0;
    linkUp(kept.name);
  };
  while (!signal.aborted) {
    let reason = "The server ended the stream.";
    try {
      const heard = await drain(kept.open({ signal, onHeader: up }), kept.take);
      if (kept.finished()) break;
      // An orderly end that had something to say, such as that of StartTask when the agent asks: the next one follows.
      if (heard > 0) continue;
    } catch (error) {
      if (signal.aborted) break;
      if (isRefused(error)) {
        access.value = "refused";
        break;
      }
      if (!isPassing(error)) {
        kept.failed?.(error);
        break;
      }
      reason = problemOf(error).message;
    }
    const wait = backoff(attempt);
    attempt += 1;
    linkDown(kept.name, attempt, wait, reason);
    await pause(wait, signal);
  }
  linkGone(kept.name);
}

async function drain<T>(stream: AsyncIterable<T>, take: (message: T) => void): Promise<number> {
  let heard = 0;
  let began = performance.now();
  for await (const message of stream) {
    take(message);
    heard += 1;
    if (performance.now() - began > SLICE) {
      await breath();
      began = performance.now();
    }
  }
  return heard;
}

/** Lets the page draw and hear the user. A task of its own: microtasks would not. */
export function breath(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
