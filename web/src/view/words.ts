// The console's words for states, and how it writes times, sizes and JSON.

import { ApprovalMode } from "#gen/agena/devtool/v1/event_pb";
import { ToolCallStatus } from "#gen/agena/devtool/v1/tool_call_pb";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import type { IconName } from "./Icon";
import { visible } from "./visible";

export interface Word {
  text: string;
  icon: IconName;
  tone: "calm" | "busy" | "ask" | "good" | "bad";
}

const CALM: Word = { text: "Unknown", icon: "dot", tone: "calm" };

const STATES = new Map<TaskState, Word>([
  [TaskState.SUBMITTED, { text: "Submitted", icon: "wait", tone: "busy" }],
  [TaskState.WORKING, { text: "Working", icon: "run", tone: "busy" }],
  [TaskState.COMPLETED, { text: "Completed", icon: "check", tone: "good" }],
  [TaskState.FAILED, { text: "Failed", icon: "cross", tone: "bad" }],
  [TaskState.CANCELED, { text: "Canceled", icon: "stop", tone: "calm" }],
  [TaskState.INPUT_REQUIRED, { text: "Needs you", icon: "ask", tone: "ask" }],
  [TaskState.REJECTED, { text: "Declined", icon: "cross", tone: "bad" }],
  [TaskState.AUTH_REQUIRED, { text: "Needs credentials", icon: "ask", tone: "ask" }],
]);

const CALLS = new Map<ToolCallStatus, Word>([
  [ToolCallStatus.PENDING, { text: "Pending", icon: "wait", tone: "calm" }],
  [ToolCallStatus.EXECUTING, { text: "Running", icon: "run", tone: "busy" }],
  [ToolCallStatus.SUCCEEDED, { text: "Succeeded", icon: "check", tone: "good" }],
  [ToolCallStatus.FAILED, { text: "Failed", icon: "cross", tone: "bad" }],
  [ToolCallStatus.CANCELLED, { text: "Cancelled", icon: "stop", tone: "calm" }],
]);

export const WAITING: Word = { text: "Waiting for you", icon: "ask", tone: "ask" };

export function stateWord(state: TaskState): Word {
  return STATES.get(state) ?? CALM;
}

export function callWord(status: ToolCallStatus): Word {
  return CALLS.get(status) ?? CALM;
}

export const MODES: [ApprovalMode, string, string][] = [
  [ApprovalMode.APPROVAL_MODE_UNSPECIFIED, "As set", "What held before, or the server's own mode."],
  [ApprovalMode.DEFAULT, "Ask first", "Reading is free, everything else is asked for."],
  [ApprovalMode.AUTO_EDIT, "Edit freely", "Edits of files in the workspace are free too."],
  [ApprovalMode.PLAN, "Plan only", "Nothing is changed: the agent reads and proposes."],
  [ApprovalMode.YOLO, "Never ask", "Nothing is asked for. Only where the operator allows it."],
];

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The time of today, the day of anything older. */
export function shortTime(milliseconds: number, now = Date.now()): string {
  if (milliseconds === 0) return "";
  const then = new Date(milliseconds);
  return then.toDateString() === new Date(now).toDateString() ? clock.format(then) : day.format(then);
}

export function exactTime(milliseconds: number): string {
  return exact.format(new Date(milliseconds));
}

const number = new Intl.NumberFormat();

export function count(value: bigint | number): string {
  return number.format(value);
}

export function size(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? one.toString() : one), 2);
}

/** `1 task`, `2 tasks`. */
export function plural(amount: number, one: string): string {
  return `${count(amount)} ${one}${amount === 1 ? "" : "s"}`;
}

/** What fits a title. */
export function firstLine(text: string | undefined): string {
  return visible((text ?? "").split("\n", 1)[0] ?? "");
}
