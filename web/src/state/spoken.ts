// What a screen reader is told of the open conversation: that a task has ended, and what it said last.

import { effect } from "@preact/signals";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { say } from "./announce";
import { openViews, revision } from "./conversation";
import { hasEnded, type TaskView } from "./model";

const MOST = 300;

export function speakEnds(): () => void {
  const states = new Map<string, TaskState>();
  return effect(() => {
    void revision.value;
    for (const view of openViews.value) {
      const before = states.get(view.taskId);
      states.set(view.taskId, view.state);
      // History that is only read again is no news.
      if (before !== undefined && !hasEnded(before) && before !== TaskState.UNSPECIFIED && hasEnded(view.state)) say(end(view));
    }
  });
}

function end(view: TaskView): string {
  const last = view.items.findLast((item) => item.kind === "answer");
  const words = last === undefined ? "" : ` ${last.text.slice(0, MOST)}`;
  return `Task ${TaskState[view.state].toLowerCase()}.${words}`;
}
