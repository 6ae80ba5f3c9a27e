// Streams that do not end when the connection does. They know nothing of what they carry.

import { access } from "./access";
import { isPassing, isRefused, problemOf } from "./errors";
import { linkDown, linkGone, linkUp } from "./links";
import { isAway, onPresence, present } from "./presence";
import { backoff, pause } from "./retry";
import type { Slots } from "./slots";

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
  /** Shared with other streams that are not to take all connections. */
  slots?: Slots;
  /** Nothing will come for now: its place may go to another. */
  idle?: () => boolean;
  /** After its place went to another: when it is worth asking for one again. */
  stirred?: (signal: AbortSignal) => Promise<void>;
}

// Longer slices would be felt in scrolling and typing.
const SLICE = 8;

type Outcome = "finished" | "goes on" | "released" | { failed: string };

/** Reads the stream until it is finished, over as many connections as that takes. */
export async function keep<T>(kept: Kept<T>, signal: AbortSignal): Promise<void> {
  let attempt = 0;
  const up = () => {
    attempt = 0;
    linkUp(kept.name);
  };
  while (!signal.aborted) {
    await present(signal);
    const outcome = await connect(kept, up, signal);
    if (outcome === "finished") break;
    if (outcome === "released") {
      linkGone(kept.name);
      await kept.stirred?.(signal);
    }
    if (typeof outcome === "string") continue;
    const wait = backoff(attempt);
    attempt += 1;
    linkDown(kept.name, attempt, wait, outcome.failed);
    await pause(wait, signal);
  }
  linkGone(kept.name);
}

/** One connection, from its beginning to its end. */
async function connect<T>(kept: Kept<T>, up: () => void, signal: AbortSignal): Promise<Outcome> {
  await kept.slots?.enter(signal);
  const line = hold(signal, kept);
  try {
    const heard = await drain(kept.open({ signal: line.signal, onHeader: up }), kept.take);
    if (kept.finished()) return "finished";
    // An orderly end that had something to say, such as that of StartTask when the agent asks: the next one follows.
    return heard > 0 ? "goes on" : { failed: "The server ended the stream." };
  } catch (error) {
    if (signal.aborted) return "finished";
    return line.signal.aborted ? "released" : verdict(kept, error);
  } finally {
    line.end();
    kept.slots?.leave();
  }
}

function verdict<T>(kept: Kept<T>, error: unknown): Outcome {
  if (isRefused(error)) {
    access.value = "refused";
    return "finished";
  }
  if (isPassing(error)) return { failed: problemOf(error).message };
  kept.failed?.(error);
  return "finished";
}

// Long enough to be worth the call, short enough for the others.
const TURN = 2_000;
const LOOK = 200;

interface Line {
  signal: AbortSignal;
  end: () => void;
}

/** A connection is let go when nobody looks. When others wait for its place, after its turn, or once it is idle. */
function hold<T>(outer: AbortSignal, { slots, idle }: Kept<T>): Line {
  const inner = new AbortController();
  const began = performance.now();
  const release = () => inner.abort();
  const deaf = onPresence(() => void (isAway() && release()));
  const look = () => {
    const done = idle?.() === true || performance.now() - began > TURN;
    if (slots?.wanted && done) release();
  };
  const timer = setInterval(look, LOOK);
  outer.addEventListener("abort", release);
  if (outer.aborted) release();
  return {
    signal: inner.signal,
    end: () => {
      deaf();
      clearInterval(timer);
      outer.removeEventListener("abort", release);
    },
  };
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
