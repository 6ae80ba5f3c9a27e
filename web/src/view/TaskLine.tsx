// The line between two tasks of a conversation: how the one below it stands.

import { revision } from "../state/conversation";
import type { TaskView } from "../state/model";
import { State } from "./State";
import { exactTime, shortTime, stateWord } from "./words";

export function TaskLine({ view }: { view: TaskView }) {
  // The state changes without the row.
  void revision.value;
  return (
    <div class="task-line" role="separator" aria-label={`Task, ${stateWord(view.state).text}`}>
      <time title={exactTime(view.created)}>{shortTime(view.created)}</time>
      <State word={stateWord(view.state)} />
    </div>
  );
}
