// The line between two tasks of a conversation: how the one below it stands.

import { cancel } from "../state/actions";
import { openViews, revision } from "../state/conversation";
import { hasEnded, type TaskView } from "../state/model";
import { State } from "./State";
import { exactTime, shortTime, stateWord } from "./words";

export function TaskLine({ view, position }: { view: TaskView; position: number }) {
  // The state changes without the row.
  void revision.value;
  return (
    <article class="task-line" aria-label="Task" aria-posinset={position} aria-setsize={-1}>
      <time title={exactTime(view.created)}>{shortTime(view.created)}</time>
      <State word={stateWord(view.state)} />
      {!hasEnded(view.state) && openViews.value.length > 1 && (
        <button type="button" class="small" onClick={() => void cancel(view.taskId)}>
          Cancel this one
        </button>
      )}
    </article>
  );
}
