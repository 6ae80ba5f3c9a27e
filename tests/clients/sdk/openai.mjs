// OpenAI's SDK over a model of Google's: chat completions and the Responses API.
//
//     node openai.mjs URL TOKEN FAKE

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import {
  all,
  BROKEN,
  chunk,
  errorOf,
  fails,
  fiveMegabytes,
  model,
  modelNamed,
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
  new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0, timeout: TIMEOUT_MS, ...options });
const user = (content) => ({ role: "user", content });
const complete = (fake, messages, more) =>
  connect().chat.completions.create({ model: fake.name, messages, ...more });
const respond = (fake, input, more) => connect().responses.create({ model: fake.name, input, ...more });

const City = z.object({ name: z.string(), inhabitants: z.number() });
const OSLO = { name: "Oslo", inhabitants: 717710 };
const SAYS_OSLO = says(['{"name": "Oslo", ', '"inhabitants": 717710}']);
const THINKS = {
  chunks: [chunk([{ text: "Rayleigh.", thought: true }]), chunk([{ text: "Blue.", thoughtSignature: SIGNED }], { finish: "STOP" })],
};
const CHAT_TOOLS = [{ type: "function", function: { name: "weather", parameters: WEATHER } }];
const TOOLS = [{ type: "function", name: "weather", parameters: WEATHER, strict: false }];
const FOUND = { Paris: '{"degrees": 21}', Rome: "warm" };
const city = (call) => JSON.parse(call.arguments).city;

/** Of the tools, the last one first: their order must not matter. */
const chatAnswers = (calls) =>
  calls.map((one) => ({ role: "tool", tool_call_id: one.id, content: FOUND[city(one.function)] })).reverse();
const answers = (output) =>
  output
    .filter((one) => one.type === "function_call")
    .map((one) => ({ type: "function_call_output", call_id: one.call_id, output: FOUND[city(one)] }))
    .reverse();

async function checkTools(fake) {
  const [first, second] = await fake.asked(2);
  assert.deepEqual(first.tools[0].functionDeclarations[0].parametersJsonSchema, WEATHER);
  const [, asked, answered] = second.contents;
  assert.deepEqual(signatures(asked), [SIGNED, undefined]);
  assert.equal(said(asked), "Let me look. ");
  assert.deepEqual(responses(answered), [
    ["weather", { degrees: 21 }],
    ["weather", { output: "warm" }],
  ]);
}

async function checkSchema(fake, times) {
  const [{ generationConfig }] = await fake.asked(times);
  assert.equal(generationConfig.responseMimeType, "application/json");
  assert.deepEqual(Object.keys(generationConfig.responseJsonSchema.properties), ["name", "inhabitants"]);
}

const ERRORS = [
  [400, "INVALID_ARGUMENT", OpenAI.BadRequestError],
  [403, "PERMISSION_DENIED", OpenAI.PermissionDeniedError],
  [404, "NOT_FOUND", OpenAI.NotFoundError],
  [429, "RESOURCE_EXHAUSTED", OpenAI.RateLimitError],
  [503, "UNAVAILABLE", OpenAI.InternalServerError],
];

const CHAT = {
  async "a conversation with a system message"() {
    const fake = await model(says(["Hello Alice."]), RECALL);
    const messages = [{ role: "system", content: "Be brief." }, user("My name is Alice.")];
    messages.push((await complete(fake, messages)).choices[0].message, user("What is my name?"));
    assert.equal((await complete(fake, messages)).choices[0].message.content, "Your name is Alice.");
    const [, second] = await fake.asked(2);
    assert.deepEqual(roles(second), ["user", "model", "user"]);
    assert.equal(said(second.systemInstruction), "Be brief.");
  },

  async "parallel calls of tools, and the text beside them"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is warmer."]));
    const messages = [user("Where is it warmer?")];
    const [{ message, finish_reason }] = (await complete(fake, messages, { tools: CHAT_TOOLS })).choices;
    assert.deepEqual([finish_reason, message.content], ["tool_calls", "Let me look. "]);
    messages.push(message, ...chatAnswers(message.tool_calls));
    const second = await complete(fake, messages, { tools: CHAT_TOOLS });
    assert.equal(second.choices[0].message.content, "Rome is warmer.");
    await checkTools(fake);
  },

  async "parallel calls of tools in a stream"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is", " warmer."]));
    const messages = [user("Where is it warmer?")];
    const ask = () => connect().chat.completions.stream({ model: fake.name, messages, tools: CHAT_TOOLS });
    const [{ message, finish_reason }] = (await ask().finalChatCompletion()).choices;
    assert.equal(finish_reason, "tool_calls");
    messages.push(message, ...chatAnswers(message.tool_calls));
    assert.equal(await ask().finalContent(), "Rome is warmer.");
    await checkTools(fake);
  },

  async "pictures, a small one and one of 5 MB"() {
    for (const data of [PIXEL, fiveMegabytes()]) {
      const fake = await model(says(["A dot."]));
      await complete(fake, [user([{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }])]);
      const [asked] = await fake.asked();
      assert.ok(asked.contents[0].parts[0].inlineData.data === data, "it is not whole");
    }
  },

  async "an answer by a schema of zod's"() {
    const fake = await model(SAYS_OSLO);
    const asked = { model: fake.name, messages: [user("Oslo?")], response_format: zodResponseFormat(City, "city") };
    const whole = await connect().chat.completions.parse(asked);
    const streamed = await connect().chat.completions.stream(asked).finalChatCompletion();
    for (const { choices } of [whole, streamed]) assert.deepEqual(choices[0].message.parsed, OSLO);
    await checkSchema(fake, 2);
  },

  async "thoughts are apart from the answer"() {
    const fake = await model(THINKS);
    const { message } = (await complete(fake, [user("Why?")], { reasoning_effort: "high" })).choices[0];
    assert.deepEqual([message.content, message.reasoning_content], ["Blue.", "Rayleigh."]);
    const [asked] = await fake.asked();
    assert.equal(asked.generationConfig.thinkingConfig.thinkingLevel.toUpperCase(), "HIGH");
  },

  async "usage with cached and thinking tokens"() {
    const fake = await model(says(["Yes", "."], { usage: USAGE }));
    const streamed = await complete(fake, [user("Hi")], { stream: true, stream_options: { include_usage: true } });
    const last = (await all(streamed)).at(-1);
    assert.deepEqual(last.choices, []);
    for (const { usage } of [await complete(fake, [user("Hi")]), last]) {
      const details = [usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens];
      assert.deepEqual([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, ...details], [100, 12, 112, 40, 5]);
    }
  },

  async "each error of the model is one of the SDK, streamed or not"() {
    for (const [status, name, kind] of ERRORS) {
      const fake = await model(fails(status, name));
      for (const stream of [false, true]) {
        const error = await errorOf(kind, () => complete(fake, [user("Hi")], { stream }));
        assert.equal(error.status, status);
        assert.match(error.message, /so it was told/);
      }
    }
  },

  async "an internal error of the model is one of ours"() {
    const fake = await model(fails(500, "INTERNAL"));
    assert.equal((await errorOf(OpenAI.InternalServerError, () => complete(fake, [user("Hi")]))).status, 500);
  },

  async "a wrong key is 401"() {
    const fake = await model(says(["never"]));
    const asked = { model: fake.name, messages: [user("Hi")] };
    await errorOf(OpenAI.AuthenticationError, () => connect({ apiKey: "wrong" }).chat.completions.create(asked));
    await fake.asked(0);
  },

  async "a rate limit tells how long to wait, and the SDK does"() {
    const wait = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" };
    const fake = await model(fails(429, "RESOURCE_EXHAUSTED", [wait]), says(["Now."]));
    const begin = Date.now();
    const asked = { model: fake.name, messages: [user("Hi")] };
    const answer = await connect({ maxRetries: 1 }).chat.completions.create(asked);
    assert.equal(answer.choices[0].message.content, "Now.");
    assert.ok(Date.now() - begin >= 1900, "it did not wait");
    await fake.asked(2);
  },

  async "an error within a stream is raised"() {
    const fake = await model({ chunks: [chunk([{ text: "Half" }])], then: BROKEN });
    let heard = "";
    await errorOf(OpenAI.APIError, async () => {
      for await (const one of await complete(fake, [user("Hi")], { stream: true })) heard += one.choices[0].delta.content ?? "";
    });
    assert.equal(heard, "Half");
  },

  async "who leaves a stream leaves the model too"() {
    const fake = await model({ chunks: [chunk([{ text: "First" }])], then: "hang" });
    const stream = await complete(fake, [user("Hi")], { stream: true });
    for await (const one of stream) if (one.choices[0].delta.content) break;
    await fake.wasLeft();
  },

  async "a long silence is no end"() {
    const fake = await model({ ...says(["Well", " now."]), pause: SILENCE });
    const heard = await all(await complete(fake, [user("Hi")], { stream: true }));
    assert.equal(heard.map((one) => one.choices[0].delta.content ?? "").join(""), "Well now.");
  },

  async "characters that are split over the network"() {
    const fake = await model({ ...says(UNICODE), split: 1 });
    const heard = await all(await complete(fake, [user("Hällo 🌍")], { stream: true }));
    assert.equal(heard.map((one) => one.choices[0].delta.content ?? "").join(""), UNICODE.join(""));
    assert.equal(said((await fake.asked())[0].contents[0]), "Hällo 🌍");
  },

  async "embeddings"() {
    const { name } = await modelNamed("gemini-embedding-001");
    for (const encoding_format of ["float", undefined]) {
      const asked = { model: name, input: ["four", "longer"], dimensions: 2, ...(encoding_format && { encoding_format }) };
      const { data } = await connect().embeddings.create(asked);
      assert.deepEqual(data.map((one) => Array.from(one.embedding)), [
        [4, 0.5],
        [6, 0.5],
      ]);
    }
  },

  async "the models are listed, and each is told"() {
    const ids = (await all(connect().models.list())).map((one) => one.id);
    assert.ok(ids.includes("gemini-4-argon"), ids.join());
    assert.equal((await connect().models.retrieve("gemini-4-argon")).object, "model");
    await errorOf(OpenAI.NotFoundError, () => connect().models.retrieve("nobody"));
  },

  async "what a conversion changes is told in a header"() {
    const fake = await model(says(["Yes."]));
    const { response } = await complete(fake, [user("Hi")], { user: "me" }).withResponse();
    assert.match(response.headers.get("x-agena-conversion"), /field="user"/);
  },
};

const RESPONSES = {
  async "a conversation is kept by the server"() {
    const fake = await model(says(["Hello Alice."]), RECALL);
    const first = await respond(fake, "My name is Alice.", { instructions: "Be brief." });
    const second = await respond(fake, "What is my name?", { previous_response_id: first.id });
    assert.equal(second.output_text, "Your name is Alice.");
    const asked = await fake.asked(2);
    assert.deepEqual(roles(asked[1]), ["user", "model", "user"]);
    assert.equal(said(asked[0].systemInstruction), "Be brief.");
  },

  async "a response can be read again, with what was asked, until it is deleted"() {
    const fake = await model(says(["Hello."]));
    const { id } = await respond(fake, "Hi there");
    assert.equal((await connect().responses.retrieve(id)).output_text, "Hello.");
    const [item] = await all(connect().responses.inputItems.list(id));
    assert.equal(item.content[0].text, "Hi there");
    await connect().responses.delete(id);
    await errorOf(OpenAI.NotFoundError, () => connect().responses.retrieve(id));
  },

  async "parallel calls of tools in a stream, and nothing kept by the server"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is", " warmer."]));
    const input = [user("Where is it warmer?")];
    const asked = { model: fake.name, input, tools: TOOLS, store: false, include: ["reasoning.encrypted_content"] };
    const first = await connect().responses.stream(asked).finalResponse();
    input.push(...first.output, ...answers(first.output));
    assert.equal((await connect().responses.stream(asked).finalResponse()).output_text, "Rome is warmer.");
    await checkTools(fake);
  },

  async "parallel calls of tools, kept by the server"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is warmer."]));
    const first = await respond(fake, "Where is it warmer?", { tools: TOOLS });
    const second = await respond(fake, answers(first.output), { tools: TOOLS, previous_response_id: first.id });
    assert.equal(second.output_text, "Rome is warmer.");
    await checkTools(fake);
  },

  async "pictures, a small one and one of 5 MB"() {
    for (const data of [PIXEL, fiveMegabytes()]) {
      const fake = await model(says(["A dot."]));
      const image = { type: "input_image", image_url: `data:image/png;base64,${data}`, detail: "auto" };
      await respond(fake, [user([image])], { store: false });
      const [asked] = await fake.asked();
      assert.ok(asked.contents[0].parts[0].inlineData.data === data, "it is not whole");
    }
  },

  async "an answer by a schema of zod's"() {
    const fake = await model(SAYS_OSLO);
    const asked = { model: fake.name, input: "Oslo?", text: { format: zodTextFormat(City, "city") } };
    assert.deepEqual((await connect().responses.parse(asked)).output_parsed, OSLO);
    await checkSchema(fake, 1);
  },

  async "thoughts are a summary, and their signature comes back"() {
    const fake = await model(THINKS, says(["Sure."]));
    const asked = { reasoning: { effort: "high", summary: "auto" }, include: ["reasoning.encrypted_content"] };
    const first = await respond(fake, "Why is the sky blue?", asked);
    const summaries = first.output.flatMap((one) => (one.type === "reasoning" ? one.summary : []));
    assert.deepEqual(summaries.map((part) => part.text), ["Rayleigh."]);
    await respond(fake, "Sure?", { ...asked, previous_response_id: first.id });
    const [, second] = await fake.asked(2);
    assert.deepEqual(second.contents[1].parts.flatMap((part) => part.thoughtSignature ?? []), [SIGNED]);
  },

  async "usage with cached and thinking tokens"() {
    const fake = await model(says(["Yes", "."], { usage: USAGE }));
    const { usage } = await respond(fake, "Hi");
    const details = [usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens];
    assert.deepEqual([usage.input_tokens, usage.output_tokens, usage.total_tokens, ...details], [100, 12, 112, 40, 5]);
  },

  async "each error of the model is one of the SDK, streamed or not"() {
    for (const [status, name, kind] of ERRORS) {
      const fake = await model(fails(status, name));
      for (const stream of [false, true]) {
        assert.equal((await errorOf(kind, () => respond(fake, "Hi", { stream }))).status, status);
      }
    }
  },

  async "a stream that breaks off ends in response.failed"() {
    const fake = await model({ chunks: [chunk([{ text: "Half" }])], then: BROKEN });
    const heard = await all(await respond(fake, "Hi", { stream: true }));
    assert.equal(heard.at(-1).type, "response.failed");
  },

  async "who leaves a stream leaves the model too"() {
    const fake = await model({ chunks: [chunk([{ text: "First" }])], then: "hang" });
    for await (const one of await respond(fake, "Hi", { stream: true })) {
      if (one.type === "response.output_text.delta") break;
    }
    await fake.wasLeft();
  },

  async "responses in the background go on by themselves, or are canceled"() {
    const fake = await model({ ...says(["Well", " now."]), pause: 0.5 });
    let made = await respond(fake, "Hi", { background: true });
    for (const end = Date.now() + 10_000; made.status !== "completed" && Date.now() < end; await sleep(100)) {
      made = await connect().responses.retrieve(made.id);
    }
    assert.equal(made.output_text, "Well now.");
    const endless = await model({ chunks: [chunk([{ text: "First" }])], then: "hang" });
    const { id } = await respond(endless, "Hi", { background: true });
    await endless.asked();
    assert.equal((await connect().responses.cancel(id)).status, "cancelled");
    await endless.wasLeft();
  },

  async "a long silence is no end"() {
    const fake = await model({ ...says(["Well", " now."]), pause: SILENCE });
    assert.equal((await connect().responses.stream({ model: fake.name, input: "Hi" }).finalResponse()).output_text, "Well now.");
  },
};

const titled = (title, cases) => Object.entries(cases).map(([name, check]) => [`${title}: ${name}`, check]);
await run(Object.fromEntries([...titled("chat", CHAT), ...titled("responses", RESPONSES)]));
