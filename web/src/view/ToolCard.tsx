// A tool call: what it is for, how it stands, what it printed, what came of it.

import { ToolCallStatus, type ConfirmationOption, type Decision, type ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { stopCall } from "../state/approvals";
import { isWaiting } from "../state/fold";
import type { CallItem } from "../state/model";
import { Fold } from "./Fold";
import { Icon } from "./Icon";
import { Output } from "./Output";
import type { Placed } from "./rows";
import { Result } from "./Result";
import { State } from "./State";
import { WAITING, callWord, pretty } from "./words";

export function ToolCard({ item, position }: Placed<CallItem>) {
  const { call } = item;
  const running = call.status === ToolCallStatus.EXECUTING;
  return (
    <article
      class={`card tool-card status-${ToolCallStatus[call.status]}`}
      aria-label={`Tool call: ${call.toolName}`}
      aria-posinset={position}
      aria-setsize={-1}
    >
      <header class="card-head">
        <Icon name="tool" />
        <span class="tool-name">{call.toolName}</span>
        <span class="tool-what">{call.description}</span>
        <State word={isWaiting(call) ? WAITING : callWord(call.status)} />
        {running && (
          <button type="button" class="small" onClick={() => void stopCall(item.taskId, call)}>
            Stop
          </button>
        )}
      </header>
      <Arguments item={item} revision={item.revision} />
      {call.progress && <ProgressLine call={call} />}
      {running && item.live !== "" && <Output id={item.key} text={item.live} label="Live output" running />}
      <Result id={item.key} call={call} live={item.live} />
      {call.decision && <Decided decision={call.decision} options={item.options} />}
    </article>
  );
}

function Arguments({ item }: { item: CallItem; revision: number }) {
  const { inputParameters } = item.call;
  if (inputParameters === undefined || Object.keys(inputParameters).length === 0) return null;
  return (
    <Fold id={`${item.key}:arguments`} summary="Arguments" class="quiet">
      <pre tabIndex={0} aria-label="Arguments">
        {pretty(inputParameters)}
      </pre>
    </Fold>
  );
}

function ProgressLine({ call }: { call: ToolCall }) {
  const { progress } = call;
  if (progress === undefined || call.status !== ToolCallStatus.EXECUTING) return null;
  const total = progress.total === undefined ? {} : { max: Number(progress.total), value: Number(progress.done) };
  return (
    <p class="progress-line">
      <progress aria-label="Progress" {...total} /> {progress.message}
    </p>
  );
}

function Decided({ decision, options }: { decision: Decision; options: ConfirmationOption[] }) {
  const option = options.find((one) => one.id === decision.selectedOptionId);
  return (
    <p class="decided">
      {option?.name ?? decision.selectedOptionId}, said {decision.decidedBy || "somebody"}
      {decision.modified && ", with changes"}
      {decision.rejectReason && `: “${decision.rejectReason}”`}
      {decision.answers.some(Boolean) && `: ${decision.answers.filter(Boolean).join("; ")}`}
    </p>
  );
}
