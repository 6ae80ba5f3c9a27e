// What happens in the middle of things: the page is loaded again, the server dies and comes back. Nothing is lost and
// nothing is there twice.

import assert from "node:assert/strict";
import { gate, shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

// What the browser itself says when nobody listens, or when a connection breaks.
const CUT = [/ERR_CONNECTION_REFUSED/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/];
const WORDS = Array.from({ length: 60 }, (_, at) => `word${at + 1}.`);
const LINES = ["one", "two", "three", "four"];
const RULES = [
  { when: { text: "tell a story" }, do: WORDS.map((word) => ({ wait: "50ms", say: `${word} ` })) },
  {
    when: { text: "count" },
    do: [{ call: shell(`echo one; echo two; ${gate("go")}; echo three; echo four`) }, { say: "Counted." }],
  },
  { when: { text: "touch" }, do: [{ call: shell("echo touched >> touched.txt") }, { say: "Touched: {result}" }] },
];

const lines = (text) => text.split("\n").filter((line) => line !== "");

async function reloadedWhileItSpeaks(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("Please tell a story");
  const said = console.item("Agent");
  for (const word of ["word10.", "word25."]) {
    await console.sees(said, word);
    assert(!(await said.textContent()).includes("word60."), "it still speaks");
    await console.page.reload();
  }
  await console.stands("Completed");
  assert.equal((await said.textContent()).trim(), WORDS.join(" "));
  assert.equal(await console.item("You").count(), 1);
}

async function reloadedWhileItRuns(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("Please count");
  await console.option("Allow once").click();
  const call = console.call("run_shell_command");
  const live = call.getByLabel("Live output");
  await console.sees(live, "two");
  await console.page.reload();
  await console.sees(live, "two");
  assert.deepEqual(lines(await live.textContent()), LINES.slice(0, 2));
  server.write("go");
  await console.stands("Completed");
  assert.deepEqual(lines(await call.getByLabel("Output").textContent()), LINES);
}

async function killedWhileItAsks(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server, { allow: CUT });
  await console.say("Please touch");
  await console.approval.waitFor();
  await server.kill();
  await until("the page notices", async () => (await console.connection()) === "Reconnecting");
  await server.start();
  await console.connected();
  await console.option("Allow once").click();
  await console.stands("Completed");
  assert.equal(server.read("touched.txt"), "touched\n");
  assert.equal(await console.call("run_shell_command").count(), 1);
}

/** All that the server has told of a task, from its first event on. */
async function told(server, task) {
  const headers = { Authorization: `Bearer ${server.token}` };
  const answer = await fetch(`${server.url}/devtool/v1/tasks/${task}:follow`, {
    headers,
    signal: AbortSignal.timeout(10_000),
  });
  const events = (await answer.text()).split("\n").filter((line) => line.startsWith("data: "));
  return events.map((line) => JSON.parse(line.slice(6)).update);
}

async function killedWhileItSpeaks(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server, { allow: CUT });
  await console.say("Please tell a story");
  await console.sees(console.item("Agent"), "word10.");
  await server.kill();
  await until("the page notices", async () => (await console.connection()) === "Reconnecting");
  await server.start();
  await console.connected();
  const { task_id: id } = await server.lastTask();
  // What a model was saying cannot be taken up again; what it had said is kept.
  await console.stands("Failed");
  const text = (await told(server, id)).map((update) => update.text ?? "").join("");
  assert(text.startsWith(WORDS.slice(0, 10).join(" ")), text);
  assert.equal((await console.item("Agent").textContent()).trim(), text.trim());
  await console.item("Failed").waitFor();
}

async function killedWhileItRuns(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server, { allow: CUT });
  await console.say("Please count");
  await console.option("Allow once").click();
  const call = console.call("run_shell_command");
  await console.sees(call.getByLabel("Live output"), "two");
  await server.kill();
  await server.start();
  await console.connected();
  await console.sees(call, "Failed");
  assert.deepEqual(lines(await call.getByLabel("Output").textContent()), LINES.slice(0, 2));
  await console.sees(console.item("Agent"), "Counted.");
  await console.stands("Completed");
}

/** The address names a conversation, and nobody is there to tell of it. */
async function openedWhileAway(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server, { allow: CUT });
  const conversations = console.page.getByRole("navigation", { name: "Conversations" });
  const titles = ["Please tell a story", "Please touch"];
  await console.say(titles[0]);
  await console.stands("Completed");
  await console.button("New conversation").first().click();
  await console.say(titles[1]);
  await console.option("Allow once").click();
  await console.stands("Completed");
  // A page that was just loaded knows the names of both, and what is in the one that is open.
  await console.page.reload();
  await console.sees(console.item("Agent"), "Touched:");
  await server.kill();
  await until("the page notices", async () => (await console.connection()) === "Reconnecting");
  await conversations.getByText(titles[0]).click();
  const nothing = console.page.getByRole("heading", { name: "This conversation cannot be shown" });
  await nothing.waitFor();
  await server.start();
  await console.connected();
  const said = console.item("Agent");
  await console.sees(said, "word60.");
  assert.equal((await said.textContent()).trim(), WORDS.join(" "));
  assert.equal(await nothing.count(), 0);
}

export const stories = {
  "the page is loaded again while the agent speaks": reloadedWhileItSpeaks,
  "the page is loaded again while a command runs": reloadedWhileItRuns,
  "the server dies while it asks, and the answer still counts": killedWhileItAsks,
  "the server dies while the agent speaks": killedWhileItSpeaks,
  "the server dies while a command runs": killedWhileItRuns,
  "a conversation that was opened while the server was away comes up when it is back": openedWhileAway,
};
