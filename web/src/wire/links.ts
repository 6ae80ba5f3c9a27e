// Which streams stand and which are being taken up again: what the page says about the connection.

import { computed, signal } from "@preact/signals";

export interface Link {
  up: boolean;
  attempt: number;
  retryAt: number;
  reason: string;
}

const links = signal<ReadonlyMap<string, Link>>(new Map());

function set(name: string, link: Link | undefined): void {
  const next = new Map(links.value);
  if (link === undefined) next.delete(name);
  else next.set(name, link);
  links.value = next;
}

export function linkUp(name: string): void {
  if (links.value.get(name)?.up !== true) set(name, { up: true, attempt: 0, retryAt: 0, reason: "" });
}

export function linkDown(name: string, attempt: number, wait: number, reason: string): void {
  set(name, { up: false, attempt, retryAt: Date.now() + wait, reason });
}

export function linkGone(name: string): void {
  if (links.value.has(name)) set(name, undefined);
}

/** The worst of them, if one is down. */
export const brokenLink = computed(() => {
  const down = [...links.value.values()].filter((link) => !link.up);
  return down.sort((a, b) => b.attempt - a.attempt)[0];
});

export const anyLink = computed(() => links.value.size > 0);
