// A small client of the typed service: prompts and slash commands in, what the agent does out.
//
//     AGENA_TOKEN=$(agena token) node build/agent.js

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { DevelopmentToolService, type TaskUpdate } from "./gen/agena/devtool/v1/service_pb.js";
import { ConfirmationOptionKind as Kind, ToolCallStatus as Status } from "./gen/agena/devtool/v1/tool_call_pb.js";
import type { FileDiff, ToolCall } from "./gen/agena/devtool/v1/tool_call_pb.js";
import { TaskState } from "./gen/lf/a2a/v1/a2a_pb.js";

const authorize: Interceptor = (next) => (request) => {
  request.header.set("Authorization", `Bearer ${process.env.AGENA_TOKEN}`);
  return next(request);
};
// In a web page it is createGrpcWebTransport of @connectrpc/connect-web, with the same two members.
const baseUrl = `http://${process.env.AGENA_ADDRESS ?? "127.0.0.1:41242"}`;
const client = createClient(DevelopmentToolService, createGrpcTransport({ baseUrl, interceptors: [authorize] }));

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const print = (text: string) => process.stdout.write(text);

async function input(prompt: string): Promise<string> {
  print(prompt);
  const { value, done } = await lines.next();
  if (done) process.exit(); // A task that runs or waits goes on doing so.
  return value.trim();
}

/** The server is not there, or the connection broke, which Node tells in one of two ways. */
const away = (error: unknown) =>
  error instanceof ConnectError && [Code.Unavailable, Code.Aborted, Code.Canceled].includes(error.code);

/** Does it again while the server cannot be reached. Only for what may be sent again. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!away(error)) throw error;
      await pause(1000);
    }
  }
}

type Begun = { taskId: string; contextId: string };

/** Leaving the stream cancels nothing: what happens is read by `follow`. */
async function start(prompt: string, contextId: string): Promise<Begun> {
  for await (const { update } of client.startTask({ prompt, contextId, messageId: randomUUID() })) return update!;
  throw new Error("the stream ended before the task began");
}

/** A slash command is a task as well. */
async function command(line: string, contextId: string): Promise<Begun> {
  const [name, ...args] = line.slice(1).split(" ");
  const done = await client.executeSlashCommand({ commandPath: [name], args: args.join(" "), contextId });
  if (done.message) print(`${done.message}\n`);
  return { taskId: done.executionId, contextId: done.contextId || contextId };
}

/** Shows a task until it has ended. After a cut it goes on behind the last update that was seen. */
async function follow(taskId: string): Promise<void> {
  const waiting = new Map<string, ToolCall>();
  for (let after = 0n; ; await pause(1000)) {
    try {
      for await (const { update } of client.followTask({ taskId, after })) {
        await show(update!, waiting);
        after = update!.sequence;
      }
      return;
    } catch (error) {
      if (!away(error)) throw error;
      print(`(cut off; going on behind ${after})\n`);
    }
  }
}

/** `waiting` holds the calls that want an answer. A call is whole in every update, so the last one counts. */
async function show({ taskId, error, update }: TaskUpdate, waiting: Map<string, ToolCall>): Promise<void> {
  switch (update.case) {
    case "text":
      return void print(update.value);
    case "liveOutput":
      return void print(update.value.text);
    case "thought":
      return void print(`(${update.value.subject}: ${update.value.description})\n`);
    case "toolCall": {
      const { toolCallId, toolName, status, confirmationRequest, result } = update.value;
      waiting.delete(toolCallId);
      if (status === Status.PENDING && confirmationRequest) waiting.set(toolCallId, update.value);
      const why = result.case === "error" ? ` ${result.value.message}` : "";
      if (status > Status.EXECUTING) print(`[${toolName}: ${Status[status]}]${why}\n`);
      return;
    }
    case "decided":
      return void waiting.delete(update.value.toolCallId);
    case "status": {
      const { state, message } = update.value;
      if (state === TaskState.SUBMITTED || state === TaskState.WORKING) return;
      const why = error ? ` ${error.message}` : "";
      if (state !== TaskState.INPUT_REQUIRED) return void print(`\n-- TASK_STATE_${TaskState[state]}${why}\n`);
      const words = message?.parts.map((part) => (part.content.case === "text" ? part.content.value : "")).join("");
      return asked(taskId, words ?? "", waiting);
    }
  }
}

/** The task rests until somebody answers: its calls, or else what it asks in words. */
async function asked(taskId: string, words: string, waiting: Map<string, ToolCall>): Promise<void> {
  if (waiting.size === 0) {
    const said = { taskId, prompt: await input(`${words}\n? `), messageId: randomUUID() };
    await patiently(() => client.continueTask(said));
  }
  for (const call of [...waiting.values()]) {
    const said = { taskId, confirmation: await answer(call), messageId: randomUUID() };
    // Somebody else was first, or the call asks for something else by now. The stream tells what holds.
    await patiently(() => client.confirmToolCall(said)).catch((error) => print(`not taken: ${error.message}\n`));
  }
}

/** Asks on the terminal, with the options that the server offers. */
async function answer({ toolCallId, description, confirmationRequest }: ToolCall) {
  const { options, details, fingerprint } = confirmationRequest!;
  const edit = details.case === "fileEditDetails" ? details.value : undefined;
  print(`\n${description}\n${edit?.formattedDiff ?? ""}`);
  if (details.case === "executeDetails") print(`$ ${details.value.command}\n`);
  const keys = new Map(options.map((option, index) => [String(index + 1), option]));
  if (edit) keys.set("e", options.find(({ kind }) => kind === Kind.ALLOW_ONCE)!);
  for (const [key, option] of keys) print(`  ${key}  ${key === "e" ? "Edit it first" : option.name}\n`);
  let key = await input("? ");
  while (!keys.has(key)) key = await input(`one of: ${[...keys.keys()].join(", ")}\n? `);
  const option = keys.get(key)!;
  // The fingerprint stands for what was shown, so that nothing else can be approved by mistake.
  const said = { toolCallId, selectedOptionId: option.id, fingerprint };
  if (option.kind !== Kind.ALLOW_ONCE && option.kind !== Kind.ALLOW_ALWAYS)
    return { ...said, rejectReason: await input("why? ") };
  if (edit && key === "e")
    return { ...said, modifiedDetails: { case: "fileDetails" as const, value: { newContent: edited(edit) } } };
  const answers: string[] = [];
  for (const { question, choices } of details.case === "genericDetails" ? details.value.questions : [])
    answers.push(await input(`${question} [${choices.map(({ label }) => label).join(", ")}] `));
  return { ...said, answers };
}

/** The proposed file, as the user leaves it in an editor. */
function edited({ fileName, newContent }: FileDiff): string {
  const directory = mkdtempSync(join(tmpdir(), "edit-"));
  const path = join(directory, fileName);
  writeFileSync(path, newContent);
  spawnSync("sh", ["-c", '${EDITOR:-vi} "$0"', path], { stdio: "inherit" });
  const content = readFileSync(path, "utf8");
  rmSync(directory, { recursive: true });
  return content;
}

for (let context = ""; ; ) {
  const line = await input("you> ");
  try {
    const { taskId, contextId } = await (line.startsWith("/") ? command : start)(line, context);
    context = contextId;
    if (taskId) await follow(taskId);
  } catch (error) {
    print(`${error instanceof Error ? error.message : error}\n`);
  }
}
