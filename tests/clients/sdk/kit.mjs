// What the cases of the vendors' SDKs for JavaScript share: how they script the fake Gemini (see fake_gemini.py), and how
// they are run, side by side.
//
// A program of cases is called as `PROGRAM URL TOKEN FAKE`: the server, its key, and the fake that it asks.

import assert from "node:assert/strict";
import { basename } from "node:path";

// A call that takes longer has hung; a silent stream is the longest.
export const TIMEOUT_MS = 25_000;
// Longer than the server's 15 s between two heartbeats.
export const SILENCE = 16;
export const SIGNED = Buffer.from("signed by the model").toString("base64");
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgAAACAAEA4iG8MwAAAABJRU5ErkJggg==";
export const WEATHER = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string", enum: ["c", "f"] } },
  required: ["city"],
  additionalProperties: false,
};
export const USAGE = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 112,
};
const PROGRAM = basename(process.argv[1], ".mjs");

export const [url, token, fake] = process.argv.slice(2);
if (!fake) {
  console.error(`usage: ${PROGRAM}.mjs URL TOKEN FAKE`);
  process.exit(2);
}

/** A piece of an answer of Gemini's. */
export function chunk(parts, { finish, usage } = {}) {
  const candidate = { content: { role: "model", parts }, index: 0, ...(finish && { finishReason: finish }) };
  const made = { candidates: [candidate], modelVersion: "gemini-fake", responseId: "answer-1" };
  return { ...made, ...(usage && { usageMetadata: usage }) };
}

/** An answer of texts, each in a chunk of its own. */
export function says(words, more = {}) {
  const last = words.length - 1;
  return { chunks: words.map((text, at) => chunk([{ text }], at === last ? { finish: "STOP", ...more } : {})) };
}

export function fails(status, name, details = []) {
  return { status, error: { code: status, status: name, message: "so it was told", details } };
}

/** A text, then two calls at once, the first of them signed; the end comes later, with an empty text. */
export const WANTS_WEATHER = {
  chunks: [
    chunk([{ text: "Let me look. " }]),
    chunk([{ functionCall: { id: "c1", name: "weather", args: { city: "Paris" } }, thoughtSignature: SIGNED }]),
    chunk([{ functionCall: { id: "c2", name: "weather", args: { city: "Rome", unit: "c" } } }]),
    chunk([{ text: "" }], { finish: "STOP" }),
  ],
};
export const RECALL = { recall: "My name is (\\w+)" };
export const BROKEN = { code: 503, status: "UNAVAILABLE", message: "so it was told" };
/** What the model says, one byte at a time. */
export const UNICODE = ["Grüße, ", "世界 ", "👩‍👩‍👧‍👦!"];

let number = 0;

/** A model of the fake with a name that nobody else has. */
export async function model(...answers) {
  return modelNamed("gemini-3.8-flash", ...answers);
}

export async function modelNamed(family, ...answers) {
  number += 1;
  const name = `${family}-${PROGRAM}-js-${number}`;
  const address = `${fake}/fake/${name}`;
  await fetch(address, { method: "PUT", body: JSON.stringify(answers) });
  const seen = async (query) => (await fetch(`${address}?${query}`)).json();
  return {
    name,
    /** Each request that reached it, and not one more. */
    async asked(times = 1) {
      const { asked } = await seen(`asked=${times}`);
      assert.equal(asked.length, times, "how often the model was asked");
      return asked.map((one) => one.body);
    },
    async wasLeft() {
      assert.equal((await seen("left=1")).left, 1, "whether the model was left alone");
    },
  };
}

export const said = (content) => content.parts.map((part) => part.text ?? "").join("");
export const roles = (body) => body.contents.map((content) => content.role);
export const signatures = (content) =>
  content.parts.filter((part) => part.functionCall).map((part) => part.thoughtSignature);
export const responses = (content) => content.parts.map(({ functionResponse: { name, response } }) => [name, response]);
export const fiveMegabytes = () => Buffer.alloc(5 << 20, 7).toString("base64");

export async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The error that a call must end in, of just this class. */
export async function errorOf(kind, run) {
  const error = await run().then(
    (answer) => assert.fail(`no ${kind.name} but ${JSON.stringify(answer)}`),
    (reason) => reason,
  );
  if (error?.constructor !== kind) throw error;
  return error;
}

/** All of them, side by side; their lines come in order. */
export async function run(cases) {
  const under_way = Object.entries(cases).map(([name, check]) => [name, check().then(() => "", String)]);
  let failed = 0;
  for (const [name, end] of under_way) {
    const why = await end;
    failed += why ? 1 : 0;
    console.log(why ? `FAIL  ${name}: ${why.replaceAll("\n", " ")}` : `ok    ${name}`);
  }
  // Connections that are kept would keep the process.
  process.exit(failed ? 1 : 0);
}
