// Leads to what waits for an answer, one after the other.

import { pending } from "../state/tasks";
import { showWaiting, shownWaiting } from "./Approval";
import { leave } from "./Sidebar";

export function goToWaiting(): void {
  const all = pending.value;
  const at = all.findIndex((one) => one.toolCall?.toolCallId === shownWaiting());
  const next = all[(at + 1) % all.length];
  if (next === undefined) return;
  leave({ contextId: next.contextId, taskId: next.taskId });
  showWaiting(next.toolCall?.toolCallId);
}
