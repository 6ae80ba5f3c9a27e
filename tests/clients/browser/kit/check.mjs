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
  return grave.map(({ id, nodes }) => `axe, ${state}: ${id} at ${nodes.slice(0, 3).map(placeOf)} of ${nodes.length}`);
}

function placeOf({ target, any, all, none }) {
  const why = [...any, ...all, ...none][0]?.message ?? "";
  return `${target.flat().join(" ")} (${why})`;
}

/** What sticks out of the window to the right: the page itself, or something to press that cannot be scrolled to. */
export async function overflow(page, state) {
  const out = await page.evaluate(() => {
    const { documentElement: root, body } = document;
    const width = root.clientWidth;
    const scrolls = (element) =>
      element.scrollWidth > element.clientWidth && /auto|scroll/.test(getComputedStyle(element).overflowX);
    const canScroll = (element) => element !== null && (scrolls(element) || canScroll(element.parentElement));
    const controls = [...document.querySelectorAll("button, a, input, select, textarea, summary")];
    const cut = controls.filter((control) => {
      const { left, right } = control.getBoundingClientRect();
      const seen = control.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      return seen && left > 0 && right > width + 1 && !canScroll(control);
    });
    const wide = Math.max(root.scrollWidth, body.scrollWidth);
    const words = cut.map((control) => `"${control.ariaLabel ?? control.textContent}" is cut off`);
    return wide > width ? [...words, `${wide} pixels wide in a window of ${width}`] : words;
  });
  return out.map((words) => `${state}: ${words}`);
}
