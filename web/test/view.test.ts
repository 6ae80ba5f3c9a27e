import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AgentSettingsSchema, ApprovalMode } from "#gen/agena/devtool/v1/event_pb";
import { SlashCommandSchema } from "#gen/agena/devtool/v1/command_pb";
import {
  ConfirmationOptionKind,
  ConfirmationOptionSchema,
  QuestionSchema,
  ToolCallSchema,
} from "#gen/agena/devtool/v1/tool_call_pb";
import { confirmation, refusal } from "../src/state/answer";
import { flatten, parseLine, suggestions } from "../src/state/command-line";
import { FrameQueue } from "../src/state/frame";
import { nextSettings } from "../src/state/next";
import { formatRoute, parseRoute } from "../src/state/route";
import { changedLines, diffLines } from "../src/view/diff";
import { Heights } from "../src/view/heights";
import { render } from "../src/view/markdown";
import { choose, chosen, write } from "../src/view/questions";
import { tail } from "../src/view/tail";
import { visible } from "../src/view/visible";

describe("markdown is safe", () => {
  const cases: [string, string, RegExp][] = [
    ["HTML is text", "<img src=x onerror=alert(1)>", /&lt;img/],
    ["a script's address is no link", "[x](javascript:alert(1))", /^<p>\[x\]/],
    ["links tell nobody where they are from", "[x](https://e.com)", /rel="noopener noreferrer"/],
    ["a picture is a link", "![x](https://e.com/a.png)", /!<a /],
    ["tables have no style attribute", "|a|\n|--:|\n|1|", /<td class="align-right">/],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    expect(render(text)).toMatch(expected);
    expect(render(text)).not.toMatch(/<img|style=|<script/);
  });
});

describe("addresses", () => {
  test.each([{}, { contextId: "a/b" }, { contextId: "a", taskId: "t 1" }])("%j", (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });
  test("anything else is the beginning", () => expect(parseRoute("#/x/y")).toEqual({}));
});

describe("slash commands", () => {
  const entries = flatten([
    create(SlashCommandSchema, { name: "help" }),
    create(SlashCommandSchema, { name: "memory", subCommands: [{ name: "add" }, { name: "show" }] }),
    create(SlashCommandSchema, { name: "git:commit" }),
  ]);
  const names = (line: string) => suggestions(line, entries).map((entry) => entry.path.join(" "));
  const offered: [string, string[]][] = [
    ["/", ["help", "memory", "git:commit"]],
    ["/he", ["help"]],
    ["/help", []],
    ["/memory", ["memory add", "memory show"]],
    ["/memory ", ["memory add", "memory show"]],
    ["/memory s", ["memory show"]],
    ["/mm", ["git:commit"]],
    ["hello", []],
    ["/x\ny", []],
  ];
  test.each(offered)("%j offers %j", (line, expected) => expect(names(line)).toEqual(expected));
  const parsed: [string, [string, string] | undefined][] = [
    ["/help", ["help", ""]],
    ["/memory add we  like tea", ["memory add", "we  like tea"]],
    ["/memory", ["memory", ""]],
    ["/git:commit now", ["git:commit", "now"]],
    ["/helper", undefined],
    ["/etc/hosts is what?", undefined],
    ["help", undefined],
  ];
  test.each(parsed)("%j means %j", (line, expected) => {
    const command = parseLine(line, entries);
    expect(command && [command.entry.path.join(" "), command.args]).toEqual(expected);
  });
});

describe("answers to questions", () => {
  const one = create(QuestionSchema, { choices: [{ label: "red" }, { label: "blue" }] });
  const several = create(QuestionSchema, { choices: [{ label: "a" }, { label: "b" }, { label: "c" }], several: true });
  test("one choice", () => {
    expect(choose(one, "", "red", true)).toBe("red");
    expect(choose(one, "red", "blue", true)).toBe("blue");
    expect(write(one, "red", "green")).toBe("green");
    expect(chosen(one, "green")).toEqual({ labels: [], other: "green" });
  });
  test("several, in the order of the choices", () => {
    const both = choose(several, choose(several, "", "c", true), "a", true);
    expect(both).toBe("a, c");
    expect(choose(several, both, "a", false)).toBe("c");
    expect(write(several, both, "d")).toBe("a, c, d");
    expect(chosen(several, "a, c, d")).toEqual({ labels: ["a", "c"], other: "d" });
  });
});

describe("what is sent as an answer", () => {
  const details = { case: "fileEditDetails" as const, value: { fileName: "f", newContent: "new" } };
  const call = create(ToolCallSchema, { toolCallId: "x", confirmationRequest: { fingerprint: "f", details } });
  const allow = create(ConfirmationOptionSchema, { id: "yes", kind: ConfirmationOptionKind.ALLOW_ONCE });
  const reject = create(ConfirmationOptionSchema, { id: "no", kind: ConfirmationOptionKind.REJECT_ONCE });
  test("the fingerprint always", () => {
    expect(confirmation(call, allow, {})).toMatchObject({ selectedOptionId: "yes", fingerprint: "f" });
  });
  test("an edit only if it is one, and only with an approval", () => {
    expect(confirmation(call, allow, { content: "new" }).modifiedDetails.case).toBeUndefined();
    expect(confirmation(call, allow, { content: "mine" }).modifiedDetails.value).toMatchObject({ newContent: "mine" });
    expect(confirmation(call, reject, { content: "mine" }).modifiedDetails.case).toBeUndefined();
  });
  test("a reason only with a rejection", () => {
    expect(confirmation(call, reject, { reason: "no!" }).rejectReason).toBe("no!");
    expect(confirmation(call, allow, { reason: "no!" }).rejectReason).toBeUndefined();
  });
  test("who was first, and what they chose", () => {
    const late = {
      code: 9,
      reason: "ALREADY_DECIDED",
      message: "late",
      metadata: { decidedBy: "ada", selectedOptionId: "yes" },
    };
    expect(refusal(late, call)).toBe("Already answered: ada chose “yes”.");
  });
});

describe("settings of the next task", () => {
  const chosen = { model: "", approvalMode: ApprovalMode.APPROVAL_MODE_UNSPECIFIED, workspace: "" };
  const before = create(AgentSettingsSchema, { workspacePath: "/w", model: "a", allowedTools: ["read_file"] });
  test("nothing chosen, nothing sent", () => {
    expect(nextSettings(true, undefined, chosen)).toBeUndefined();
    expect(nextSettings(false, before, chosen)).toBeUndefined();
    expect(nextSettings(false, before, { ...chosen, model: "a", workspace: "/other" })).toBeUndefined();
  });
  test("what was chosen, and what held before", () => {
    expect(nextSettings(true, undefined, { ...chosen, workspace: "/x" })).toMatchObject({ workspacePath: "/x" });
    expect(nextSettings(false, before, { ...chosen, model: "b" })).toMatchObject({
      workspacePath: "/w",
      model: "b",
      allowedTools: ["read_file"],
    });
  });
});

test("a unified diff is read", () => {
  const text = "--- Current\n+++ Proposed\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file\n";
  expect(diffLines(text).map((line) => line.kind)).toEqual(["hunk", "same", "del", "add", "hunk"]);
  expect(changedLines(text)).toEqual({ added: 1, removed: 1 });
});

test("the last lines", () => {
  expect(tail("a\nb\nc\n", 2)).toEqual({ shown: "b\nc\n", hidden: 1 });
  expect(tail("a\nb", 2)).toEqual({ shown: "a\nb", hidden: 0 });
});

test("rows lie where their heights put them", () => {
  const heights = new Heights<{ key: string }>(() => 50);
  const rows = ["a", "b", "c"].map((key) => ({ key }));
  heights.set("a", 10);
  heights.set("b", 20);
  heights.layout(rows);
  expect([0, 1, 2].map((at) => heights.top(at))).toEqual([0, 10, 30]);
  expect([-5, 0, 9, 10, 29, 30, 1_000].map((at) => heights.at(at))).toEqual([0, 0, 0, 1, 1, 2, 2]);
  expect(heights.set("a", 10)).toBe(false);
});

test("a queue works in slices, and loses nothing", () => {
  const seen: number[] = [];
  const frames: (() => void)[] = [];
  let clock = 0;
  let drawn = 0;
  const queue = new FrameQueue<number>(
    (one) => {
      seen.push(one);
      clock += 1;
    },
    () => (drawn += 1),
    (run) => frames.push(run),
    () => clock,
  );
  for (let at = 0; at < 100; at += 1) queue.push(at);
  expect(frames).toHaveLength(1);
  while (frames.length > 0) frames.shift()?.();
  expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => at));
  expect(drawn).toBeGreaterThan(3);
});

test("what is to be agreed to reads as it runs", () => {
  expect(visible("echo \u202e'txt.x fr- mr' ; ls\u200b")).toBe("echo <U+202E>'txt.x fr- mr' ; ls<U+200B>");
  expect(visible("plain\n\ttext, grün 日本 👩‍💻")).toBe("plain\n\ttext, grün 日本 👩‍💻");
  expect(visible("\u001b[31m\u{e0041}")).toBe("<U+001B>[31m<U+E0041>");
});
