// The first minute: from the banner's link to a file on the disk.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PHONE } from "../kit/browser.mjs";
import { screenshot } from "../kit/screenshot.mjs";
import { gate, shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

const BEFORE = 'print("Hello, world!")\n';
const PROPOSED = `crew = ["Ada", "Neil"]

for name in crew:
    print(f"Hello, {name}!", flush=True)
`;
const RULES = [
  {
    when: { text: "greet the crew" },
    do: [
      {
        think: {
          subject: "A kinder greeting",
          description: "The crew has **names**. I change the file, then I run it.",
        },
      },
      { say: ["I will ", "greet the crew ", "by name, ", "and then run it."] },
      { call: { tool: "write_file", with: { file_path: "greeting.py", content: PROPOSED } } },
      { call: shell(`python3 greeting.py; ${gate("go")}; echo Good bye`) },
      { say: "It works. The crew is greeted, and the program said good bye." },
    ],
  },
];

/** Every address that the window can go back to. */
async function addresses(page) {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send("Page.getNavigationHistory");
  await session.detach();
  return entries.map(({ url }) => url);
}

async function opened(stage, options) {
  const server = await stage.server({ rules: RULES, files: { "greeting.py": BEFORE } });
  const console = await stage.window(server, options);
  // The first call comes after the token was read; by then it has left the address.
  const called = console.page.waitForRequest((request) => request.method() === "POST");
  const atCall = called.then(() => console.page.url());
  await console.open();
  assert.equal(await atCall, `${server.url}/#/`);
  assert.deepEqual(
    (await addresses(console.page)).filter((url) => url.includes(server.token)),
    [],
  );
  return { server, console, page: console.page };
}

async function proposes(console, page) {
  await console.say("Please greet the crew by name");
  await console.item("Thought: A kinder greeting").waitFor();
  await console.sees(console.item("Agent"), "I will greet the crew by name, and then run it.");
  const editor = console.approval.getByRole("textbox", { name: "Proposed greeting.py" });
  await editor.waitFor();
  await console.sees(console.approval, 'print("Hello, world!")');
  return editor;
}

/** As a user edits: into the text, to its end, and more of it. */
async function edits(editor, page) {
  await editor.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type('print("All aboard.", flush=True)\n');
  await page.getByText("Edited by you").waitFor();
}

async function runs(console, server) {
  await console.option("Allow once").click();
  await console.sees(console.call("write_file"), "Succeeded");
  await console.sees(console.approval, "python3 greeting.py");
  await console.option("Allow once").click();
  const live = console.call("run_shell_command").getByLabel("Live output");
  await console.sees(live, "Hello, Neil!");
  await console.sees(live, "All aboard.");
  assert(!(await live.textContent()).includes("Good bye"), "it is not over yet");
  server.write("go");
  await console.sees(console.call("run_shell_command"), "Good bye");
  await console.sees(console.item("Agent"), "It works.");
  await console.stands("Completed");
}

/** What was made can be taken home. */
async function saved(console, page, server) {
  const made = console.item("Artifact: greeting.py");
  await made.getByText("greeting.py").first().click();
  const begun = page.waitForEvent("download");
  await made.getByRole("button", { name: "Download greeting.py" }).click();
  const download = await begun;
  assert.equal(readFileSync(await download.path(), "utf8"), server.read("greeting.py"));
}

async function firstMinute(stage) {
  const { server, console, page } = await opened(stage);
  await console.sound("empty");
  const editor = await proposes(console, page);
  await edits(editor, page);
  await console.sound("approval with a diff");
  await screenshot(page, "approval");
  await runs(console, server);
  await saved(console, page, server);
  assert.equal(server.read("greeting.py").split("\n").at(-2), 'print("All aboard.", flush=True)');
  assert.match(server.read("greeting.py"), /^crew = /);
  const task = await server.lastTask();
  assert.equal(task.state, "TASK_STATE_COMPLETED");
}

/** docs/use/first-minute.md, word for word: no script, no key. */
async function asDocumented(stage) {
  const server = await stage.server();
  const console = await stage.console(server);
  await console.say("create hello.py that prints hi");
  await console.approval.getByRole("textbox", { name: "Proposed hello.py" }).waitFor();
  assert.throws(() => server.read("hello.py"), { code: "ENOENT" });
  await console.option("Allow once").click();
  await console.stands("Completed");
  await console.settled();
  await screenshot(console.page, "first-minute");
  await console.say("run python3 hello.py");
  await console.sees(console.approval, "python3 hello.py");
  await console.option("Allow once").click();
  await console.sees(console.call("run_shell_command").getByLabel("Output"), "hi");
  await console.stands("Completed");
}

async function onAPhone(stage) {
  const { server, console, page } = await opened(stage, { viewport: PHONE, hasTouch: true, isMobile: true });
  await console.sound("phone, empty");
  const editor = await proposes(console, page);
  await edits(editor, page);
  await console.sound("phone, approval with a diff");
  await screenshot(page, "phone");
  await runs(console, server);
  await console.sound("phone, completed");
  await until("the file", () => server.read("greeting.py").includes("All aboard."));
}

export const stories = {
  "the first minute, from the link to the file": firstMinute,
  "the first minute as it is documented": asDocumented,
  "the first minute on a phone": onAPhone,
};
