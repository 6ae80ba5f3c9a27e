// The address: `#/c/CONTEXT` or `#/c/CONTEXT/t/TASK`. A reload comes back to the same place.

import { signal } from "@preact/signals";
import { decoded } from "../wire/token";

export interface Route {
  contextId?: string;
  taskId?: string;
}

export function parseRoute(hash: string): Route {
  const match = /^#\/c\/([^/]+)(?:\/t\/([^/]+))?$/.exec(hash);
  if (match?.[1] === undefined) return {};
  const contextId = decoded(match[1]);
  return match[2] === undefined ? { contextId } : { contextId, taskId: decoded(match[2]) };
}

export function formatRoute({ contextId, taskId }: Route): string {
  if (contextId === undefined) return "#/";
  const context = `#/c/${encodeURIComponent(contextId)}`;
  return taskId === undefined ? context : `${context}/t/${encodeURIComponent(taskId)}`;
}

export const route = signal<Route>({});

export function followAddress(): void {
  const read = () => (route.value = parseRoute(location.hash));
  addEventListener("hashchange", read);
  read();
}

/** Goes there. A place in the same conversation takes the place of the last one in the history. */
export function go(to: Route): void {
  const address = formatRoute(to);
  if (address === location.hash) return;
  if (to.contextId !== undefined && to.contextId === route.value.contextId) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  route.value = to;
}
