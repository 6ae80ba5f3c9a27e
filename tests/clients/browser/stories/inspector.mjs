// What the page shows of the wire, and that it can be done again from a shell.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { screenshot } from "../kit/screenshot.mjs";
import { until } from "../kit/wait.mjs";

const RULES = [
  {
    when: { text: "hello" },
    do: [{ think: { subject: "Politeness", description: "I greet back." } }, { say: "Hello, reader of the wire." }],
  },
];
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

async function inspected(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server, CLIPBOARD);
  const { page } = console;
  await console.say("hello");
  await console.stands("Completed");
  await page.getByRole("main").click({ position: { x: 20, y: 300 } });
  await page.keyboard.press("i");
  const inspector = page.getByRole("complementary", { name: "Wire inspector" });
  await inspector.getByRole("searchbox", { name: "Filter messages" }).fill("reader of the wire");
  await inspector.getByRole("option").filter({ hasText: "received" }).first().click();
  await console.sees(inspector.getByRole("tabpanel", { name: "JSON" }), "Hello, reader of the wire.");
  await console.sound("inspector open");
  await screenshot(page, "inspector");
  await inspector.getByRole("tab", { name: "Proto" }).click();
  await console.sees(inspector.getByRole("tabpanel", { name: "Proto" }), /text: ?"Hello, reader of the wire\."/);
  return { server, console, inspector, page };
}

async function shown(stage) {
  const { inspector, page, server } = await inspected(stage);
  const whole = await inspector.innerText();
  assert(!whole.includes(server.token), "the inspector shows the token");
  await page.keyboard.press("Escape");
}

/** Chooses the request of this method and copies its command. */
async function copied({ inspector, page }, method, what) {
  await inspector.getByRole("searchbox", { name: "Filter messages" }).fill(method);
  await inspector.getByRole("option").filter({ hasText: "sent" }).first().click();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await inspector.getByRole("button", { name: what }).click();
  return until(`${method} in the clipboard`, () => page.evaluate(() => navigator.clipboard.readText()));
}

function run(command, token) {
  return execFileSync("sh", ["-c", command], {
    env: { ...process.env, TOKEN: token },
    encoding: "utf8",
    timeout: 20_000,
  });
}

async function repeated(stage) {
  const open = await inspected(stage);
  const { server } = open;
  const { task_id: id } = await server.lastTask();
  const expected = {
    ListContexts: (answer) => assert.equal(JSON.parse(answer).contexts[0].title, "hello"),
    // The same message id within five minutes is the same task.
    StartTask: (answer) => assert(answer.includes(id) && answer.includes("reader of the wire"), answer),
    GetAllSlashCommands: (answer) => assert(JSON.parse(answer).commands.length > 3),
  };
  await open.console.message.fill("/");
  await open.page.getByRole("listbox", { name: "Slash commands" }).waitFor();
  for (const [method, check] of Object.entries(expected)) {
    const command = await copied(open, method, "Copy as curl");
    assert(!command.includes(server.token), "the token is in the command");
    check(run(command, server.token));
  }
  const grpc = await copied(open, "StartTask", "Copy as grpcurl");
  assert.match(grpc, /^grpcurl .*agena\.devtool\.v1\.DevelopmentToolService\/StartTask$/s);
  assert(!grpc.includes(server.token), "the token is in the command");
  assert.equal((await server.get("tasks")).tasks.length, 1);
}

export const stories = {
  "the inspector shows an event as JSON and as protobuf": shown,
  "a call that the inspector copied works in a shell": repeated,
};
