// What exactly would happen if the user said yes: one view for each kind of request.

import { useState } from "preact/hooks";
import type { ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import type { Draft } from "../state/answer";
import { MergeEditor } from "./MergeEditor";
import { Questions } from "./Questions";
import { visible } from "./visible";
import { pretty } from "./words";

interface Props {
  call: ToolCall;
  draft: Draft;
  change: (more: Draft) => void;
}

export function Details({ call, draft, change }: Props) {
  const details = call.confirmationRequest?.details;
  switch (details?.case) {
    case "executeDetails":
      return (
        <>
          <pre class="command" tabIndex={0} aria-label="Command">
            {visible(details.value.command)}
          </pre>
          {details.value.workingDirectory && (
            <p class="dim">
              in <code>{visible(details.value.workingDirectory)}</code>
            </p>
          )}
        </>
      );
    case "fileEditDetails":
      return <FileEdit call={call} draft={draft} change={change} />;
    case "mcpDetails":
      return (
        <>
          <p>
            The MCP server <strong>{details.value.serverName}</strong> would run its tool{" "}
            <strong>{details.value.toolName}</strong> with
          </p>
          <Given call={call} />
        </>
      );
    case "genericDetails":
      if (details.value.questions.length > 0) {
        return <Questions questions={details.value.questions} answers={draft.answers ?? []} change={change} />;
      }
      return (
        <>
          <Description text={details.value.description} />
          <Feedback draft={draft} change={change} />
        </>
      );
    default:
      return <Given call={call} />;
  }
}

/** A list of changes keeps its columns. */
function Description({ text }: { text: string }) {
  if (!text.includes("\n")) return <p>{visible(text)}</p>;
  return (
    <pre class="command" tabIndex={0} aria-label="Description">
      {visible(text)}
    </pre>
  );
}

function Given({ call }: { call: ToolCall }) {
  return (
    <pre class="command" tabIndex={0} aria-label="Arguments">
      {visible(pretty(call.inputParameters ?? {}))}
    </pre>
  );
}

function FileEdit({ call, draft, change }: Props) {
  const details = call.confirmationRequest?.details;
  // The editor keeps what is typed itself; it only begins with what was typed before.
  const [begun] = useState(draft.content);
  if (details?.case !== "fileEditDetails") return null;
  const { fileName, filePath, oldContent, newContent } = details.value;
  const edited = draft.content !== undefined && draft.content !== newContent;
  return (
    <>
      <p class="file-line">
        <code>{visible(filePath)}</code>
        <span class="dim">{oldContent === undefined ? "new file" : "changed file"}</span>
        <span class="dim" role="status">
          {edited ? "Edited by you: your version will be written." : "You can edit the proposal before you allow it."}
        </span>
      </p>
      <MergeEditor
        name={fileName}
        before={oldContent ?? ""}
        after={begun ?? newContent}
        onEdit={(content) => change({ content })}
      />
    </>
  );
}

function Feedback({ draft, change }: Omit<Props, "call">) {
  return (
    <label class="field">
      Feedback for the agent, if you allow it
      <textarea
        rows={2}
        value={draft.feedback ?? ""}
        onInput={(event) => change({ feedback: event.currentTarget.value })}
      />
    </label>
  );
}
