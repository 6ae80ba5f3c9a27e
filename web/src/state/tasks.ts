// The sidebar's knowledge: contexts, their tasks, and what waits for an answer. Live through WatchTasks.

import { timestampMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { batch, computed, signal } from "@preact/signals";
import type { ContextSummary, PendingConfirmation, TaskSummary } from "#gen/agena/devtool/v1/task_pb";
import { devtool } from "../wire/client";
import { isAway } from "../wire/presence";
import { keep } from "../wire/streams";

export const contexts = signal<ContextSummary[]>([]);
export const moreContexts = signal("");
export const tasks = signal<ReadonlyMap<string, TaskSummary>>(new Map());
export const pending = signal<PendingConfirmation[]>([]);
/** False until the first lists are there. */
export const listed = signal(false);

export const pendingCount = computed(() => pending.value.length);

export function tasksOf(contextId: string): TaskSummary[] {
  const own = [...tasks.value.values()].filter((task) => task.contextId === contextId);
  return own.sort((a, b) => when(a.createTime) - when(b.createTime));
}

function when(time: Parameters<typeof timestampMs>[0] | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}

const GLANCE = 15_000;

/** Keeps the lists up to date until the signal says stop. */
export function watch(signal: AbortSignal): void {
  let last = 0;
  void refresh();
  // While nobody looks there is no stream, but the title of the page still tells what waits.
  const glance = setInterval(() => void (isAway() && refresh()), GLANCE);
  signal.addEventListener("abort", () => clearInterval(glance));
  void keep(
    {
      name: "tasks",
      open: (options) => {
        // By the server's clock. What changed then is told again, which harms nothing.
        const since = last === 0 ? {} : { since: timestampFromMs(last) };
        return devtool.watchTasks(since, options);
      },
      take: ({ task, asOf }) => {
        // The list that it begins with has only a part of what there was.
        if (last !== 0 || asOf !== undefined) last = Math.max(last, when(asOf), when(task?.updateTime));
        if (task !== undefined) learn([task]);
        soon();
      },
      finished: () => false,
    },
    signal,
  );
}

export function learn(news: TaskSummary[]): void {
  const next = new Map(tasks.value);
  for (const task of news) {
    const known = next.get(task.taskId);
    if (known === undefined || known.sequence <= task.sequence) next.set(task.taskId, task);
  }
  tasks.value = next;
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads the lists again, once for many changes. */
export function soon(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void refresh();
  }, 150);
}

async function refresh(): Promise<void> {
  try {
    const [first, waiting] = await Promise.all([devtool.listContexts({}), allPending()]);
    batch(() => {
      const fresh = new Set(first.contexts.map((context) => context.contextId));
      const older = contexts.value.filter((context) => !fresh.has(context.contextId));
      contexts.value = [...first.contexts, ...(listed.value ? older : [])];
      if (!listed.value) moreContexts.value = first.nextPageToken;
      pending.value = waiting;
      listed.value = true;
    });
  } catch {
    // The watch notices a broken connection too, tells it, and reads again when it stands.
  }
}

async function allPending(): Promise<PendingConfirmation[]> {
  const found: PendingConfirmation[] = [];
  let pageToken = "";
  do {
    const page = await devtool.listPendingConfirmations({ pageToken, pageSize: 100 });
    found.push(...page.confirmations);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

export async function loadMoreContexts(): Promise<void> {
  const page = await devtool.listContexts({ pageToken: moreContexts.value });
  const known = new Set(contexts.value.map((context) => context.contextId));
  contexts.value = [...contexts.value, ...page.contexts.filter((context) => !known.has(context.contextId))];
  moreContexts.value = page.nextPageToken;
}
