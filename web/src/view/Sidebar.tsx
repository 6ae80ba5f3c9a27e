// Conversations and their tasks, and what waits for the user, wherever that is.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ContextSummary, TaskSummary } from "#gen/agena/devtool/v1/task_pb";
import { go, route } from "../state/route";
import { contexts, listed, loadMoreContexts, moreContexts, pending, pendingCount, tasks, tasksOf } from "../state/tasks";
import { showWaiting } from "./Approval";
import { Connection } from "./Connection";
import { Doors } from "./Doors";
import { Icon } from "./Icon";
import { drawerOpen } from "./drawer";
import { State } from "./State";
import { WAITING, plural, shortTime, stateWord } from "./words";

export function Sidebar() {
  return (
    <aside
      class="sidebar"
      data-open={drawerOpen.value}
      aria-label="Sidebar"
      onKeyDown={(event) => {
        if (event.key === "Escape") drawerOpen.value = false;
      }}
    >
      <div class="brand">
        <span class="brand-mark" aria-hidden="true" />
        <p class="brand-name">Agena</p>
        <Connection />
        <button type="button" class="bare only-narrow" aria-label="Close sidebar" id="close-sidebar" onClick={() => (drawerOpen.value = false)}>
          <Icon name="close" />
        </button>
      </div>
      <button type="button" class="new" onClick={() => leave({})}>
        <Icon name="add" /> New conversation
      </button>
      <Waiting />
      <nav class="contexts" aria-label="Conversations">
        <h2 class="side-head">Conversations</h2>
        {listed.value && contexts.value.length === 0 && <p class="none">None yet.</p>}
        <ul>
          {contexts.value.map((context) => (
            <ContextEntry key={context.contextId} context={context} />
          ))}
        </ul>
        {moreContexts.value !== "" && (
          <button type="button" class="link" onClick={() => void loadMoreContexts()}>
            Show more
          </button>
        )}
      </nav>
      <div class="side-foot only-narrow">
        <Doors />
      </div>
    </aside>
  );
}

export function leave(to: { contextId?: string; taskId?: string }): void {
  drawerOpen.value = false;
  go(to);
  if (to.contextId === undefined) document.querySelector<HTMLElement>("#message")?.focus();
}

function Waiting() {
  if (pendingCount.value === 0) return null;
  return (
    <section class="waiting" aria-label="Waiting for you">
      <h2 class="side-head">
        Waiting for you <span class="badge">{pendingCount.value}</span>
      </h2>
      <ul>
        {pending.value.map((one) => (
          <li key={one.toolCall?.toolCallId}>
            <button
              type="button"
              class="entry"
              onClick={() => {
                leave({ contextId: one.contextId, taskId: one.taskId });
                showWaiting(one.toolCall?.toolCallId);
              }}
            >
              <span class="entry-title">{one.toolCall?.description || one.toolCall?.toolName}</span>
              <span class="entry-more">{one.title}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ContextEntry({ context }: { context: ContextSummary }) {
  const { contextId } = context;
  const current = route.value.contextId === contextId;
  const own = tasksOf(contextId);
  const waiting = pending.value.filter((one) => one.contextId === contextId).length;
  const state = waiting > 0 ? WAITING : stateWord(context.state);
  return (
    <li>
      <button
        type="button"
        class="entry"
        aria-current={current ? "page" : undefined}
        onClick={() => leave({ contextId })}
      >
        <span class="entry-title">{context.title || "Untitled"}</span>
        <span class="entry-more">
          <State word={state} />
          {context.tasks > 1n && <span>{plural(Number(context.tasks), "task")}</span>}
          <time>{context.updateTime ? shortTime(timestampMs(context.updateTime)) : ""}</time>
        </span>
      </button>
      {current && tasks.value.size > 0 && own.length > 1 && (
        <ul class="tasks" aria-label="Tasks">
          {own.map((task) => (
            <TaskEntry key={task.taskId} task={task} />
          ))}
        </ul>
      )}
    </li>
  );
}

function TaskEntry({ task }: { task: TaskSummary }) {
  const { contextId, taskId } = task;
  const current = route.value.taskId === taskId;
  const word = task.pendingConfirmations > 0 ? WAITING : stateWord(task.state);
  return (
    <li>
      <button
        type="button"
        class="entry entry-task"
        aria-current={current ? "location" : undefined}
        onClick={() => leave({ contextId, taskId })}
      >
        <span class="entry-title">{task.title || "Untitled"}</span>
        <State word={word} />
      </button>
    </li>
  );
}
