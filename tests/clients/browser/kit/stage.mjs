// What one story gets: servers and windows. Afterwards all of them are looked at, and ended.

import assert from "node:assert/strict";
import { Server } from "./server.mjs";
import { Window } from "./browser.mjs";
import { Console } from "./console.mjs";
import { screenshot } from "./screenshot.mjs";

export class Stage {
  #binary;
  #browser;
  #servers = [];
  #windows = [];

  constructor(binary, browser) {
    this.#binary = binary;
    this.#browser = browser;
  }

  async server(options) {
    const server = new Server(this.#binary, options);
    this.#servers.push(server);
    return server.start();
  }

  /** A window of a browser that nobody has used before; not yet anywhere. */
  async window(server, options) {
    const window = await Window.open(this.#browser, server, options);
    this.#windows.push(window);
    return new Console(window);
  }

  /** The same, with the link of the banner opened. */
  async console(server, options) {
    const console = await this.window(server, options);
    await console.open();
    return console;
  }

  check() {
    for (const window of this.#windows) window.check();
    for (const { log, token } of this.#servers)
      assert(token === "" || !log.includes(token), "the token is in the server's log");
  }

  /** For whoever looks into a failure. */
  async pictures(name) {
    const taken = this.#windows.map((window, at) => screenshot(window.page, `failed-${name}-${at + 1}`));
    await Promise.allSettled(taken);
  }

  async end() {
    await Promise.allSettled(this.#windows.map((window) => window.close()));
    await Promise.allSettled(this.#servers.map((server) => server.end()));
  }
}
