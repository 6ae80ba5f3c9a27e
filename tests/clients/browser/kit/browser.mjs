// Chromium, and windows that notice whatever must not happen in them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chromium } from "playwright-core";
import { serveDist } from "./dist.mjs";
import { SECONDS } from "./wait.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
];
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

function executable() {
  const { stdout } = spawnSync("sh", ["-c", "command -v chromium || command -v google-chrome"], { encoding: "utf8" });
  assert(stdout !== "", "there is no Chromium: install Debian's package chromium, or Google Chrome");
  return stdout.trim();
}

/** Each has a new profile, which Playwright makes and removes. */
export function launch() {
  return chromium.launch({ executablePath: executable(), headless: true, args: FLAGS, timeout: SECONDS * 1_000 });
}

/** A window with storage of its own. `allow` are the errors that a story brings about on purpose. */
export class Window {
  #faults = [];
  #allow;

  constructor(server, allow) {
    this.server = server;
    this.#allow = allow;
  }

  static async open(browser, server, { allow = [], viewport = DESKTOP, ...more } = {}) {
    const window = new Window(server, allow);
    const options = { viewport, deviceScaleFactor: 1, locale: "en-GB", reducedMotion: "reduce", ...more };
    window.context = await browser.newContext(options);
    window.context.setDefaultTimeout(SECONDS * 1_000);
    await window.#watch();
    await serveDist(window.context, server.url);
    window.page = await window.context.newPage();
    return window;
  }

  async #watch() {
    const { context, server } = this;
    const note = (what) => this.note(what);
    context.on("console", (message) => message.type() === "error" && note(`console: ${message.text()}`));
    context.on("weberror", (error) => note(`page error: ${error.error().message}`));
    context.on("request", (request) => {
      const url = new URL(request.url());
      const inside = url.origin === server.url || url.protocol === "data:" || url.protocol === "blob:";
      if (!inside) note(`request to ${url}`);
      if (request.url().includes(server.token) && server.token !== "") note(`the token is in the request ${url}`);
    });
    context.on("page", (page) => page.on("websocket", (socket) => note(`web socket to ${socket.url()}`)));
    await context.exposeBinding("noteViolation", (_, what) => note(`content security policy: ${what}`));
    await context.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        window.noteViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
      });
    });
  }

  /** Found out by a story; told when it is over, so that one fault does not hide the others. */
  note(...faults) {
    this.#faults.push(...faults);
  }

  check() {
    const left = this.#faults.filter((fault) => !this.#allow.some((pattern) => pattern.test(fault)));
    assert(left.length === 0, `the window noticed: ${left.join("; ")}`);
  }

  close() {
    return this.context.close();
  }
}
