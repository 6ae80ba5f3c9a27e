// A real browser against the built server: each story is a test, from the link in the banner to what is on the disk.
//
//     node run.mjs path/to/agena [words of a story's name]
//
// Prints a line per story and exits 1 if one failed. AGENA_SCREENSHOTS=DIR keeps pictures for the documentation;
// AGENA_CONSOLE_DIST=web/dist shows that build of the console instead of the one inside the server.

import { resolve } from "node:path";
import { launch } from "./kit/browser.mjs";
import { Stage } from "./kit/stage.mjs";
import { within } from "./kit/wait.mjs";

const PARTS = ["first", "answers", "outages", "work", "settings", "access", "inspector", "hostile", "looks", "speed"];
const STORY_SECONDS = 90;
const [binary, ...words] = process.argv.slice(2);
if (!binary) {
  console.error("usage: run.mjs path/to/agena [words of a story's name]");
  process.exit(2);
}
// Some machines send every call through a proxy; these stay here.
process.env.no_proxy = process.env.NO_PROXY = "127.0.0.1,localhost";

async function tell(browser, name, story) {
  const stage = new Stage(resolve(binary), browser);
  const began = Date.now();
  try {
    const numbers = await within(STORY_SECONDS, "the story", story(stage));
    stage.check();
    const seconds = ((Date.now() - began) / 1_000).toFixed(1);
    console.log(`ok    ${name} (${[seconds + " s", numbers].filter(Boolean).join("; ")})`);
    return true;
  } catch (error) {
    const lines = String(error.stack ?? error)
      .split("\n")
      .map((line) => line.trim());
    console.log(`FAIL  ${name}: ${lines.slice(0, 14).join(" | ")}`);
    await stage.pictures(name.replaceAll(/\W+/g, "-"));
    return false;
  } finally {
    await stage.end();
  }
}

const parts = await Promise.all(PARTS.map((part) => import(`./stories/${part}.mjs`)));
const all = parts.flatMap(({ stories }) => Object.entries(stories));
const wanted = all.filter(([name]) => name.includes(words.join(" ")));
const browser = await launch();
let passed = 0;
for (const [name, story] of wanted) passed += await tell(browser, name, story);
await browser.close();
console.log(`\n${passed} passed, ${wanted.length - passed} failed`);
process.exit(passed === wanted.length && passed > 0 ? 0 : 1);
