// Folds updates into a view, in place. No clock, no I/O: the same updates give the same view, however they came.

import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { UsageSchema, type LiveOutput, type Usage } from "#gen/agena/devtool/v1/event_pb";
import type { TaskUpdate } from "#gen/agena/devtool/v1/service_pb";
import type { ToolCallDecided } from "#gen/agena/devtool/v1/task_pb";
import { ToolCallStatus, type ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { Role, TaskState, type Message, type Part, type TaskArtifactUpdateEvent, type TaskStatus } from "#gen/lf/a2a/v1/a2a_pb";
import { cutAnswer } from "./cut";
import { appendLive } from "./live";
import { hasEnded, type AnswerItem, type CallItem, type Item, type TaskView } from "./model";

/** Whether the update was news. One that was heard of before changes nothing. */
export function fold(view: TaskView, update: TaskUpdate): boolean {
  if (update.sequence <= view.sequence) return false;
  view.sequence = update.sequence;
  view.contextId = update.contextId;
  const at: At = { view, update, time: update.time ? timestampMs(update.time) : 0 };
  const { update: body } = update;
  switch (body.case) {
    case "created":
      view.created = at.time;
      if (body.value.settings) view.settings = body.value.settings;
      break;
    case "status":
      status(at, body.value);
      break;
    case "text":
      text(at, body.value);
      break;
    case "thought":
      add(at, { ...base(at), kind: "thought", thought: body.value });
      break;
    case "toolCall":
      toolCall(at, body.value);
      break;
    case "liveOutput":
      liveOutput(view, body.value);
      break;
    case "artifact":
      artifact(at, body.value);
      break;
    case "message":
      message(at, body.value);
      break;
    case "usage":
      usage(view, body.value);
      break;
    case "decided":
      decided(view, body.value);
      break;
    case undefined:
      // From a newer server. The cursor has moved on, and that is all there is to do.
      break;
  }
  return true;
}

interface At {
  view: TaskView;
  update: TaskUpdate;
  time: number;
}

function base({ view, update, time }: At): { key: string; revision: number; time: number } {
  return { key: `${view.taskId}:${update.sequence}`, revision: 0, time };
}

function add({ view }: At, item: Item): void {
  view.items.push(item);
}

/** The piece of an answer that grows. What stands between pieces, such as a thought, makes the next a new one. */
function openAnswer(view: TaskView): AnswerItem | undefined {
  const last = view.items.at(-1);
  return last?.kind === "answer" && last.open ? last : undefined;
}

function text(at: At, piece: string): void {
  const open = openAnswer(at.view);
  if (open === undefined) {
    addPiece(at, piece, at.update.model, false);
    return;
  }
  open.text += piece;
  open.revision += 1;
  const cut = cutAnswer(open.text, piece.length);
  if (cut === undefined) return;
  const rest = open.text.slice(cut);
  open.text = open.text.slice(0, cut);
  addPiece(at, rest, open.model, true);
}

function addPiece(at: At, piece: string, model: string, continued: boolean): void {
  const item: AnswerItem = { ...base(at), kind: "answer", text: piece, open: true, model, continued };
  at.view.unsettled.push(item);
  add(at, item);
}

function message(at: At, said: Message): void {
  const words = textOf(said);
  if (said.role === Role.USER) {
    // A decision is a message without words; its card tells it.
    if (words !== "") add(at, { ...base(at), kind: "user", text: words });
    return;
  }
  settle(at, words);
}

/** Nothing more is appended. */
function closeAnswer(view: TaskView): AnswerItem[] {
  const pieces = view.unsettled;
  view.unsettled = [];
  for (const piece of pieces) {
    piece.open = false;
    piece.revision += 1;
  }
  return pieces;
}

/** The whole of an answer has come. Its pieces should say the same; where they do not, the whole is right. */
function settle(at: At, words: string): void {
  const { view } = at;
  const pieces = closeAnswer(view);
  const heard = pieces.map((piece) => piece.text).join("");
  const last = pieces.at(-1);
  // What an answer that broke off had said stays before the one that took its place.
  if (heard.endsWith(words)) return;
  if (last === undefined) {
    add(at, { ...base(at), kind: "answer", text: words, open: false, model: at.update.model, continued: false });
    return;
  }
  last.text = words.startsWith(heard) ? last.text + words.slice(heard.length) : words;
  last.revision += 1;
  if (words.startsWith(heard)) return;
  const replaced = new Set<Item>(pieces.slice(0, -1));
  view.items = view.items.filter((item) => !replaced.has(item));
}

export function textOf(said: Message | undefined): string {
  const parts = said?.parts ?? [];
  return parts.map((part) => (part.content.case === "text" ? part.content.value : "")).join("");
}

function status(at: At, now: TaskStatus): void {
  const { view, update } = at;
  view.state = now.state;
  if (hasEnded(now.state)) closeAnswer(view);
  const words = textOf(now.message);
  const said = saysOfItself(view, now.state) ? words : "";
  if (said !== "" && isRepeated(view, said)) return;
  if (said === "" && update.error === undefined && !isOddEnd(now.state)) return;
  const error = update.error === undefined ? {} : { error: update.error };
  add(at, { ...base(at), kind: "notice", state: now.state, text: said, ...error });
}

/** While calls wait, the question in words only repeats what their cards show better. */
function saysOfItself(view: TaskView, state: TaskState): boolean {
  return state !== TaskState.INPUT_REQUIRED || waitingCalls(view).length === 0;
}

function isRepeated(view: TaskView, words: string): boolean {
  const last = view.items.at(-1);
  return last?.kind === "answer" && last.text.trim() === words.trim();
}

function isOddEnd(state: TaskState): boolean {
  return hasEnded(state) && state !== TaskState.COMPLETED;
}

function toolCall(at: At, call: ToolCall): void {
  const known = at.view.calls.get(call.toolCallId);
  if (known === undefined) {
    const live = call.liveContent ?? "";
    const { taskId } = at.view;
    const item: CallItem = { ...base(at), kind: "call", taskId, call, options: [], live: "", heard: 0 };
    offered(at.view, item);
    appendLive(item, 0, live);
    at.view.calls.set(call.toolCallId, item);
    add(at, item);
    return;
  }
  known.call = call;
  known.revision += 1;
  offered(at.view, known);
  if (call.liveContent !== undefined && call.liveContent.length > known.live.length) {
    known.live = "";
    known.heard = 0;
    appendLive(known, 0, call.liveContent);
  }
}

/** The options are gone once one was chosen, but its name still tells what that meant. */
function offered(view: TaskView, item: CallItem): void {
  const { call } = item;
  const options = call.confirmationRequest?.options;
  if (options !== undefined) item.options = options;
  if (isWaiting(call)) view.waiting.set(call.toolCallId, call);
  else view.waiting.delete(call.toolCallId);
}

function liveOutput(view: TaskView, piece: LiveOutput): void {
  const item = view.calls.get(piece.toolCallId);
  if (item !== undefined && appendLive(item, Number(piece.offset), piece.text)) item.revision += 1;
}

function decided(view: TaskView, { toolCallId, decision }: ToolCallDecided): void {
  const item = view.calls.get(toolCallId);
  if (item === undefined || decision === undefined) return;
  const { confirmationRequest: _, ...rest } = item.call;
  item.call = { ...rest, decision };
  item.revision += 1;
  view.waiting.delete(toolCallId);
  // The answer itself says that the task goes on; no status of its own does.
  if (view.state === TaskState.INPUT_REQUIRED && waitingCalls(view).length === 0) view.state = TaskState.WORKING;
}

function artifact(at: At, told: TaskArtifactUpdateEvent): void {
  const { artifact: piece, append } = told;
  if (piece === undefined) return;
  const known = at.view.artifacts.get(piece.artifactId);
  if (known === undefined) {
    const item = { ...base(at), kind: "artifact" as const, artifact: piece };
    at.view.artifacts.set(piece.artifactId, item);
    add(at, item);
    return;
  }
  const parts = append ? piece.parts.reduce(appendPart, known.artifact.parts) : piece.parts;
  known.artifact = { ...known.artifact, ...(append ? {} : piece), parts };
  known.revision += 1;
}

/** Text goes on where the text before it ended. */
function appendPart(parts: Part[], part: Part): Part[] {
  const last = parts.at(-1);
  if (last?.content.case !== "text" || part.content.case !== "text") return [...parts, part];
  const content = { case: "text" as const, value: last.content.value + part.content.value };
  return [...parts.slice(0, -1), { ...last, content }];
}

function usage(view: TaskView, cost: Usage): void {
  const sum = view.usage.get(cost.model) ?? create(UsageSchema, { model: cost.model });
  sum.inputTokens += cost.inputTokens;
  sum.outputTokens += cost.outputTokens;
  sum.thinkingTokens += cost.thinkingTokens;
  sum.cachedTokens += cost.cachedTokens;
  view.usage.set(cost.model, sum);
}

/** Calls that wait for the user's answer, oldest first. */
export function waitingCalls(view: TaskView): ToolCall[] {
  return hasEnded(view.state) ? [] : [...view.waiting.values()];
}

export function isWaiting(call: ToolCall): boolean {
  return call.status === ToolCallStatus.PENDING && call.confirmationRequest !== undefined && !call.decision;
}
