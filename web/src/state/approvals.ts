// Answering what a task asks. The options are the server's; nothing here knows one of them by name.

import { create } from "@bufbuild/protobuf";
import { computed, signal } from "@preact/signals";
import {
  ConfirmationOptionKind,
  ToolCallConfirmationSchema,
  type ConfirmationOption,
  type ToolCall,
  type ToolCallConfirmation,
} from "#gen/agena/devtool/v1/tool_call_pb";
import { devtool } from "../wire/client";
import { problemOf, type Problem } from "../wire/errors";
import { announce, complain } from "./announce";
import { openViews, revision } from "./conversation";
import { waitingCalls } from "./fold";
import { soon } from "./tasks";

export interface Asked {
  taskId: string;
  call: ToolCall;
}

/** What the user has made of the proposal so far. */
export interface Draft {
  /** The proposed file as edited, if it was. */
  content?: string;
  reason?: string;
  answers?: string[];
  feedback?: string;
}

/** Everything in the open conversation that waits for an answer. */
export const asked = computed<Asked[]>(() => {
  void revision.value;
  return openViews.value.flatMap((view) => waitingCalls(view).map((call) => ({ taskId: view.taskId, call })));
});

export const answering = signal<ReadonlySet<string>>(new Set());

const REJECTS = new Set([ConfirmationOptionKind.REJECT_ONCE, ConfirmationOptionKind.REJECT_ALWAYS]);

export function rejects(option: ConfirmationOption): boolean {
  return REJECTS.has(option.kind);
}

/** The answer to send: what belongs to an approval goes with approvals alone, and a reason with rejections. */
export function confirmation(call: ToolCall, option: ConfirmationOption, draft: Draft): ToolCallConfirmation {
  const request = call.confirmationRequest;
  const answer = create(ToolCallConfirmationSchema, {
    toolCallId: call.toolCallId,
    selectedOptionId: option.id,
    ...(request?.fingerprint ? { fingerprint: request.fingerprint } : {}),
  });
  if (rejects(option)) {
    if (draft.reason) answer.rejectReason = draft.reason;
    return answer;
  }
  const proposed = request?.details.case === "fileEditDetails" ? request.details.value.newContent : undefined;
  if (proposed !== undefined && draft.content !== undefined && draft.content !== proposed) {
    answer.modifiedDetails = { case: "fileDetails", value: newContent(draft.content) };
  }
  if (draft.answers !== undefined) answer.answers = draft.answers;
  if (draft.feedback) answer.feedback = draft.feedback;
  return answer;
}

function newContent(content: string) {
  return { $typeName: "agena.devtool.v1.ModifiedFileDetails" as const, newContent: content };
}

export async function answer({ taskId, call }: Asked, option: ConfirmationOption, draft: Draft): Promise<boolean> {
  const id = call.toolCallId;
  if (answering.value.has(id)) return false;
  answering.value = new Set([...answering.value, id]);
  try {
    const messageId = crypto.randomUUID();
    await devtool.confirmToolCall({ taskId, confirmation: confirmation(call, option, draft), messageId });
    announce(`${option.name}: ${call.description ?? call.toolName}`);
    return true;
  } catch (error) {
    complain(refusal(problemOf(error), call));
    return false;
  } finally {
    answering.value = new Set([...answering.value].filter((one) => one !== id));
    soon();
  }
}

/** Ends a call that runs; the task goes on, and the model is told. */
export async function stopCall(taskId: string, call: ToolCall): Promise<void> {
  const stop = create(ToolCallConfirmationSchema, { toolCallId: call.toolCallId, selectedOptionId: "stop" });
  try {
    await devtool.confirmToolCall({ taskId, confirmation: stop, messageId: crypto.randomUUID() });
  } catch (error) {
    complain(problemOf(error).message);
  }
}

/** If somebody else was first: who, and what they chose. */
export function refusal(problem: Problem, call: ToolCall): string {
  if (problem.reason !== "ALREADY_DECIDED") return problem.message;
  const { decidedBy: who, selectedOptionId: what } = problem.metadata;
  const option = call.confirmationRequest?.options.find((one) => one.id === what);
  return `Already answered: ${who || "somebody else"} chose “${option?.name ?? what ?? "something"}”.`;
}
