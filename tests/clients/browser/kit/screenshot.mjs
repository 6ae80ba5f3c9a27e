// AGENA_SCREENSHOTS=DIR keeps pictures for the documentation.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

const directory = process.env.AGENA_SCREENSHOTS;

export async function screenshot(page, name) {
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), animations: "disabled", caret: "hide", scale: "css" });
}
