// The line between two tasks of a conversation: how the one below it stands.

import { revision } from "../state/conversation";
import type { TaskView } from "../state/model";
import { State } from "./State";
import { exactTime, shortTime, stateWord } from "./words";

export function TaskLine({ view, position }: { view: TaskView; position: number }) {
  // The state changes without the row.
  void revision.value;
  return (
    <article class="task-line" aria-label="Task" aria-posinset={position} aria-setsize={-1}>
      <time title={exactTime(view.created)}>{shortTime(view.created)}</time>
      <State word={stateWord(view.state)} />
    </article>
  );
}
