// Drives tasks through the typed service over gRPC-Web and HTTP/1.1, as a web page does, with @connectrpc/connect-web.
//
//     node node/devtool.mjs http://127.0.0.1:41242 "$(agena token)"
//
// Prints a line per case and exits 1 if one fails.

import assert from "node:assert/strict";
import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { DevelopmentToolService } from "./gen/agena/devtool/v1/service_pb.js";
import { CommandExecutionStatus } from "./gen/agena/devtool/v1/command_pb.js";
import { ToolCallStatus } from "./gen/agena/devtool/v1/tool_call_pb.js";
import { TaskState } from "./gen/lf/a2a/v1/a2a_pb.js";

const [url, token] = process.argv.slice(2);
if (!url || !token) {
  console.error("usage: devtool.mjs URL TOKEN");
  process.exit(2);
}

const authorize = (next) => (request) => {
  request.header.set("Authorization", `Bearer ${token}`);
  return next(request);
};
// A call that takes longer has hung.
const options = { baseUrl: url, interceptors: [authorize], defaultTimeoutMs: 20_000 };
const client = createClient(DevelopmentToolService, createGrpcWebTransport(options));

const script = (...steps) => ["Do it.", "```rehearsal", ...steps.map((step) => `- ${step}`), "```"].join("\n");
const SHELL = script("call: {tool: run_shell_command, with: {command: echo hello}}", "say: 'Done: {result}'");

async function updates(stream) {
  const seen = [];
  for await (const { update } of stream) seen.push(update);
  return seen;
}

const calls = (seen) => seen.filter((one) => one.update.case === "toolCall").map((one) => one.update.value);
const text = (seen) => seen.filter((one) => one.update.case === "text").map((one) => one.update.value).join("");

/** Starts a task that asks: its id and the call. */
async function asked(prompt) {
  const seen = await updates(client.startTask({ prompt }));
  assert.equal(seen.at(-1).update.value.state, TaskState.INPUT_REQUIRED);
  return [seen[0].taskId, calls(seen).at(-1)];
}

const confirm = (taskId, { toolCallId }, more) =>
  client.confirmToolCall({ taskId, confirmation: { toolCallId, selectedOptionId: "proceed_once", ...more } });

const cases = {
  "a call is approved, and the stream goes on from a cursor": async () => {
    const [taskId, call] = await asked(SHELL);
    assert.equal(call.confirmationRequest.details.value.command, "echo hello");
    const pending = await client.listPendingConfirmations({});
    assert.ok(pending.confirmations.some((one) => one.taskId === taskId));
    const { toolCall } = await confirm(taskId, call, { fingerprint: call.confirmationRequest.fingerprint });
    assert.equal(toolCall.decision.selectedOptionId, "proceed_once");
    const whole = await updates(client.followTask({ taskId }));
    assert.equal(whole.at(-1).update.value.state, TaskState.COMPLETED);
    const middle = Math.floor(whole.length / 2);
    const rest = await updates(client.followTask({ taskId, after: whole[middle].sequence }));
    assert.deepEqual(rest, whole.slice(middle + 1));
  },

  "an edited file is written as it was edited": async () => {
    const [taskId, call] = await asked(
      script("call: {tool: write_file, with: {file_path: web.txt, content: proposed}}", "say: ok"),
    );
    const modifiedDetails = { case: "fileDetails", value: { newContent: "edited\n" } };
    const { toolCall } = await confirm(taskId, call, { modifiedDetails });
    assert.equal(toolCall.decision.modified, true);
    const last = calls(await updates(client.followTask({ taskId }))).at(-1);
    assert.equal(last.status, ToolCallStatus.SUCCEEDED);
    assert.equal(last.result.value.result.value.newContent, "edited\n");
  },

  "a question is answered": async () => {
    const options = "[{label: red, description: a}, {label: blue, description: b}]";
    const question = `{header: Colour, question: 'Which colour?', type: choice, options: ${options}}`;
    const [taskId, call] = await asked(
      script(`call: {tool: ask_user, with: {questions: [${question}]}}`, "say: 'You said {result}'"),
    );
    assert.equal(call.confirmationRequest.details.value.questions[0].question, "Which colour?");
    await confirm(taskId, call, { answers: ["blue"] });
    assert.match(text(await updates(client.followTask({ taskId }))), /blue/);
  },

  "a second answer is told that it is late": async () => {
    const [taskId, call] = await asked(SHELL);
    await confirm(taskId, call, { selectedOptionId: "cancel", rejectReason: "too loud" });
    const error = await confirm(taskId, call).then(
      () => undefined,
      (reason) => ConnectError.from(reason),
    );
    assert.equal(error?.code, Code.FailedPrecondition);
  },

  "a slash command is listed, executed and approved": async () => {
    const { commands } = await client.getAllSlashCommands({});
    assert.ok(commands.some((one) => one.name === "restore"));
    const executed = await client.executeSlashCommand({ commandPath: ["memory", "add"], args: "likes coffee" });
    assert.equal(executed.status, CommandExecutionStatus.AWAITING_ACTION_CONFIRMATION);
    const taskId = executed.executionId;
    const { openToolCalls } = await client.getTask({ taskId });
    assert.equal(openToolCalls[0].toolName, "save_memory");
    await confirm(taskId, openToolCalls[0]);
    const seen = await updates(client.followTask({ taskId }));
    assert.equal(seen.at(-1).update.value.state, TaskState.COMPLETED);
  },

  "a list of tasks is live": async () => {
    const stop = new AbortController();
    const watching = client.watchTasks({}, { signal: stop.signal })[Symbol.asyncIterator]();
    while (!(await watching.next()).value.caughtUp);
    const [taskId] = await asked(SHELL);
    let seen;
    do {
      seen = (await watching.next()).value.task;
    } while (seen.pendingConfirmations === 0);
    assert.equal(seen.taskId, taskId);
    stop.abort();
    await client.cancelTask({ taskId });
    const { contexts } = await client.listContexts({ pageSize: 1 });
    assert.equal(contexts[0].contextId, seen.contextId);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${String(error).replaceAll("\n", " ")}`);
  }
}
process.exitCode = failed ? 1 : 0;
