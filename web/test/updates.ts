// Updates as the server sends them, in short.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TaskUpdateSchema, type TaskUpdate } from "#gen/agena/devtool/v1/service_pb";
import { ToolCallStatus } from "#gen/agena/devtool/v1/tool_call_pb";
import { Role, TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { fold } from "../src/state/fold";
import { emptyView, type TaskView } from "../src/state/model";

type Body = NonNullable<MessageInitShape<typeof TaskUpdateSchema>["update"]>;

export function update(sequence: number, body: Body): TaskUpdate {
  const time = timestampFromMs(1_000 * sequence);
  return create(TaskUpdateSchema, { taskId: "t", contextId: "c", sequence: BigInt(sequence), time, update: body });
}

export function view(...bodies: Body[]): TaskView {
  const made = emptyView("t");
  bodies.forEach((body, at) => fold(made, update(at + 1, body)));
  return made;
}

export const text = (value: string): Body => ({ case: "text", value });
export const thought = (subject: string): Body => ({ case: "thought", value: { subject } });
export const state = (to: TaskState, words = ""): Body => ({
  case: "status",
  value: { state: to, ...(words === "" ? {} : { message: { role: Role.AGENT, parts: [part(words)] } }) },
});
export const said = (role: Role, words: string): Body => ({ case: "message", value: { role, parts: [part(words)] } });
export const live = (offset: number, piece: string): Body => ({
  case: "liveOutput",
  value: { toolCallId: "x", offset: BigInt(offset), text: piece },
});
export const call = (status: ToolCallStatus, more: object = {}): Body => ({
  case: "toolCall",
  value: { toolCallId: "x", toolName: "write_file", status, ...more },
});
export const asking = { confirmationRequest: { options: [{ id: "yes", name: "Allow" }], fingerprint: "f" } };

export function part(words: string) {
  return { content: { case: "text" as const, value: words } };
}
