// The conversation of a context: all of its tasks, one after the other.

import { useComputed } from "@preact/signals";
import { useState } from "preact/hooks";
import { earlier, loadEarlier, loading, openViews, revision, trouble } from "../state/conversation";
import { route } from "../state/route";
import type { TaskView } from "../state/model";
import { jumps, toEnd } from "./end";
import { Icon } from "./Icon";
import { VirtualList } from "./VirtualList";
import { renderRow, type AnyRow, type TaskRow } from "./rows";

export function Conversation() {
  const rows = useComputed(() => {
    void revision.value;
    return rowsOf(openViews.value);
  });
  const [atEnd, setAtEnd] = useState(true);
  const { contextId, taskId } = route.value;
  // The last task is read from its end, where things happen.
  const target = taskId === undefined || taskId === openViews.value.at(-1)?.taskId ? undefined : `${taskId}:line`;
  if (trouble.value !== undefined && rows.value.length === 0) {
    return (
      <div class="blank" role="alert">
        <h2>This conversation cannot be shown</h2>
        <p>{trouble.value}</p>
      </div>
    );
  }
  const before = earlier.value !== "" && (
    <button type="button" class="earlier" onClick={() => void loadEarlier()}>
      Show earlier tasks
    </button>
  );
  return (
    <div class="conversation">
      <VirtualList
        key={contextId}
        label="Conversation"
        rows={rows.value}
        revision={revision.value}
        busy={loading.value}
        guess={guess}
        render={renderRow}
        before={before}
        target={target}
        jumps={jumps.value}
        onEnd={setAtEnd}
      />
      {!atEnd && (
        <button type="button" class="to-end" onClick={toEnd}>
          <Icon name="down" /> Jump to the end
        </button>
      )}
    </div>
  );
}

/** About what rows of each kind measure; an answer by its length. */
function guess(row: AnyRow): number {
  return row.kind === "answer" ? 40 + Math.ceil(row.text.length / 95) * 22 : GUESSES[row.kind];
}

const GUESSES = { task: 46, user: 55, thought: 36, call: 170, artifact: 46, notice: 70 };

const lines = new WeakMap<TaskView, TaskRow>();

/** The rows of all tasks. The line of a task is one object for good, as rows are told apart by identity. */
function rowsOf(views: TaskView[]): AnyRow[] {
  const rows: AnyRow[] = [];
  for (const view of views) {
    if (view.items.length === 0) continue;
    let line = lines.get(view);
    if (line === undefined) lines.set(view, (line = { kind: "task", key: `${view.taskId}:line`, revision: 0, view }));
    rows.push(line);
    for (const item of view.items) rows.push(item);
  }
  return rows;
}
