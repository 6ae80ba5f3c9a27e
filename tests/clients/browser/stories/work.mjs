// While the agent works: plans, commands of the user, and how work is ended.

import assert from "node:assert/strict";
import { gate, shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

const RULES = [
  {
    when: { text: "wait for me" },
    do: [{ call: shell(`echo $$ > pid; echo started; ${gate("go")}`) }, { say: "Then: {result}" }],
  },
];

/** What is asked for stands far above; what is said next begins below. */
async function toTheEnd(stage) {
  const long = Array.from({ length: 200 }, (_, at) => `Line ${at + 1}.\n\n`).join("");
  const rules = [
    { when: { text: "touch" }, do: [{ call: shell("echo touched") }, { say: "Touched." }] },
    { when: { text: "talk" }, do: [{ say: long }] },
    { do: [{ say: "This is the end." }] },
  ];
  const console = await stage.console(await stage.server({ rules }));
  await console.say("Please touch");
  await console.approval.waitFor();
  await console.page.getByLabel("As a new task").check();
  await console.say("Please talk");
  await console.sees(console.item("Agent"), "Line 200.");
  await console.message.blur();
  await console.page.keyboard.press("a");
  await console.button("Jump to the end").waitFor();
  await console.sees(console.item("You"), "Please touch");
  // Words for the task that asks stay with it.
  await console.say("not now");
  await console.sees(console.item("Agent"), "Touched.");
  assert(await console.button("Jump to the end").isVisible(), "the reader was taken away");
  await console.say("And then?");
  await console.sees(console.item("Agent"), "This is the end.");
  await console.button("Jump to the end").waitFor({ state: "hidden" });
}

async function todos(stage) {
  const server = await stage.server();
  const console = await stage.console(server);
  await console.say("plan: read, write, test");
  const list = console.call("write_todos").getByRole("list", { name: "Todos" });
  await list.waitFor();
  const listed = await list.getByRole("listitem").allTextContents();
  assert.deepEqual(
    listed.map((item) => /read|write|test/.exec(item)?.[0]),
    ["read", "write", "test"],
  );
  await console.sound("todos");
}

/** Something runs, and the page shows what it prints. */
async function running(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("Please wait for me");
  await console.option("Allow once").click();
  await console.sees(console.call("run_shell_command").getByLabel("Live output"), "started");
  return { server, console, pid: Number(server.read("pid")) };
}

function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function canceled(stage) {
  const { server, console, pid } = await running(stage);
  assert(lives(pid), "the command runs");
  await console.sound("a command that runs");
  await console.button("Cancel task").click();
  await console.stands("Canceled");
  await console.sees(console.call("run_shell_command"), "Cancelled");
  assert(!lives(pid), "the command still runs");
  assert.equal((await server.lastTask()).state, "TASK_STATE_CANCELED");
}

async function stopped(stage) {
  const { console, pid } = await running(stage);
  await console.call("run_shell_command").getByRole("button", { name: "Stop" }).click();
  await console.sees(console.item("Agent"), "Then:");
  await console.stands("Completed");
  await until("the end of the command", () => !lives(pid));
}

async function slash(stage) {
  const server = await stage.server();
  const console = await stage.console(server);
  const { keyboard } = console.page;
  await console.message.blur();
  await keyboard.press("/");
  const palette = console.page.getByRole("listbox", { name: "Slash commands" });
  await palette.waitFor();
  await console.sound("slash commands");
  await keyboard.type("mo");
  // The first is /model itself; the arrows reach what is below it.
  await keyboard.press("ArrowDown");
  await console.sees(palette.getByRole("option", { selected: true }), "/model show");
  await keyboard.press("Enter");
  assert.equal((await console.message.inputValue()).trim(), "/model show");
  await keyboard.press("Enter");
  await console.sees(console.item("Agent"), "The model of this context");
  await console.stands("Completed");
}

export const stories = {
  "what is said after looking up is read at the end": toTheEnd,
  "a plan is a list": todos,
  "a task is canceled in the middle of a command": canceled,
  "a command is stopped, and the task goes on": stopped,
  "a slash command with the keyboard alone": slash,
};
