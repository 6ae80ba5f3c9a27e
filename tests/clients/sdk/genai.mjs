// Google's own SDK for Gemini, pointed at Agena instead of Google.
//
//     node genai.mjs URL TOKEN FAKE

import assert from "node:assert/strict";
import { ApiError, FinishReason, GoogleGenAI, ThinkingLevel } from "@google/genai";
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

const connect = (apiKey = token) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, timeout: TIMEOUT_MS, retryOptions: { attempts: 1 } } });
const TOOLS = [{ functionDeclarations: [{ name: "weather", description: "The weather", parametersJsonSchema: WEATHER }] }];
const generate = (fake, contents, config) => connect().models.generateContent({ model: fake.name, contents, config });
const stream = (fake, contents, config) =>
  connect().models.generateContentStream({ model: fake.name, contents, config });

const DEGREES = { Paris: 21, Rome: 28 };
const answers = (calls) => ({
  role: "user",
  parts: calls.map(({ id, name, args }) => ({
    functionResponse: { id, name, response: { degrees: DEGREES[args.city] } },
  })),
});

async function checkTools(fake) {
  const [first, second] = await fake.asked(2);
  assert.deepEqual(first.tools[0].functionDeclarations[0].parametersJsonSchema, WEATHER);
  const [, asked, answered] = second.contents;
  assert.deepEqual(signatures(asked), [SIGNED, undefined]);
  assert.equal(said(asked), "Let me look. ");
  assert.deepEqual(responses(answered), [
    ["weather", { degrees: 21 }],
    ["weather", { degrees: 28 }],
  ]);
}

await run({
  async "a chat remembers what was said"() {
    const fake = await model(says(["Hello Alice."]), RECALL);
    const chat = connect().chats.create({ model: fake.name });
    await chat.sendMessage({ message: "My name is Alice." });
    assert.equal((await chat.sendMessage({ message: "What is my name?" })).text, "Your name is Alice.");
    assert.deepEqual(roles((await fake.asked(2))[1]), ["user", "model", "user"]);
  },

  async "a system instruction and the settings reach the model"() {
    const fake = await model(says(["Yes."]));
    await generate(fake, "Hi", { systemInstruction: "Be brief.", temperature: 0.5, maxOutputTokens: 99 });
    const [asked] = await fake.asked();
    assert.equal(said(asked.systemInstruction), "Be brief.");
    assert.deepEqual([asked.generationConfig.temperature, asked.generationConfig.maxOutputTokens], [0.5, 99]);
  },

  async "parallel calls of tools, and the text beside them"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is warmer."]));
    const contents = [{ role: "user", parts: [{ text: "Where is it warmer?" }] }];
    const first = await generate(fake, contents, { tools: TOOLS });
    contents.push(first.candidates[0].content, answers(first.functionCalls));
    assert.equal((await generate(fake, contents, { tools: TOOLS })).text, "Rome is warmer.");
    await checkTools(fake);
  },

  async "parallel calls of tools in a stream"() {
    const fake = await model(WANTS_WEATHER, says(["Rome is", " warmer."]));
    const contents = [{ role: "user", parts: [{ text: "Where is it warmer?" }] }];
    const chunks = await all(await stream(fake, contents, { tools: TOOLS }));
    const parts = chunks.flatMap((one) => one.candidates[0].content.parts).filter((part) => part.text !== "");
    assert.equal(chunks.at(-1).candidates[0].finishReason, FinishReason.STOP);
    const calls = parts.flatMap((part) => part.functionCall ?? []);
    contents.push({ role: "model", parts }, answers(calls));
    const second = await all(await stream(fake, contents, { tools: TOOLS }));
    assert.equal(second.map((one) => one.text).join(""), "Rome is warmer.");
    await checkTools(fake);
  },

  async "pictures, a small one and one of 5 MB"() {
    for (const data of [PIXEL, fiveMegabytes()]) {
      const fake = await model(says(["A dot."]));
      await generate(fake, [{ inlineData: { mimeType: "image/png", data } }, "What is it?"]);
      const [asked] = await fake.asked();
      assert.ok(asked.contents[0].parts[0].inlineData.data === data, "it is not whole");
    }
  },

  async "an answer by a schema"() {
    const fake = await model(says(['{"name": "Oslo", ', '"inhabitants": 717710}']));
    const schema = { type: "object", properties: { name: { type: "string" }, inhabitants: { type: "integer" } } };
    const config = { responseMimeType: "application/json", responseJsonSchema: schema };
    assert.deepEqual(JSON.parse((await generate(fake, "Oslo?", config)).text), { name: "Oslo", inhabitants: 717710 });
    assert.deepEqual((await fake.asked())[0].generationConfig.responseJsonSchema, schema);
  },

  async "thoughts are shown, and their signature comes back"() {
    const signed = { text: "Blue.", thoughtSignature: SIGNED };
    const thinks = [chunk([{ text: "Rayleigh.", thought: true }]), chunk([signed], { finish: "STOP" })];
    const fake = await model({ chunks: thinks }, says(["Sure."]));
    const config = { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } };
    const chat = connect().chats.create({ model: fake.name, config });
    const { parts } = (await chat.sendMessage({ message: "Why is the sky blue?" })).candidates[0].content;
    assert.deepEqual(parts.map((part) => [part.text, part.thought ?? false]), [
      ["Rayleigh.", true],
      ["Blue.", false],
    ]);
    await chat.sendMessage({ message: "Sure?" });
    const [first, second] = await fake.asked(2);
    assert.deepEqual(first.generationConfig.thinkingConfig, { includeThoughts: true, thinkingLevel: "HIGH" });
    assert.deepEqual(second.contents[1].parts.flatMap((part) => part.thoughtSignature ?? []), [SIGNED]);
  },

  async "usage with cached and thinking tokens"() {
    const fake = await model(says(["Yes."], { usage: USAGE }));
    const { usageMetadata } = await generate(fake, "Hi");
    for (const [name, tokens] of Object.entries(USAGE)) assert.equal(usageMetadata[name], tokens, name);
  },

  async "each error of the model is one of the SDK, streamed or not"() {
    const names = { 400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND" };
    Object.assign(names, { 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE" });
    for (const [status, name] of Object.entries(names)) {
      const fake = await model(fails(Number(status), name));
      for (const ask of [generate, stream]) {
        const error = await errorOf(ApiError, () => ask(fake, "Hi"));
        assert.equal(error.status, Number(status));
        assert.match(error.message, /so it was told/);
      }
    }
  },

  async "a wrong key is 401"() {
    const fake = await model(says(["never"]));
    const ask = () => connect("wrong").models.generateContent({ model: fake.name, contents: "Hi" });
    assert.equal((await errorOf(ApiError, ask)).status, 401);
    await fake.asked(0);
  },

  async "an error within a stream is raised"() {
    const fake = await model({ chunks: [chunk([{ text: "Half" }])], then: BROKEN });
    const heard = [];
    await errorOf(ApiError, async () => {
      for await (const one of await stream(fake, "Hi")) heard.push(one.text);
    });
    assert.deepEqual(heard, ["Half"]);
  },

  async "who leaves a stream leaves the model too"() {
    const fake = await model({ chunks: [chunk([{ text: "First" }])], then: "hang" });
    const leave = new AbortController();
    const heard = await stream(fake, "Hi", { abortSignal: leave.signal });
    assert.equal((await heard.next()).value.text, "First");
    leave.abort();
    await fake.wasLeft();
  },

  async "a long silence is no end"() {
    const fake = await model({ ...says(["Well", " now."]), pause: SILENCE });
    const heard = await all(await stream(fake, "Hi"));
    assert.equal(heard.map((one) => one.text).join(""), "Well now.");
  },

  async "characters that are split over the network"() {
    const fake = await model({ ...says(UNICODE), split: 1 });
    const heard = await all(await stream(fake, "Hällo 🌍"));
    assert.deepEqual(heard.map((one) => one.text), UNICODE);
    assert.equal(said((await fake.asked())[0].contents[0]), "Hällo 🌍");
  },

  async "embeddings and counted tokens"() {
    const embedding = await modelNamed("gemini-embedding-001");
    const config = { outputDimensionality: 2 };
    const made = await connect().models.embedContent({ model: embedding.name, contents: ["four", "longer"], config });
    assert.deepEqual(made.embeddings.map((one) => one.values), [
      [4, 0.5],
      [6, 0.5],
    ]);
    const { name } = await model();
    assert.equal((await connect().models.countTokens({ model: name, contents: "one two three" })).totalTokens, 3);
  },

  async "the models are listed, and each is told"() {
    const names = (await all(await connect().models.list())).map((one) => one.name);
    assert.ok(names.includes("models/gemini-4-argon"), names.join());
    assert.equal((await connect().models.get({ model: "gemini-4-argon" })).inputTokenLimit, 1_048_576);
    const lost = await errorOf(ApiError, () => connect().models.get({ model: "nobody" }));
    assert.equal(lost.status, 404);
  },
});
