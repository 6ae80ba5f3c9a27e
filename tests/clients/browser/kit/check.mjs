// What holds for every state of the page that a story passes through. What does not is returned in words.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] };

/** What axe calls serious or critical. */
export async function barriers(page, state) {
  // Evaluated by the debugger, so the policy of the page is not concerned.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((rules) => window.axe.run(document, rules), RULES);
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return grave.map(({ id, nodes }) => `axe, ${state}: ${id} at ${nodes.slice(0, 3).map(placeOf).join(", ")}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ""}`);
}

function placeOf({ target, any, all, none }) {
  const why = [...any, ...all, ...none][0]?.message ?? "";
  return `${target.flat().join(" ")} (${why})`;
}

/** What makes the page wider than the window. */
export async function overflow(page, state) {
  const { clientWidth, scrollWidth } = await page.evaluate(() => {
    const { documentElement, body } = document;
    return { clientWidth: documentElement.clientWidth, scrollWidth: Math.max(documentElement.scrollWidth, body.scrollWidth) };
  });
  return scrollWidth > clientWidth ? [`${state}: ${scrollWidth} pixels wide in a window of ${clientWidth}`] : [];
}
