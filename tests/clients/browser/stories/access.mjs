// Who may come in: without a token, with a wrong one, with the right one, and where none is needed.

import assert from "node:assert/strict";

const REFUSED = [/status of 401/];

async function without(stage) {
  const server = await stage.server();
  const console = await stage.window(server, { allow: REFUSED });
  const { page } = console;
  await page.goto(server.url);
  await console.token.waitFor();
  await console.sound("no token");
  await console.token.fill("not-the-token");
  await console.button("Connect").click();
  await console.sees(page.getByRole("alert"), "refused");
  await console.token.fill(server.token);
  await console.button("Connect").click();
  await console.message.waitFor();
  await console.say("list files");
  await console.stands("Completed");
  assert(!server.log.includes("not-the-token"), "a wrong token is in the log");
}

async function wrong(stage) {
  const server = await stage.server();
  const console = await stage.window(server, { allow: REFUSED });
  const { page } = console;
  await page.goto(`${server.url}/#token=not-the-token`);
  await console.sees(page.getByRole("alert"), "refused");
  assert(!page.url().includes("not-the-token"), "the token stays in the address");
  assert(!server.log.includes("not-the-token"), "a wrong token is in the log");
  // The link that works is opened over the one that does not.
  await page.goto("about:blank");
  await console.open();
}

async function unneeded(stage) {
  const server = await stage.server({ args: ["--auth", "none"] });
  assert.equal(server.token, "");
  const console = await stage.console(server);
  await console.say("list files");
  await console.stands("Completed");
  await console.button("Settings").click();
  await console.dialog("Settings").waitFor();
  assert.equal(await console.dialog("Settings").getByText("Forget the token").count(), 0);
}

/** Over plain HTTP a browser has six connections to a server, for all of its tabs together. */
async function tabs(stage) {
  const server = await stage.server();
  const first = await stage.console(server);
  for (let at = 0; at < 5; at += 1) {
    const tab = at === 0 ? first : await first.another();
    await tab.say("list files");
    await tab.stands("Completed");
  }
}

async function forgotten(stage) {
  const server = await stage.server();
  const console = await stage.console(server, { allow: REFUSED });
  await console.button("Settings").click();
  await console.button("Forget the token").click();
  await console.token.waitFor();
  const kept = await console.page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
  );
  assert(!kept.includes(server.token), "the token is still kept");
}

export const stories = {
  "without a token the page asks for one": without,
  "a link with a wrong token is refused": wrong,
  "with --auth none nothing is asked": unneeded,
  "five tabs of one browser all work": tabs,
  "the token is forgotten on demand": forgotten,
};
