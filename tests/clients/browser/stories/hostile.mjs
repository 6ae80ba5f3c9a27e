// What comes from a model, a file or a command is text. It cannot act, whatever it looks like.

import assert from "node:assert/strict";
import { shell } from "../kit/script.mjs";
import { until } from "../kit/wait.mjs";

const SCRIPT = "<script>window.acted = 1</script><img src=x onerror='window.acted = 2'><svg onload='window.acted = 3'>";
const LINKS =
  "[a](javascript:window.acted=4) [b](data:text/html,<b>b</b>) ![c](http://192.0.2.1/c.png) <http://192.0.2.1/d>";
const RULES = [
  {
    when: { text: "be nasty" },
    do: [
      { think: { subject: SCRIPT, description: `${SCRIPT} ${LINKS}` } },
      { say: `${SCRIPT}\n\n${LINKS}\n\n- done` },
      { call: { tool: "write_file", with: { file_path: "<b>bold</b>.html", content: SCRIPT } } },
      { call: shell(`printf '%s\\n' "${SCRIPT}" '\\033[31mred\\033[0m'`) },
      { say: "The end." },
    ],
  },
];

async function nasty(stage) {
  const server = await stage.server({ rules: RULES });
  const console = await stage.console(server);
  await console.say(`Please be nasty ${SCRIPT}`);
  await console.option("Allow once").click();
  await console.sees(console.call("write_file"), "Succeeded");
  await console.option("Allow once").click();
  await console.sees(console.item("Agent"), "The end.");
  const folded = console.feed.locator("details:not([open]) > summary");
  await until("everything unfolded", async () => (await folded.count()) === 0 || (await folded.first().click(), false));
  assert.equal(await console.page.evaluate(() => window.acted), undefined);
  const found = await console.feed.evaluate((feed) => ({
    active: feed.querySelectorAll("script, iframe, object, embed, img[onerror], svg[onload]").length,
    links: [...feed.querySelectorAll("a[href]")].map((link) => new URL(link.href).protocol),
  }));
  assert.equal(found.active, 0);
  assert.deepEqual(
    found.links.filter((protocol) => !/^https?:$/.test(protocol)),
    [],
  );
  // Where a link leads is left to the user.
  assert.equal(new URL(console.page.url()).origin, server.url);
}

export const stories = { "what a model says cannot act": nasty };
