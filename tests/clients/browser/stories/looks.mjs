// States of the page that other stories pass too fast: seen in both themes, by axe and for the documentation.

import { gate, shell } from "../kit/script.mjs";
import { screenshot } from "../kit/screenshot.mjs";
import { PHONE } from "../kit/browser.mjs";

const ANSWER = [
  "## Findings",
  "- The **tests** pass.\n- `greeting.py` has no types yet.",
  "```python\ndef greet(name: str) -> None: ...\n```",
  "",
].join("\n\n");
// Words of every colour change, since axe looks at what is shown.
const BEFORE = 'def greet(count: int = 1):  # the world\n    print("Hello, world!" * count)\n    return None\n';
const AFTER =
  'def welcome(count: int = 20):  # a crew\n    print("Good morning, crew!" * count)\n    raise SystemExit\n';
const CHANGE = { file_path: "greeting.py", instruction: "Greet the crew.", old_string: BEFORE, new_string: AFTER };
const RULES = [
  {
    when: { text: "look into it" },
    do: [
      { think: { subject: "Reading first", description: "I look before I change anything." } },
      { call: { tool: "list_directory", with: { dir_path: "." } } },
      { say: ANSWER },
      { call: shell(`echo checking; ${gate("go")}; echo checked`) },
      { say: ["Nothing else ", "to do."] },
      { silence: null },
    ],
  },
  {
    when: { text: "change it" },
    do: [{ call: { tool: "replace", with: CHANGE } }, { say: "Changed." }],
  },
];
const FILES = { "greeting.py": `import sys\n\n\n${BEFORE}\n\nsys.exit(greet())\n` };

/** Through every state that has a look of its own. */
async function seen(stage, name, options) {
  const server = await stage.server({ rules: RULES, files: FILES });
  const console = await stage.console(server, options);
  await console.sound(`${name}, empty`);
  await console.say("Please look into it");
  await console.approval.waitFor();
  await console.sound(`${name}, approval of a command`);
  await console.option("Allow once").click();
  await console.sees(console.call("run_shell_command").getByLabel("Live output"), "checking");
  await console.sound(`${name}, a command that runs`);
  server.write("go");
  await console.sees(console.item("Agent"), "Nothing else");
  await console.sound(`${name}, streaming`);
  await console.button("Cancel task").click();
  await console.stands("Canceled");
  await console.say("Please change it");
  await console.approval.getByRole("textbox", { name: "Proposed greeting.py" }).waitFor();
  await console.sound(`${name}, approval with a diff`);
  if (name === "dark") await screenshot(console.page, name);
  await console.option("Allow once").click();
  await console.sees(console.call("replace"), "Succeeded");
  await console.call("replace").getByRole("button", { name: "Compare the whole file" }).click();
  await console.sound(`${name}, two files compared`);
  for (const dialog of ["Statistics", "Settings", "Keyboard shortcuts"]) {
    await console.press(dialog);
    await console.dialog(dialog).waitFor();
    await console.sound(`${name}, ${dialog}`);
    await console.dialog(dialog).getByRole("button", { name: "Close" }).click();
  }
  await console.press("Wire inspector");
  const inspector = console.page.getByRole("complementary", { name: "Wire inspector" });
  // The longest name of a method.
  await inspector.getByRole("searchbox").fill("ListPendingConfirmations");
  await inspector.getByRole("option").first().click();
  await console.sound(`${name}, inspector`);
}

export const stories = {
  "every state in the light": (stage) => seen(stage, "light", { colorScheme: "light" }),
  "every state in the dark": (stage) => seen(stage, "dark", { colorScheme: "dark" }),
  "every state on a phone": (stage) => seen(stage, "narrow", { viewport: PHONE, hasTouch: true, isMobile: true }),
};
