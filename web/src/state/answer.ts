// What an answer to a confirmation says. Pure; nothing here knows an option by name.

import { create } from "@bufbuild/protobuf";
import {
  ConfirmationOptionKind,
  ModifiedFileDetailsSchema,
  ToolCallConfirmationSchema,
  type ConfirmationOption,
  type Decision,
  type ToolCall,
  type ToolCallConfirmation,
} from "#gen/agena/devtool/v1/tool_call_pb";
import type { Problem } from "../wire/errors";

/** What the user has made of the proposal so far. */
export interface Draft {
  /** The proposed file as edited, if it was. */
  content?: string;
  reason?: string;
  answers?: string[];
  feedback?: string;
}

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
    answer.modifiedDetails = { case: "fileDetails", value: create(ModifiedFileDetailsSchema, { newContent: draft.content }) };
  }
  if (draft.answers !== undefined) answer.answers = draft.answers;
  if (draft.feedback) answer.feedback = draft.feedback;
  return answer;
}

/** If somebody else was first: who, and what they chose. */
export function refusal(problem: Problem, call: ToolCall): string {
  if (problem.reason !== "ALREADY_DECIDED") return problem.message;
  const { decidedBy = "", selectedOptionId = "" } = problem.metadata;
  return answeredBy({ decidedBy, selectedOptionId }, call.confirmationRequest?.options ?? []);
}

export function answeredBy(
  { decidedBy, selectedOptionId }: Pick<Decision, "decidedBy" | "selectedOptionId">,
  options: ConfirmationOption[],
): string {
  const option = options.find((one) => one.id === selectedOptionId);
  return `Already answered: ${decidedBy || "somebody else"} chose “${option?.name ?? selectedOptionId}”.`;
}
