// Docks @a2a-js/sdk to Agena, over each of its transports. Each function below is one behaviour.
//
//     node a2a.mjs http://127.0.0.1:41242 "$(agena token)"
//
// The server follows ../a2a.yaml. Prints a line per case and exits 1 if one fails.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import {
  ContentTypeNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";

const [url, token] = process.argv.slice(2);
if (!url || !token) {
  console.error("usage: a2a.mjs URL TOKEN");
  process.exit(2);
}

const TRANSPORTS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
};
// What takes longer than this has hung.
const TIMEOUT_MS = 10_000;
const WEBHOOK = "http://127.0.0.1:9/hook";

/** Puts the token and a deadline on every call, whatever carries it. */
const authorize = (key) => ({
  async before(args) {
    const serviceParameters = { ...args.options?.serviceParameters, Authorization: `Bearer ${key}` };
    args.options = { signal: AbortSignal.timeout(TIMEOUT_MS), ...args.options, serviceParameters };
  },
  async after() {},
});

function connect(binding, { key = token, polling = false } = {}) {
  const clientConfig = { polling, interceptors: [authorize(key)] };
  return new ClientFactory({ transports: [TRANSPORTS[binding]], clientConfig }).createFromUrl(url);
}

function says(text, { task, mediaType } = {}) {
  const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text, mediaType }] };
  return SendMessageRequest.fromJSON({ message: { ...message, taskId: task?.id, contextId: task?.contextId } });
}

const named = (type, fields) => type.fromJSON(fields);
const send = async (binding, text, task) => (await connect(binding)).sendMessage(says(text, { task }));
const begin = async (binding, text) => (await connect(binding, { polling: true })).sendMessage(says(text));
const stream = async (binding, text) => all((await connect(binding)).sendMessageStream(says(text)));

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item.payload);
  return found;
}

/** The call must end in this error of the SDK. */
async function fails(kind, call) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof kind, `${error?.name} instead of ${kind.name}: ${error?.message}`);
    return true;
  });
}

const state = (status) => TaskState[status.state].replace("TASK_STATE_", "");
const words = (holder) => holder.parts.map((part) => part.content.value).join("");

/** `task`, `WORKING`, `artifact`: what a stream tells, in a word. */
function kind({ $case, value }) {
  if ($case === "statusUpdate") return state(value.status);
  return $case === "artifactUpdate" ? "artifact" : $case;
}

const CASES = {
  async "the card"(binding) {
    const card = await (await connect(binding)).getAgentCard();
    assert.equal(card.name, "Agena");
    assert.equal(card.capabilities.streaming, true);
    const spoken = card.supportedInterfaces.filter((one) => one.protocolVersion === "1.0");
    assert.deepEqual(spoken.map((one) => one.protocolBinding).sort(), Object.keys(TRANSPORTS).sort());
  },

  async "a send that waits"(binding) {
    const task = await send(binding, "Please complete this");
    assert.equal(state(task.status), "COMPLETED");
    assert.equal(words(task.status.message), "All done");
  },

  async "a send that does not wait"(binding) {
    let task = await begin(binding, "Please take your time");
    assert.ok(["SUBMITTED", "WORKING"].includes(state(task.status)), state(task.status));
    const client = await connect(binding);
    const end = Date.now() + TIMEOUT_MS;
    while (state(task.status) !== "COMPLETED" && Date.now() < end) {
      await sleep(100);
      task = await client.getTask(named(GetTaskRequest, { id: task.id }));
    }
    assert.equal(words(task.artifacts[0]), "Late but whole");
  },

  async "a stream"(binding) {
    const items = await stream(binding, "Please take your time");
    assert.deepEqual(items.map(kind), ["task", "WORKING", "WORKING", "artifact", "COMPLETED"]);
    assert.equal(words(items[2].value.status.message), "Working on it");
  },

  async "a second stream of a task"(binding) {
    const { id } = await begin(binding, "Please take your time");
    const client = await connect(binding);
    const items = await all(client.resubscribeTask(named(SubscribeToTaskRequest, { id })));
    assert.deepEqual([kind(items[0]), items[0].value.id], ["task", id]);
    assert.deepEqual(items.map(kind).slice(-2), ["artifact", "COMPLETED"]);
  },

  async "cancel, and once more"(binding) {
    const { id } = await begin(binding, "Please never end");
    const client = await connect(binding);
    const cancel = () => client.cancelTask(named(CancelTaskRequest, { id }));
    assert.equal(state((await cancel()).status), "CANCELED");
    await fails(TaskNotCancelableError, cancel());
  },

  async "the list of tasks"(binding) {
    const task = await send(binding, "Please make artifacts");
    const client = await connect(binding);
    const list = (fields) => client.listTasks(named(ListTasksRequest, { contextId: task.contextId, ...fields }));
    const page = await list({});
    assert.deepEqual(
      page.tasks.map((one) => [one.id, one.artifacts.length]),
      [[task.id, 0]],
    );
    assert.deepEqual([page.totalSize, page.pageSize, page.nextPageToken], [1, 50, ""]);
    assert.equal((await list({ includeArtifacts: true })).tasks[0].artifacts.length, 5);
    assert.equal((await list({ status: "TASK_STATE_FAILED" })).totalSize, 0);
  },

  async "webhooks are made, read, listed, removed"(binding) {
    const taskId = (await send(binding, "Please ask")).id;
    const client = await connect(binding);
    const authentication = { scheme: "Bearer", credentials: "secret" };
    const wanted = named(TaskPushNotificationConfig, { taskId, url: WEBHOOK, token: "t", authentication });
    const made = await client.createTaskPushNotificationConfig(wanted);
    const { id } = made;
    assert.ok(id);
    assert.deepEqual(made, { ...wanted, id });
    const get = () => client.getTaskPushNotificationConfig(named(GetTaskPushNotificationConfigRequest, { taskId, id }));
    const list = async () => {
      const request = named(ListTaskPushNotificationConfigsRequest, { taskId });
      return (await client.listTaskPushNotificationConfig(request)).configs;
    };
    assert.deepEqual(await get(), made);
    assert.deepEqual(await list(), [made]);
    await client.deleteTaskPushNotificationConfig(named(DeleteTaskPushNotificationConfigRequest, { taskId, id }));
    assert.deepEqual(await list(), []);
    await fails(TaskNotFoundError, get());
  },

  async "an unknown task"(binding) {
    const client = await connect(binding);
    const lost = () => says("Please complete this", { task: { id: "lost" } });
    const id = "lost";
    await fails(TaskNotFoundError, client.getTask(named(GetTaskRequest, { id })));
    await fails(TaskNotFoundError, client.cancelTask(named(CancelTaskRequest, { id })));
    await fails(TaskNotFoundError, client.sendMessage(lost()));
    await fails(TaskNotFoundError, all(client.sendMessageStream(lost())));
    await fails(TaskNotFoundError, all(client.resubscribeTask(named(SubscribeToTaskRequest, { id }))));
  },

  async "a task that has ended"(binding) {
    const task = await send(binding, "Please complete this");
    const client = await connect(binding);
    const { id } = task;
    await fails(UnsupportedOperationError, client.sendMessage(says("And more", { task })));
    await fails(UnsupportedOperationError, all(client.resubscribeTask(named(SubscribeToTaskRequest, { id }))));
  },

  async "a media type that is not taken"(binding) {
    const client = await connect(binding);
    const film = says("Please complete this", { mediaType: "video/mp4" });
    await fails(ContentTypeNotSupportedError, client.sendMessage(film));
  },

  async "a wrong token"(binding) {
    const client = await connect(binding, { key: "wrong" });
    const refused = (error) => /401|key is not known/.test(String(error));
    await assert.rejects(client.getTask(named(GetTaskRequest, { id: "lost" })), refused);
  },

  async "a question and its answer"(binding) {
    const asked = await send(binding, "Please ask");
    assert.deepEqual([state(asked.status), words(asked.status.message)], ["INPUT_REQUIRED", "Which colour?"]);
    const done = await send(binding, "My colour is blue", asked);
    assert.deepEqual([done.id, state(done.status)], [asked.id, "COMPLETED"]);
    assert.equal(words(done.artifacts[0]), "My colour is blue");
  },

  async "a task that fails, one that is rejected"(binding) {
    const ending = ({ status }) => [state(status), words(status.message)];
    assert.deepEqual(ending(await send(binding, "Please fail")), ["FAILED", "It broke"]);
    assert.deepEqual(ending(await send(binding, "Please reject")), ["REJECTED", "Not my job"]);
  },

  async "artifacts of all kinds"(binding) {
    const { artifacts } = await send(binding, "Please make artifacts");
    const made = Object.fromEntries(artifacts.map((artifact) => [artifact.name, artifact]));
    const part = (name) => made[name].parts[0];
    assert.equal(words(made.text), "Plain words");
    assert.deepEqual([...part("bytes").content.value], [0, 1, 254, 255]);
    assert.deepEqual([part("bytes").filename, part("bytes").mediaType], ["raw.bin", "application/octet-stream"]);
    assert.deepEqual(part("url").content, { $case: "url", value: "https://example.com/far.txt" });
    assert.deepEqual(part("data").content.value, { key: "value", count: 42, list: [1, null, true] });
    assert.equal(words(made.chunks), "one two three");
  },

  async "an artifact in pieces"(binding) {
    const items = await stream(binding, "Please make artifacts");
    const updates = items.filter((item) => kind(item) === "artifact").map((item) => item.value);
    const pieces = updates.filter((update) => update.artifact.name === "chunks");
    assert.deepEqual(
      pieces.map((one) => [words(one.artifact), one.append, one.lastChunk]),
      [
        ["one ", false, false],
        ["two ", true, false],
        ["three", true, true],
      ],
    );
  },

  async "an answer without a task"(binding) {
    assert.equal(words(await send(binding, "Please reply")), "A bare message");
    const items = await stream(binding, "Please reply");
    assert.deepEqual(items.map(kind), ["message"]);
  },
};

let failed = 0;
for (const binding of Object.keys(TRANSPORTS)) {
  for (const [name, run] of Object.entries(CASES)) {
    try {
      await run(binding);
      console.log(`ok    ${binding}: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${binding}: ${name}: ${String(error).replaceAll("\n", " ")}`);
    }
  }
}
// The channels of gRPC would keep the process.
process.exit(failed ? 1 : 0);
