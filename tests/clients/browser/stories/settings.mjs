// What the user sets is what the server hears.

import assert from "node:assert/strict";
import { join } from "node:path";
import { shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

const RULES = [
  { when: { text: "run it" }, do: [{ call: shell("mkdir -p made") }, { say: "Ran." }] },
  {
    when: { text: "write it" },
    do: [{ call: { tool: "write_file", with: { file_path: "note.md", content: "written\n" } } }, { say: "Written." }],
  },
];

async function rules(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say("Please run it");
  await console.option("Always allow `mkdir`").click();
  await console.stands("Completed");
  await console.say("Please run it again");
  await until("a second run, unasked", async () => (await console.item("Agent").count()) === 2);
  await console.button("Settings").click();
  const list = console.dialog("Settings").getByRole("region", { name: "Always rules" });
  assert.deepEqual(
    (await server.get("rules")).rules.map((rule) => rule.kind),
    ["ALLOW_ALWAYS"],
  );
  await console.sound("settings with a rule");
  await list.getByRole("button", { name: /^Revoke/ }).click();
  await until("no rule at the server", async () => ((await server.get("rules")).rules ?? []).length === 0);
  await list.getByRole("button", { name: /^Revoke/ }).waitFor({ state: "hidden" });
  await console.dialog("Settings").getByRole("button", { name: "Close" }).click();
  await console.say("Please run it once more");
  await console.approval.waitFor();
}

async function chosen(stage) {
  const server = await stage.server({ rules: RULES, files: { "inner/README.md": "inner\n" } });
  const inner = join(server.workspace, "inner");
  const console = await stage.console(server);
  const { page } = console;
  await console.button("Settings").click();
  await console.dialog("Settings").getByLabel("Workspace of new conversations").fill(inner);
  await page.keyboard.press("Escape");
  await console.dialog("Settings").waitFor({ state: "hidden" });
  await page.getByRole("combobox", { name: "Model" }).selectOption("rehearsal");
  await page.getByRole("combobox", { name: "Approval mode" }).selectOption({ label: "Approvals: edit freely" });
  await console.say("Please write it");
  await console.stands("Completed");
  assert.equal(server.read("inner/note.md"), "written\n");
  const { settings } = await server.lastTask();
  assert.equal(settings.workspace_path, inner);
  assert.equal(settings.model, "rehearsal");
  assert.equal(settings.approval_mode, "AUTO_EDIT");
  // It is kept, too.
  await page.reload();
  await until(
    "the model that was chosen",
    async () => (await page.getByRole("combobox", { name: "Model" }).inputValue()) === "rehearsal",
  );
}

export const stories = {
  "what is always allowed is listed and revoked": rules,
  "workspace, model and approval mode reach the server": chosen,
};
