// Tasks, tokens and tool calls, as the server counts them.

import { useEffect, useState } from "preact/hooks";
import type { Statistics } from "#gen/agena/devtool/v1/task_pb";
import { complain } from "../state/announce";
import { route } from "../state/route";
import { devtool } from "../wire/client";
import { problemOf } from "../wire/errors";
import { Dialog } from "./Dialog";
import { count, stateWord } from "./words";

export function StatisticsDialog() {
  const { contextId } = route.value;
  const [own, setOwn] = useState(false);
  const [counted, setCounted] = useState<Statistics>();
  useEffect(() => {
    devtool.getStatistics({ contextId: own ? (contextId ?? "") : "" }).then(
      ({ statistics }) => setCounted(statistics),
      (error: unknown) => complain(problemOf(error).message),
    );
  }, [own, contextId]);
  return (
    <Dialog title="Statistics">
      {contextId !== undefined && (
        <label class="choice">
          <input type="checkbox" checked={own} onChange={(event) => setOwn(event.currentTarget.checked)} />
          This conversation only
        </label>
      )}
      {counted && <Counted counted={counted} />}
    </Dialog>
  );
}

function Counted({ counted }: { counted: Statistics }) {
  return (
    <>
      <Table
        name="Tasks"
        head={["State", "Tasks"]}
        rows={[
          ...counted.states.map(({ state, tasks }) => [stateWord(state).text, count(tasks)]),
          ["All", count(counted.tasks)],
        ]}
      />
      <Table
        name="Tokens"
        head={["Model", "Input", "Cached", "Thinking", "Output"]}
        rows={counted.usage.map((one) => [
          one.model,
          count(one.inputTokens),
          count(one.cachedTokens),
          count(one.thinkingTokens),
          count(one.outputTokens),
        ])}
      />
      <Table
        name="Tool calls"
        head={["Tool", "Succeeded", "Failed", "Cancelled"]}
        rows={counted.tools.map((one) => [one.toolName, count(one.succeeded), count(one.failed), count(one.cancelled)])}
      />
      {!counted.complete && <p class="dim">There are older tasks that were not counted.</p>}
    </>
  );
}

function Table({ name, head, rows }: { name: string; head: string[]; rows: string[][] }) {
  if (rows.length === 0) return null;
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label={name}>
      <table class="numbers">
        <caption>{name}</caption>
        <thead>
          <tr>
            {head.map((cell) => (
              <th key={cell} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row[0]}>
              {row.map((cell, at) => (at === 0 ? <th key={at} scope="row">{cell}</th> : <td key={at}>{cell}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
