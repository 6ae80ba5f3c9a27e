// What went over the wire, for the inspector: a bounded list of entries, as bytes. Decoding waits until somebody looks.

import { signal } from "@preact/signals";

export type Direction = "request" | "message" | "trailers" | "failure";

export interface Entry {
  id: number;
  /** Of the RPC that it belongs to. */
  call: number;
  time: number;
  /** `agena.devtool.v1.DevelopmentToolService` */
  service: string;
  method: string;
  direction: Direction;
  bytes: Uint8Array;
  /** Of a failure: what the browser said. */
  note?: string;
}

const MOST_ENTRIES = 2_000;
const MOST_BYTES = 8 << 20;

let entries: Entry[] = [];
let held = 0;
let nextId = 1;
let nextCall = 1;

/** Changes at most once a frame, however much comes. */
export const logRevision = signal(0);
export const logPaused = signal(false);
let announced = false;

export function beginCall(): number {
  return nextCall++;
}

export function record(entry: Omit<Entry, "id" | "time">): void {
  if (logPaused.value) return;
  entries.push({ ...entry, id: nextId++, time: Date.now() });
  held += entry.bytes.length;
  if (entries.length > MOST_ENTRIES + 200 || held > MOST_BYTES) trim();
  if (announced) return;
  announced = true;
  setTimeout(() => {
    announced = false;
    logRevision.value += 1;
  }, 100);
}

function trim(): void {
  let drop = Math.max(0, entries.length - MOST_ENTRIES);
  held -= entries.slice(0, drop).reduce((sum, entry) => sum + entry.bytes.length, 0);
  while (held > MOST_BYTES && drop < entries.length - 1) held -= entries[drop++]?.bytes.length ?? 0;
  entries = entries.slice(drop);
}

export function logEntries(): readonly Entry[] {
  return entries;
}

export function clearLog(): void {
  entries = [];
  held = 0;
  logRevision.value += 1;
}
