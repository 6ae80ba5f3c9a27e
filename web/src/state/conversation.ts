// The conversation that is open: the tasks of one context, each followed from its cursor. Views stay when the user looks
// elsewhere, so coming back costs only what happened meanwhile.

import { computed, effect, signal } from "@preact/signals";
import type { TaskUpdate } from "#gen/agena/devtool/v1/service_pb";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { devtool } from "../wire/client";
import { isPassing, problemOf } from "../wire/errors";
import { backoff, pause } from "../wire/retry";
import { Slots } from "../wire/slots";
import { keep, type Opened } from "../wire/streams";
import { fold } from "./fold";
import { FrameQueue } from "./frame";
import { emptyView, hasEnded, type TaskView } from "./model";
import { route } from "./route";
import { learn, tasks, tasksOf } from "./tasks";

const views = new Map<string, TaskView>();
// With the list of tasks that makes three connections; the others of a browser's six are for calls, and for a second page.
const slots = new Slots(2);
/** Tasks that have ended and were read to their end. */
const read = new Set<string>();
const following = new Map<string, AbortController>();

/** Grows at most once a frame, when something that is shown has changed. */
export const revision = signal(0);
/** Why the conversation cannot be shown. */
export const trouble = signal<string | undefined>(undefined);
/** Its history is still on the way. */
export const loading = signal(false);
/** More tasks lie before those that are shown. */
export const earlier = signal("");

const queue = new FrameQueue<TaskUpdate>(
  (update) => void fold(viewOf(update.taskId), update),
  () => (revision.value += 1),
);

export function viewOf(taskId: string): TaskView {
  let view = views.get(taskId);
  if (view === undefined) views.set(taskId, (view = emptyView(taskId)));
  return view;
}

/** The views of the open context, in the order in which the tasks were made. */
export const openViews = computed(() => {
  const { contextId } = route.value;
  if (contextId === undefined) return [];
  return tasksOf(contextId).map((task) => viewOf(task.taskId));
});

/** Opens whatever the address names, and leaves what it does not. */
export function followRoute(): () => void {
  let current: string | undefined;
  const stopRoute = effect(() => {
    const { contextId } = route.value;
    if (contextId === current) return;
    current = contextId;
    for (const stop of following.values()) stop.abort();
    following.clear();
    if (contextId !== undefined) void openContext(contextId);
  });
  // A task that another client starts in the open context appears by itself.
  const stopTasks = effect(() => {
    void tasks.value;
    if (current === undefined) return;
    // What still happens first, then the newest: that is what the reader looks at.
    const own = tasksOf(current).reverse();
    const open = own.filter((task) => !hasEnded(task.state));
    for (const task of [...open, ...own]) follow(task.taskId);
  });
  return () => {
    stopRoute();
    stopTasks();
    for (const stop of following.values()) stop.abort();
    following.clear();
  };
}

async function openContext(contextId: string): Promise<void> {
  trouble.value = undefined;
  loading.value = tasksOf(contextId).length === 0;
  const isOpen = () => route.value.contextId === contextId;
  for (let attempt = 0; isOpen(); attempt += 1) {
    try {
      await loadTasks(contextId, "");
      break;
    } catch (error) {
      if (!isOpen()) return;
      trouble.value = problemOf(error).message;
      if (!isPassing(error)) break;
      await pause(backoff(attempt));
    }
  }
  if (isOpen()) loading.value = false;
}

async function loadTasks(contextId: string, pageToken: string): Promise<void> {
  const page = await devtool.listTasks({ contextId, pageToken, pageSize: 25 });
  // Another one may have been opened meanwhile.
  if (route.value.contextId !== contextId) return;
  trouble.value = undefined;
  earlier.value = page.nextPageToken;
  if (page.tasks.length === 0 && pageToken === "") trouble.value = "There is no such conversation.";
  learn(page.tasks);
}

export function loadEarlier(): Promise<void> {
  const { contextId } = route.value;
  return contextId === undefined ? Promise.resolve() : loadTasks(contextId, earlier.value);
}

type Source = (options: Opened) => AsyncIterable<{ update?: TaskUpdate }>;

/** Follows a task to its end. `first` is a stream that is under way already, such as that of StartTask. */
export function follow(taskId: string, first?: Source): void {
  if (following.has(taskId) || read.has(taskId)) return;
  const stop = new AbortController();
  following.set(taskId, stop);
  // Behind what waits in the queue, not behind what was folded: else it would be asked for twice.
  let cursor = viewOf(taskId).sequence;
  let ended = false;
  let source = first;
  const open: Source = (options) => {
    const opened = source ?? ((more) => devtool.followTask({ taskId, after: cursor }, more));
    source = undefined;
    return opened(options);
  };
  const take = ({ update }: { update?: TaskUpdate }) => {
    if (update === undefined || update.sequence <= cursor) return;
    cursor = update.sequence;
    ended = update.update.case === "status" && hasEnded(update.update.value.state);
    queue.push(update);
  };
  const failed = (error: unknown) => (trouble.value = problemOf(error).message);
  // A task that asks does nothing until it is answered, and the list of tasks tells when it is.
  const idle = () => asks(taskId, cursor);
  const stirred = (signal: AbortSignal) => until(() => !asks(taskId, cursor), signal);
  const finished = () => ended && Boolean(read.add(taskId));
  const kept = { name: `task ${taskId}`, open, take, finished, failed, slots, idle, stirred };
  void keep(kept, stop.signal).finally(() => {
    if (following.get(taskId) === stop) following.delete(taskId);
  });
}

function asks(taskId: string, cursor: bigint): boolean {
  const task = tasks.value.get(taskId);
  return task !== undefined && task.state === TaskState.INPUT_REQUIRED && task.sequence <= cursor;
}

/** When the condition, which reads signals, holds. */
function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const met = computed(() => condition() || signal.aborted);
    let stop: (() => void) | undefined;
    const done = () => {
      stop?.();
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done);
    stop = effect(() => {
      if (met.value) queueMicrotask(done);
    });
  });
}
