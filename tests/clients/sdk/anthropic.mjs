// Anthropic's SDK over a model of Google's.
//
//     node anthropic.mjs URL TOKEN FAKE

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import {
  all,
  BROKEN,
  chunk,
  errorOf,
  fails,
  fiveMegabytes,
  model,
  PIXEL,
  RECALL,
  responses,
  roles,
  run,
  said,
  says,
  SIGNED,
  signatures,
  SILENCE,
  TIMEOUT_MS,
  token,
  UNICODE,
  url,
  USAGE,
  WANTS_WEATHER,
  WEATHER,
} from "./kit.mjs";

const connect = (options = {}) =>
  new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0, timeout: TIMEOUT_MS, ...options });
const user = (content) => ({ role: "user", content });
const body = (fake, messages, more) => ({ model: fake.name, max_tokens: 1000, messages, ...more });
const create = (fake, messages, more) => connect().messages.create(body(fake, messages, more));
const stream = (fake, messages, more) => connect().messages.stream(body(fake, messages, more));
const words = ({ content }) => content.flatMap((block) => block.text ?? []).join("");

const City = z.object({ name: z.string(), inhabitants: z.number() });
const TOOLS = [{ name: "weather", description: "The weather", input_schema: WEATHER }];
const FOUND = { Paris: "21 degrees", Rome: "28 degrees" };
const answers = (content) =>
  user(
    content
      .filter((block) => block.type === "tool_use")
      .map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: FOUND[input.city] }))
      .reverse(),
  );

async function useTools(ask) {
  const fake = await model(WANTS_WEATHER, says(["Rome is", " warmer."]));
  const messages = [user("Where is it warmer?")];
  const { content, stop_reason } = await ask(fake, messages);
  assert.equal(stop_reason, "tool_use");
  messages.push({ role: "assistant", content }, answers(content));
  assert.equal(words(await ask(fake, messages)), "Rome is warmer.");
  const [first, second] = await fake.asked(2);
  assert.deepEqual(first.tools[0].functionDeclarations[0].parametersJsonSchema, WEATHER);
  const [, asked, answered] = second.contents;
  assert.deepEqual(signatures(asked), [SIGNED, undefined]);
  assert.equal(said(asked), "Let me look. ");
  assert.deepEqual(responses(answered), [
    ["weather", { output: "21 degrees" }],
    ["weather", { output: "28 degrees" }],
  ]);
}

const ERRORS = [
  [400, "INVALID_ARGUMENT", Anthropic.BadRequestError, 400, "invalid_request_error"],
  [403, "PERMISSION_DENIED", Anthropic.PermissionDeniedError, 403, "permission_error"],
  [404, "NOT_FOUND", Anthropic.NotFoundError, 404, "not_found_error"],
  [429, "RESOURCE_EXHAUSTED", Anthropic.RateLimitError, 429, "rate_limit_error"],
  // Claude's own word for it; older SDKs have no class of its own.
  [503, "UNAVAILABLE", Anthropic.OverloadedError ?? Anthropic.InternalServerError, 529, "overloaded_error"],
];

await run({
  async "a conversation with a system prompt"() {
    const fake = await model(says(["Hello Alice."]), RECALL);
    const messages = [user("My name is Alice.")];
    const { content } = await create(fake, messages, { system: "Be brief." });
    messages.push({ role: "assistant", content }, user("What is my name?"));
    assert.equal(words(await create(fake, messages, { system: "Be brief." })), "Your name is Alice.");
    const [, second] = await fake.asked(2);
    assert.deepEqual(roles(second), ["user", "model", "user"]);
    assert.equal(said(second.systemInstruction), "Be brief.");
  },

  async "parallel calls of tools, and the text beside them"() {
    await useTools((fake, messages) => create(fake, messages, { tools: TOOLS }));
  },

  async "parallel calls of tools in a stream"() {
    await useTools((fake, messages) => stream(fake, messages, { tools: TOOLS }).finalMessage());
  },

  async "pictures, a small one and one of 5 MB"() {
    for (const data of [PIXEL, fiveMegabytes()]) {
      const fake = await model(says(["A dot."]));
      await create(fake, [user([{ type: "image", source: { type: "base64", media_type: "image/png", data } }])]);
      const [asked] = await fake.asked();
      assert.ok(asked.contents[0].parts[0].inlineData.data === data, "it is not whole");
    }
  },

  async "an answer by a schema of zod's"() {
    const fake = await model(says(['{"name": "Oslo", ', '"inhabitants": 717710}']));
    const asked = body(fake, [user("Oslo?")], { output_config: { format: zodOutputFormat(City) } });
    const { parsed_output } = await connect().messages.parse(asked);
    assert.deepEqual(parsed_output, { name: "Oslo", inhabitants: 717710 });
    const [{ generationConfig }] = await fake.asked();
    assert.deepEqual(Object.keys(generationConfig.responseJsonSchema.properties), ["name", "inhabitants"]);
  },

  async "thoughts are shown, and their signature comes back"() {
    const signed = { text: "Blue.", thoughtSignature: SIGNED };
    const thinks = [chunk([{ text: "Rayleigh.", thought: true }]), chunk([signed], { finish: "STOP" })];
    const fake = await model({ chunks: thinks }, says(["Sure."]));
    const thinking = { type: "enabled", budget_tokens: 2048 };
    const messages = [user("Why is the sky blue?")];
    const { content } = await stream(fake, messages, { thinking }).finalMessage();
    assert.deepEqual([content[0].type, content[0].thinking], ["thinking", "Rayleigh."]);
    assert.ok(content[0].signature, "it is not signed");
    messages.push({ role: "assistant", content }, user("Sure?"));
    await create(fake, messages, { thinking });
    const [, second] = await fake.asked(2);
    assert.deepEqual(second.contents[1].parts.flatMap((part) => part.thoughtSignature ?? []), [SIGNED]);
  },

  async "usage with cached and thinking tokens"() {
    const fake = await model(says(["Yes", "."], { usage: USAGE }));
    for (const { usage } of [await create(fake, [user("Hi")]), await stream(fake, [user("Hi")]).finalMessage()]) {
      const counts = [usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens];
      assert.deepEqual([...counts, usage.output_tokens_details.thinking_tokens], [60, 40, 12, 5]);
    }
  },

  async "each error of the model is one of the SDK, streamed or not"() {
    for (const [status, name, kind, told, word] of ERRORS) {
      const fake = await model(fails(status, name));
      for (const streams of [false, true]) {
        const error = await errorOf(kind, () => create(fake, [user("Hi")], { stream: streams }));
        assert.deepEqual([error.status, error.error.error.type], [told, word]);
      }
    }
  },

  async "an internal error of the model is one of ours"() {
    const fake = await model(fails(500, "INTERNAL"));
    assert.equal((await errorOf(Anthropic.InternalServerError, () => create(fake, [user("Hi")]))).status, 500);
  },

  async "a wrong key is 401"() {
    const fake = await model(says(["never"]));
    const ask = () => connect({ apiKey: "wrong" }).messages.create(body(fake, [user("Hi")]));
    await errorOf(Anthropic.AuthenticationError, ask);
    await fake.asked(0);
  },

  async "a rate limit tells how long to wait, and the SDK does"() {
    const wait = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" };
    const fake = await model(fails(429, "RESOURCE_EXHAUSTED", [wait]), says(["Now."]));
    const begin = Date.now();
    assert.equal(words(await connect({ maxRetries: 1 }).messages.create(body(fake, [user("Hi")]))), "Now.");
    assert.ok(Date.now() - begin >= 1900, "it did not wait");
    await fake.asked(2);
  },

  async "an error within a stream is raised"() {
    for (const then of [BROKEN, "reset"]) {
      const fake = await model({ chunks: [chunk([{ text: "Half" }])], then });
      await assert.rejects(stream(fake, [user("Hi")]).finalMessage(), Anthropic.APIError);
    }
  },

  async "who leaves a stream leaves the model too"() {
    const fake = await model({ chunks: [chunk([{ text: "First" }])], then: "hang" });
    for await (const event of stream(fake, [user("Hi")])) if (event.type === "content_block_delta") break;
    await fake.wasLeft();
  },

  async "a long silence is no end"() {
    const fake = await model({ ...says(["Well", " now."]), pause: SILENCE });
    assert.equal(await stream(fake, [user("Hi")]).finalText(), "Well now.");
  },

  async "characters that are split over the network"() {
    const fake = await model({ ...says(UNICODE), split: 1 });
    assert.equal(await stream(fake, [user("Hällo 🌍")]).finalText(), UNICODE.join(""));
    assert.equal(said((await fake.asked())[0].contents[0]), "Hällo 🌍");
  },

  async "tokens are counted"() {
    const fake = await model();
    const asked = { model: fake.name, messages: [user("one two three")], system: "four five" };
    assert.equal((await connect().messages.countTokens(asked)).input_tokens, 5);
  },

  async "the models are listed, and each is told"() {
    const found = (await all(connect().models.list())).find((one) => one.id === "gemini-4-argon");
    assert.equal(found?.max_input_tokens, 1_048_576);
    assert.equal((await connect().models.retrieve("gemini-4-argon")).type, "model");
    await errorOf(Anthropic.NotFoundError, () => connect().models.retrieve("nobody"));
  },
});
