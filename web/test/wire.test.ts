import { create, toBinary, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ConfirmToolCallRequestSchema, DevelopmentToolService, TaskUpdateSchema } from "#gen/agena/devtool/v1/service_pb";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { curl, grpcurl, httpCall, quote } from "../src/wire/curl";
import { FrameCutter, readTrailers } from "../src/wire/frames";
import { methodOf } from "../src/wire/methods";
import { backoff } from "../src/wire/retry";
import { hexDump, jsonOf, textOf } from "../src/wire/show";
import { fragmentToken } from "../src/wire/token";

const frame = (flag: number, ...bytes: number[]) => [flag, 0, 0, 0, bytes.length, ...bytes];

describe("frames", () => {
  const whole = new Uint8Array([...frame(0, 1, 2, 3), ...frame(0), ...frame(0x80, 65)]);
  const expected = [
    { trailer: false, payload: new Uint8Array([1, 2, 3]) },
    { trailer: false, payload: new Uint8Array([]) },
    { trailer: true, payload: new Uint8Array([65]) },
  ];
  test.each([1, 2, 3, 5, 7, 100])("come whole out of pieces of %d bytes", (length) => {
    const cutter = new FrameCutter();
    const found = [];
    for (let at = 0; at < whole.length; at += length) found.push(...cutter.push(whole.slice(at, at + length)));
    expect(found).toEqual(expected);
  });
  test("trailers are read", () => {
    const bytes = new TextEncoder().encode("grpc-status: 7\r\nGrpc-Message: no: never\r\n");
    expect(readTrailers(bytes)).toEqual({ "grpc-status": "7", "grpc-message": "no: never" });
  });
});

describe("the token in the address", () => {
  const cases: [string, ReturnType<typeof fragmentToken>][] = [
    ["#token=abc", { token: "abc", rest: "#/" }],
    ["#token=a%2Bb", { token: "a+b", rest: "#/" }],
    ["#/c/1&token=abc", { token: "abc", rest: "#/c/1" }],
    ["#/c/1", undefined],
    ["", undefined],
  ];
  test.each(cases)("%s", (hash, expected) => expect(fragmentToken(hash)).toEqual(expected));
});

describe("commands for a shell", () => {
  const cases: [keyof typeof DevelopmentToolService.method, JsonObject, object][] = [
    ["startTask", { prompt: "hi" }, { verb: "POST", path: "/devtool/v1/tasks", body: { prompt: "hi" } }],
    ["followTask", { task_id: "a/b", after: "7" }, { verb: "GET", path: "/devtool/v1/tasks/a%2Fb:follow?after=7" }],
    ["watchTasks", {}, { verb: "GET", path: "/devtool/v1/tasks:watch" }],
    [
      "confirmToolCall",
      { task_id: "t", confirmation: { tool_call_id: "c", selected_option_id: "yes" }, message_id: "m" },
      {
        verb: "POST",
        path: "/devtool/v1/tasks/t/toolCalls/c:confirm?message_id=m",
        body: { selected_option_id: "yes" },
      },
    ],
    ["revokeRule", { context_id: "c", rule_id: "r" }, { verb: "DELETE", path: "/devtool/v1/contexts/c/rules/r" }],
    [
      "getAllSlashCommands",
      { settings: { allowed_tools: ["a", "b"] } },
      { verb: "GET", path: "/devtool/v1/commands?settings.allowed_tools=a&settings.allowed_tools=b" },
    ],
  ];
  test.each(cases)("the JSON path of %s", (name, request, expected) => {
    expect(httpCall(DevelopmentToolService.method[name], request)).toEqual(expected);
  });

  test("a stream in both directions has none", () => {
    expect(curl(DevelopmentToolService.method.interact, {}, "http://x", true)).toBeUndefined();
  });

  test("the token is a variable", () => {
    const { startTask } = DevelopmentToolService.method;
    const request = { prompt: "it's" };
    expect(curl(startTask, request, "http://h:1", true)).toContain('"Authorization: Bearer $TOKEN"');
    expect(curl(startTask, request, "http://h:1", true)).toContain(`'{"prompt":"it'\\''s"}'`);
    expect(grpcurl(startTask, request, "http://h:1", true)).toContain("-plaintext");
    expect(grpcurl(startTask, request, "https://h:1", false)).not.toMatch(/plaintext|TOKEN/);
  });

  test("a word of the shell stays one", () => expect(quote("a'b $c")).toBe(`'a'\\''b $c'`));
});

describe("messages for people", () => {
  const update = create(TaskUpdateSchema, {
    taskId: "t",
    sequence: 7n,
    update: { case: "status", value: { state: TaskState.WORKING } },
  });
  const bytes = toBinary(TaskUpdateSchema, update);
  test("JSON has the names of the schema", () => {
    expect(jsonOf(TaskUpdateSchema, bytes)).toEqual({
      task_id: "t",
      sequence: "7",
      status: { state: "TASK_STATE_WORKING" },
    });
  });
  test("the text form", () => {
    expect(textOf(TaskUpdateSchema, bytes)).toBe(
      'task_id: "t"\nsequence: 7\nstatus {\n  state: TASK_STATE_WORKING\n}',
    );
  });
  test("the text form of lists", () => {
    const request = create(ConfirmToolCallRequestSchema, { confirmation: { answers: ["a", 'b"'] } });
    expect(textOf(ConfirmToolCallRequestSchema, toBinary(ConfirmToolCallRequestSchema, request))).toBe(
      'confirmation {\n  answers: "a"\n  answers: "b\\""\n}',
    );
  });
  test("bytes", () => {
    expect(hexDump(new Uint8Array([0, 65, 255]))).toBe(`000000  00 41 ff${" ".repeat(39)}  .A.`);
    expect(hexDump(new Uint8Array(40), 16).split("\n").at(-1)).toBe("… 24 more bytes");
  });
  test("every method of the service is known", () => {
    for (const { name } of DevelopmentToolService.methods) {
      expect(methodOf(DevelopmentToolService.typeName, name)?.name).toBe(name);
    }
  });
});

test("waits double up to ten seconds", () => {
  expect([0, 1, 2, 10].map((attempt) => backoff(attempt, () => 0.5))).toEqual([400, 800, 1_600, 10_000]);
});
