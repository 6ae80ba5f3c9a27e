// Answers to what the agent asks: refusals, races, questions, other servers' tools, and all of it without a mouse.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

const named = (...labels) => labels.map((label) => ({ label, description: `That is ${label}.` }));
const PARROT = fileURLToPath(new URL("../kit/mcp.mjs", import.meta.url));
const QUESTIONS = [
  {
    question: "Which crew?",
    header: "Crew",
    type: "choice",
    multiSelect: true,
    options: named("Ada", "Neil", "Sally"),
  },
  { question: "Which ship?", header: "Ship", type: "text" },
  { question: "Shall we go?", header: "Start", type: "yesno" },
];
const RULES = [
  { when: { text: "tidy up" }, do: [{ call: shell("rm -r build") }, { say: "I was told: {result}" }] },
  { when: { text: "say when" }, do: [{ call: shell("echo when >> said.txt; cat said.txt") }, { say: "Said." }] },
  {
    when: { text: "ask me all" },
    do: [{ call: { tool: "ask_user", with: { questions: QUESTIONS } } }, { say: "{result}" }],
  },
  { when: { said: "Aachen" }, do: [{ complete: "It rains in Aachen." }] },
  { when: { text: "weather" }, do: [{ ask: "In which town?" }] },
  {
    when: { text: "parrot" },
    do: [{ call: { tool: "mcp_parrot_repeat", with: { words: "Pieces" } } }, { say: "It said {result}" }],
  },
];

async function rejected(stage) {
  const server = await stage.server({ rules: RULES, files: { "build/kept.txt": "kept" } });
  const console = await stage.console(server);
  await console.say("Please tidy up");
  await console.approval.getByLabel("Reason for rejecting").fill("The build is still needed.");
  await console.option("Reject").click();
  await console.sees(console.item("Agent"), /I was told: .*The build is still needed\./s);
  await console.sees(console.call("run_shell_command"), "Cancelled");
  await console.sees(console.call("run_shell_command"), "The build is still needed.");
  await console.stands("Completed");
  assert.equal(server.read("build/kept.txt"), "kept");
}

/** Two windows with the same question open. */
async function twoWindows(stage) {
  const server = await stage.server({ rules: RULES });
  const one = await stage.console(server, { allow: [/status of 4\d\d/] });
  await one.say("Please say when");
  await one.approval.waitFor();
  const two = await stage.console(server, { allow: [/status of 4\d\d/] });
  await two.page.getByRole("region", { name: "Waiting for you" }).getByRole("button").click();
  await two.approval.waitFor();
  return { server, one, two };
}

async function second(stage) {
  const { server, one, two } = await twoWindows(stage);
  // The answer of the second window is held up until the first one's has been taken.
  const decided = one.call("run_shell_command").filter({ hasText: "Succeeded" });
  await two.page.route("**/ConfirmToolCall", async (route) => {
    await decided.waitFor();
    await route.continue();
  });
  await two.option("Reject").click();
  await one.option("Allow once").click();
  await decided.waitFor();
  await two.sees(two.page.getByRole("alert"), /local.*Allow once/);
  await two.sees(two.call("run_shell_command"), /Allow once, said local/);
  await two.stands("Completed");
  assert.equal(server.read("said.txt"), "when\n");
}

/** The next answer of this window, when it is sent. It gets no further until it is let go. */
async function held({ page }) {
  let take;
  const sent = new Promise((resolve) => (take = resolve));
  await page.route("**/ConfirmToolCall", take);
  return { sent };
}

async function race(stage) {
  const { server, one, two } = await twoWindows(stage);
  const windows = [one, two];
  // Both are on their way before either arrives.
  const answers = await Promise.all(windows.map(held));
  await Promise.all(windows.map((window) => window.option("Allow once").click()));
  const sent = await Promise.all(answers.map((answer) => answer.sent));
  await Promise.all(sent.map((answer) => answer.continue()));
  for (const window of windows) {
    await window.stands("Completed");
    await window.sees(window.call("run_shell_command"), /Allow once, said local/);
    await window.approval.waitFor({ state: "hidden" });
  }
  const losers = () =>
    Promise.all(windows.map(({ page }) => page.getByRole("alert").filter({ hasText: "local" }).count()));
  await until(
    "one window that was too late",
    async () => (await losers()).join() === "0,1" || (await losers()).join() === "1,0",
  );
  assert.equal(server.read("said.txt"), "when\n");
}

async function parrot(stage) {
  const config = `[mcp.servers.parrot]\ncommand = "node"\nargs = [${JSON.stringify(PARROT)}]\n`;
  const server = await stage.server({ rules: RULES, config });
  const console = await stage.console(server);
  await console.say("Ask the parrot");
  await console.sees(console.approval, /parrot.*repeat/s);
  await console.sees(console.approval, '"words": "Pieces"');
  await console.sound("approval of an MCP tool");
  await console.option("Allow once").click();
  await console.sees(console.call("mcp_parrot_repeat"), "Pieces, Pieces");
  await console.stands("Completed");
}

async function questions(stage) {
  const server = await stage.server();
  const console = await stage.console(server);
  await console.say("ask me to choose between tea and coffee");
  const form = console.approval.getByRole("form", { name: "Questions" });
  await form.getByRole("radio", { name: "coffee" }).check();
  await console.sound("questions");
  await console.approval.getByRole("button").first().click();
  await console.sees(console.call("ask_user"), "coffee");
  await console.sees(console.item("Agent"), "coffee");
  await console.stands("Completed");
}

async function manyQuestions(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("Please ask me all of it");
  const form = console.approval.getByRole("form", { name: "Questions" });
  await form.getByRole("checkbox", { name: "Ada" }).check();
  await form.getByRole("checkbox", { name: "Sally" }).check();
  await form.getByRole("textbox", { name: "Which ship?" }).fill("Gemini 8");
  await form.getByRole("radio", { name: "Yes" }).check();
  await console.sound("many questions");
  await console.approval.getByRole("button").first().click();
  await console.sees(console.item("Agent"), /Ada.*Sally.*Gemini 8.*Yes/s);
  await console.stands("Completed");
}

async function asked(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("What about the weather?");
  await console.sees(console.item("Question"), "In which town?");
  await console.stands("Needs you");
  await console.say("Aachen");
  await console.sees(console.feed, "It rains in Aachen.");
  await console.stands("Completed");
  assert.equal((await server.get("tasks")).tasks.length, 1);
}

async function keyboard(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  const { keyboard } = console.page;
  await console.message.blur();
  await keyboard.press("c");
  await keyboard.type("Please say when");
  await keyboard.press("Enter");
  await console.approval.waitFor();
  await keyboard.press("Escape");
  await until("the keyboard at the approval", () =>
    console.approval.evaluate((bar) => bar.contains(document.activeElement)),
  );
  await keyboard.press("1");
  await console.stands("Completed");
  await keyboard.press("n");
  await keyboard.type("Please tidy up");
  await keyboard.press("Enter");
  await console.approval.waitFor();
  await keyboard.press("Escape");
  await keyboard.press("r");
  await keyboard.type("Not today.");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Enter");
  await console.sees(console.item("Agent"), "Not today.");
  await console.stands("Completed");
  assert.equal(server.read("said.txt"), "when\n");
}

export const stories = {
  "a rejection with a reason, which the model hears": rejected,
  "the second of two windows is told who answered, and what": second,
  "two windows answer at once, and it happens once": race,
  "a tool of an MCP server is asked for by its name": parrot,
  "a question of the agent is a form": questions,
  "several questions of several kinds are one form": manyQuestions,
  "a question in words is answered in words": asked,
  "an approval and a rejection with the keyboard alone": keyboard,
};
