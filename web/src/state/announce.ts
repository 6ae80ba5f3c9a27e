// Short words to the user: to be read out, and shown for a while.

import { signal } from "@preact/signals";

export interface Notice {
  id: number;
  text: string;
  urgent: boolean;
}

export const notices = signal<Notice[]>([]);
/** Read out, not shown: what sighted users see anyway. */
export const spoken = signal("");

let nextId = 1;
const SHOWN = 6_000;

export function say(text: string): void {
  spoken.value = text;
}

export function announce(text: string): void {
  show(text, false);
}

/** Something failed: stays until it is dismissed. */
export function complain(text: string): void {
  show(text, true);
}

function show(text: string, urgent: boolean): void {
  const notice = { id: nextId++, text, urgent };
  notices.value = [...notices.value.slice(-2), notice];
  if (!urgent) setTimeout(() => dismiss(notice.id), SHOWN);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
