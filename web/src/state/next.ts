// What holds for the next task. Pure.

import { create } from "@bufbuild/protobuf";
import { AgentSettingsSchema, ApprovalMode, type AgentSettings } from "#gen/agena/devtool/v1/event_pb";

export interface Chosen {
  model: string;
  approvalMode: ApprovalMode;
  workspace: string;
}

/**
 * Settings to send with the next task: what held before, and what the user chose since. Nothing if that is the same, as
 * then it holds anyway. `before` is undefined where the server's own settings held; a context's workspace stays.
 */
export function nextSettings(isNew: boolean, before: AgentSettings | undefined, chosen: Chosen): AgentSettings | undefined {
  const held = before ?? create(AgentSettingsSchema);
  const wanted = create(AgentSettingsSchema, {
    workspacePath: isNew ? chosen.workspace : held.workspacePath,
    model: chosen.model || held.model,
    approvalMode: chosen.approvalMode || held.approvalMode,
    allowedTools: held.allowedTools,
    mcpServers: held.mcpServers,
  });
  const same =
    wanted.workspacePath === held.workspacePath &&
    wanted.model === held.model &&
    wanted.approvalMode === held.approvalMode;
  return same ? undefined : wanted;
}
