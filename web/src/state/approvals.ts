// What the open conversation asks, and answering it.

import { create } from "@bufbuild/protobuf";
import { computed, signal } from "@preact/signals";
import { ToolCallConfirmationSchema, type ConfirmationOption, type ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { devtool } from "../wire/client";
import { problemOf } from "../wire/errors";
import { complain, say } from "./announce";
import { confirmation, refusal, type Draft } from "./answer";
import { openViews, revision } from "./conversation";
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

export const answering = signal<ReadonlySet<string>>(new Set());

export async function answer({ taskId, call }: Asked, option: ConfirmationOption, draft: Draft): Promise<boolean> {
  const id = call.toolCallId;
  if (answering.value.has(id)) return false;
  answering.value = new Set([...answering.value, id]);
  try {
    const messageId = crypto.randomUUID();
    await devtool.confirmToolCall({ taskId, confirmation: confirmation(call, option, draft), messageId });
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
