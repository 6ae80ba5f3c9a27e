// What came of a tool call: text, a file before and after, data, or an error.

import type { ErrorDetails, FileDiff, ToolCall } from "#gen/agena/devtool/v1/tool_call_pb";
import { Compare } from "./Compare";
import { Fold } from "./Fold";
import { Output } from "./Output";
import { Todos, todosIn } from "./Todos";
import { DiffCount, UnifiedDiff } from "./UnifiedDiff";
import { plural, pretty } from "./words";

export function Result({ id, call, live }: { id: string; call: ToolCall; live: string }) {
  const { result } = call;
  if (result.case === "error") {
    return (
      <>
        {live !== "" && <Text id={id} text={live} />}
        <Failure error={result.value} />
      </>
    );
  }
  const output = result.case === "output" ? result.value.result : undefined;
  switch (output?.case) {
    case "text":
      return <Text id={id} text={output.value} />;
    case "diff":
      return <Changed id={id} diff={output.value} />;
    case "structuredData": {
      const todos = todosIn(output.value);
      return todos ? <Todos todos={todos} /> : <Text id={id} text={pretty(output.value)} />;
    }
    default:
      return null;
  }
}

// What fits is shown at once; the rest is one click away.
const FEW = 8;

function Text({ id, text }: { id: string; text: string }) {
  if (text.trim() === "") return <p class="none">It printed nothing.</p>;
  const lines = text.replace(/\n$/, "").split("\n").length;
  const output = <Output id={id} text={text} label="Output" />;
  return (
    <Fold id={`${id}:output`} summary={`Output, ${plural(lines, "line")}`} open={lines <= FEW} class="quiet">
      {output}
    </Fold>
  );
}

export function Failure({ error }: { error: ErrorDetails }) {
  return (
    <div class="failure">
      <p>{error.message}</p>
      {(error.type !== undefined || error.statusCode !== undefined) && (
        <p class="failure-type">
          {error.type} {error.statusCode !== undefined && `(${error.statusCode})`}
        </p>
      )}
    </div>
  );
}

function Changed({ id, diff }: { id: string; diff: FileDiff }) {
  const text = diff.formattedDiff ?? "";
  const summary = (
    <>
      <span class="file-name">{diff.fileName}</span> {text !== "" && <DiffCount text={text} />}
    </>
  );
  return (
    <Fold id={`${id}:diff`} summary={summary} open class="quiet">
      {text !== "" && <UnifiedDiff text={text} label={`Changes in ${diff.fileName}`} />}
      <Compare id={id} diff={diff} />
    </Fold>
  );
}
