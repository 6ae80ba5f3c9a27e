// The head of the page: what is shown, how it stands, what it cost, and the doors to everything else.

import { useState } from "preact/hooks";
import { cancel } from "../state/actions";
import { openViews, revision } from "../state/conversation";
import { hasEnded, type TaskView } from "../state/model";
import { route } from "../state/route";
import { contexts, pendingCount, tasksOf } from "../state/tasks";
import { Door, Doors } from "./Doors";
import { Icon } from "./Icon";
import { State } from "./State";
import { drawerOpen } from "./drawer";
import { inspectorOpen } from "./inspector/open";
import { count, stateWord } from "./words";

export function Header() {
  void revision.value;
  const { contextId } = route.value;
  const views = openViews.value;
  const last = views.at(-1);
  return (
    <header class="header">
      <button
        type="button"
        class="bare menu only-narrow"
        aria-label={pendingCount.value > 0 ? `Conversations, ${pendingCount.value} waiting` : "Conversations"}
        aria-expanded={drawerOpen.value}
        onClick={openDrawer}
      >
        <Icon name="menu" />
        {pendingCount.value > 0 && <span class="badge">{pendingCount.value}</span>}
      </button>
      <div class="header-title">
        <h1>{contextId === undefined ? "New conversation" : titleOf(contextId)}</h1>
        {last && last.items.length > 0 && <State word={stateWord(last.state)} />}
        <Cost views={views} />
      </div>
      <div class="header-tools">
        <CancelButtons views={views} />
        <Door to="settings" icon="settings" name="Settings" />
        <button
          type="button"
          class="bare"
          aria-label="Wire inspector"
          title="Wire inspector (i)"
          aria-pressed={inspectorOpen.value}
          onClick={() => (inspectorOpen.value = !inspectorOpen.value)}
        >
          <Icon name="wire" />
        </button>
        <span class="only-wide">
          <Doors />
        </span>
      </div>
    </header>
  );
}

/** The keyboard goes along. */
function openDrawer(): void {
  drawerOpen.value = true;
  requestAnimationFrame(() => document.getElementById("close-sidebar")?.focus());
}

function titleOf(contextId: string): string {
  const context = contexts.value.find((one) => one.contextId === contextId);
  return context?.title || tasksOf(contextId)[0]?.title || "Conversation";
}

function CancelButtons({ views }: { views: TaskView[] }) {
  // Views change in place.
  void revision.value;
  const [busy, setBusy] = useState(false);
  const open = views.filter((view) => view.items.length > 0 && !hasEnded(view.state));
  if (open.length === 0) return null;
  const press = async () => {
    setBusy(true);
    await Promise.all(open.map((view) => cancel(view.taskId)));
    setBusy(false);
  };
  const name = open.length === 1 ? "Cancel task" : `Cancel ${open.length} tasks`;
  return (
    <button type="button" class="danger small" disabled={busy} onClick={() => void press()}>
      <Icon name="stop" /> <span class="cancel-name">{name}</span>
    </button>
  );
}

function Cost({ views }: { views: TaskView[] }) {
  void revision.value;
  const all = views.flatMap((view) => [...view.usage.values()]);
  if (all.length === 0) return null;
  const sum = (of: (one: (typeof all)[number]) => bigint) => all.reduce((total, one) => total + of(one), 0n);
  const input = sum((one) => one.inputTokens);
  const output = sum((one) => one.outputTokens + one.thinkingTokens);
  const models = [...new Set(all.map((one) => one.model))].join(", ");
  return (
    <span class="cost" aria-label="Usage" title={`${models}; ${count(sum((one) => one.cachedTokens))} cached`}>
      {count(input)} in, {count(output)} out
    </span>
  );
}
