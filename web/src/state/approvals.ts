// What the open conversation asks, and answering it.

import { create } from "@bufbuild/protobuf";
import { computed, effect, signal } from "@preact/signals";
import { ToolCallConfirmationSchema, type ConfirmationOption, type ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { again } from "../wire/again";
import { devtool } from "../wire/client";
import { problemOf } from "../wire/errors";
import { announce, complain, say } from "./announce";
import { answeredBy, confirmation, refusal, type Draft } from "./answer";
import { openViews, revision, viewOf } from "./conversation";
import { waitingCalls } from "./fold";
import { soon } from "./tasks";

export interface Asked {
  taskId: string;
  call: ToolCall;
}

/** Everything in the open conversation that waits for an answer. */
export const asked = computed<Asked[]>(() => {
  void revision.value;
  return openViews.value.flatMap((view) => waitingCalls(view).map((call) => ({ taskId: view.taskId, call })));
});

/** Calls that this page has answered, or tried to. */
const own = new Set<string>();

/** Tells when somebody else answered what this page was showing. */
export function watchAnswers(): () => void {
  let before: Asked[] = [];
  return effect(() => {
    const now = asked.value;
    const waiting = new Set(now.map(({ call }) => call.toolCallId));
    for (const { taskId, call } of before) {
      const item = viewOf(taskId).calls.get(call.toolCallId);
      if (waiting.has(call.toolCallId) || own.has(call.toolCallId) || item?.call.decision === undefined) continue;
      announce(answeredBy(item.call.decision, item.options));
    }
    before = now;
  });
}

export const answering = signal<ReadonlySet<string>>(new Set());

export async function answer({ taskId, call }: Asked, option: ConfirmationOption, draft: Draft): Promise<boolean> {
  const id = call.toolCallId;
  if (answering.value.has(id)) return false;
  answering.value = new Set([...answering.value, id]);
  own.add(id);
  try {
    const messageId = crypto.randomUUID();
    const request = { taskId, confirmation: confirmation(call, option, draft), messageId };
    await again(() => devtool.confirmToolCall(request));
    say(`${option.name}: ${call.description ?? call.toolName}`);
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
