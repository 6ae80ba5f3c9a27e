// A built server, started for one story: on a free port, with data, home and workspace of its own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { until, within } from "./wait.mjs";

const START_SECONDS = 20;
// Nothing of the user's own settings is seen.
const OWN = /^(AGENA_|CODER_AGENT_|XDG_|GEMINI_|GOOGLE_|CODE_ASSIST_|RUST_LOG$|DEBUG$|USE_CCPA$|DEFAULT_MODEL$)/;

export class Server {
  #binary;
  #arguments;
  #process;
  #log;

  /** `rules` are the rehearsal's (YAML reads JSON), `config` is an agena.toml, `files` are put into the workspace. */
  constructor(binary, { args = [], rules, config, files = {} } = {}) {
    this.#binary = binary;
    this.#arguments = [...args];
    this.root = mkdtempSync(join(tmpdir(), "agena-"));
    this.workspace = join(this.root, "project");
    mkdirSync(this.workspace);
    for (const [name, content] of Object.entries(files)) this.write(name, content);
    if (rules !== undefined) this.#option("--rehearsal", "rehearsal.yaml", JSON.stringify({ rules }));
    if (config !== undefined) this.#option("--config", "agena.toml", config);
    this.#log = openSync(join(this.root, "server.log"), "a");
  }

  #option(name, file, content) {
    const path = join(this.root, file);
    writeFileSync(path, content);
    this.#arguments.push(name, path);
  }

  /** Starts it; after a kill, where it was before. */
  async start() {
    const listen = this.url === undefined ? "127.0.0.1:0" : new URL(this.url).host;
    const own = Object.entries(process.env).filter(([name]) => !OWN.test(name));
    const env = { ...Object.fromEntries(own), HOME: this.root, AGENA_DATA_DIR: join(this.root, "data") };
    const args = ["--listen", listen, "--set", "log.filter=debug", ...this.#arguments];
    const options = { cwd: this.workspace, env, stdio: ["ignore", "pipe", this.#log] };
    this.#process = spawn(this.#binary, args, options);
    const banner = await within(START_SECONDS, "starting the server", this.#banner());
    this.url = banner.get("HTTP+JSON");
    this.link = banner.get("console");
    this.token = new URL(this.link).hash.replace("#token=", "");
    return this;
  }

  /** The first word behind each name; the line of the token is the last one. */
  async #banner() {
    const found = new Map();
    for await (const line of createInterface({ input: this.#process.stdout })) {
      const named = /^ {2}(\S+(?: \S+)?) {2,}(\S+)/.exec(line);
      if (named) found.set(named[1], named[2]);
      if (named?.[1] === "token") break;
    }
    assert(found.has("console"), `there is no console in the banner: ${this.log.slice(-800)}`);
    return found;
  }

  /** As the power goes: nothing is finished, nothing is said. */
  async kill() {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  async end() {
    if (this.#process !== undefined) await this.kill();
    closeSync(this.#log);
    // A supervisor of a command may still be on its way out.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  get log() {
    return readFileSync(join(this.root, "server.log"), "utf8");
  }

  /** Writes a file of the workspace; commands of scripts wait for one to go on. */
  write(name, content = "") {
    const path = join(this.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  read(name) {
    return readFileSync(join(this.workspace, name), "utf8");
  }

  /** The typed service as JSON: what the server knows, not what the page shows. */
  async get(path) {
    const headers = this.token === "" ? {} : { Authorization: `Bearer ${this.token}` };
    const answer = await fetch(`${this.url}/devtool/v1/${path}`, { headers, signal: AbortSignal.timeout(10_000) });
    assert.equal(answer.status, 200, `GET ${path}`);
    return answer.json();
  }

  /** The task that changed last, once there is one. */
  async lastTask() {
    const listed = await until("a task", async () => (await this.get("tasks")).tasks?.[0]);
    return this.task(listed.task_id);
  }

  async task(id) {
    const { task, settings } = await this.get(`tasks/${id}`);
    return { ...task, settings };
  }
}
