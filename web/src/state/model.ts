// What a task looks like to a reader: the items of its part of the conversation, in order.

import type { AgentSettings, AgentThought, Usage } from "#gen/agena/devtool/v1/event_pb";
import type { ConfirmationOption, ErrorDetails, ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { TaskState, type Artifact } from "#gen/lf/a2a/v1/a2a_pb";

interface Base {
  /** Stable for as long as the item is shown. */
  key: string;
  /** Grows with every change, so that a row knows when to draw itself again. */
  revision: number;
  /** Milliseconds since 1970. */
  time: number;
}

export interface UserItem extends Base {
  kind: "user";
  text: string;
}

export interface AnswerItem extends Base {
  kind: "answer";
  text: string;
  /** More may be appended. */
  open: boolean;
  model: string;
  /** Goes on from the item before it: long answers are cut at paragraphs. */
  continued: boolean;
}

export interface ThoughtItem extends Base {
  kind: "thought";
  thought: AgentThought;
}

export interface CallItem extends Base {
  kind: "call";
  taskId: string;
  call: ToolCall;
  /** What could be answered, when it was asked. */
  options: ConfirmationOption[];
  /** What the call has printed while it ran. */
  live: string;
  /** How much of it was heard of, in bytes of UTF-8. */
  heard: number;
}

export interface ArtifactItem extends Base {
  kind: "artifact";
  artifact: Artifact;
}

/** Something about the task itself: a question, a failure, an end that is not plain success. */
export interface NoticeItem extends Base {
  kind: "notice";
  state: TaskState;
  text: string;
  error?: ErrorDetails;
}

export type Item = UserItem | AnswerItem | ThoughtItem | CallItem | ArtifactItem | NoticeItem;

export interface TaskView {
  taskId: string;
  contextId: string;
  /** The cursor: the last update that was folded in. */
  sequence: bigint;
  state: TaskState;
  created: number;
  settings?: AgentSettings;
  items: Item[];
  calls: Map<string, CallItem>;
  /** Calls that wait for the user's answer, oldest first. */
  waiting: Map<string, ToolCall>;
  artifacts: Map<string, ArtifactItem>;
  /** Pieces of an answer whose whole has not come yet. */
  unsettled: AnswerItem[];
  usage: Map<string, Usage>;
}

export function emptyView(taskId: string): TaskView {
  return {
    taskId,
    contextId: "",
    sequence: 0n,
    state: TaskState.UNSPECIFIED,
    created: 0,
    items: [],
    calls: new Map(),
    waiting: new Map(),
    artifacts: new Map(),
    unsettled: [],
    usage: new Map(),
  };
}

const ENDED = new Set([TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED]);

export function hasEnded(state: TaskState): boolean {
  return ENDED.has(state);
}
