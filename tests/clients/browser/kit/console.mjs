// The console as a user sees it: what there is, by its role and name, and what one does with it.

import { barriers, overflow } from "./check.mjs";
import { until } from "./wait.mjs";

export class Console {
  #window;

  constructor(window, page = window.page) {
    this.#window = window;
    this.page = page;
    this.server = window.server;
  }

  /** Another tab, which knows what the first one was told. */
  async another() {
    const tab = new Console(this.#window, await this.page.context().newPage());
    await tab.open(this.server.url);
    return tab;
  }

  async open(address = this.server.link) {
    await this.page.goto(address);
    await this.message.waitFor();
    await this.connected();
  }

  get message() {
    return this.page.getByRole("textbox", { name: "Message", exact: true });
  }

  /** A password has no role. */
  get token() {
    return this.page.locator("input[type=password]");
  }

  get approval() {
    return this.page.getByRole("region", { name: "Approval", exact: true });
  }

  get feed() {
    return this.page.getByRole("feed");
  }

  button(name) {
    return this.page.getByRole("button", { name });
  }

  dialog(name) {
    return this.page.getByRole("dialog", { name });
  }

  /** The answer with this name, of those that the server offers. */
  option(name) {
    return this.approval.getByRole("button", { name });
  }

  item(name) {
    return this.feed.getByRole("article", { name });
  }

  call(tool) {
    return this.item(`Tool call: ${tool}`);
  }

  /** Types it, as a user does, and sends it with Enter. */
  async say(text) {
    await this.message.fill(text);
    await this.message.press("Enter");
  }

  async connected() {
    await until("the connection", async () => (await this.connection()) === "Live");
  }

  async connection() {
    // On a phone it is in the drawer.
    return (await this.page.getByRole("status", { name: "Connection", includeHidden: true }).textContent())?.trim();
  }

  /** Waits until the head of the page says how the task stands. */
  async stands(word) {
    await this.page.locator("main > header").getByText(word, { exact: true }).waitFor();
  }

  /** Waits until the list beside it says the same, which is read a moment later. */
  async settled() {
    const current = this.page.getByRole("navigation", { name: "Conversations" }).locator("[aria-current=page]");
    await this.sees(current, "Completed");
  }

  /** Presses a button of the head. On a phone some of them are in the drawer. */
  async press(name) {
    const drawer = this.page.getByRole("button", { name: /^Conversations/ });
    const button = this.button(name);
    await button.or(drawer).first().waitFor();
    if (!(await button.isVisible())) await drawer.click();
    await button.click();
  }

  /** Waits for words in something. */
  async sees(place, words) {
    await place.filter({ hasText: words }).first().waitFor();
  }

  /** Looks at the page as it is now: barriers, and anything wider than the window. */
  async sound(state) {
    this.#window.note(...(await barriers(this.page, state)), ...(await overflow(this.page, state)));
  }
}
