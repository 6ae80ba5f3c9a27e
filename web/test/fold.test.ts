import { describe, expect, test } from "vitest";
import { ToolCallStatus } from "#gen/agena/devtool/v1/tool_call_pb";
import { Role, TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { fold, waitingCalls } from "../src/state/fold";
import { emptyView, type TaskView } from "../src/state/model";
import { asking, call, live, part, said, state, text, thought, update, view } from "./updates";

const shown = (of: TaskView) =>
  of.items.map((item) => {
    switch (item.kind) {
      case "answer":
      case "user":
      case "notice":
        return `${item.kind}: ${item.text}`;
      case "thought":
        return `thought: ${item.thought.subject}`;
      case "call":
        return `call: ${ToolCallStatus[item.call.status]} ${item.live}`.trim();
      case "artifact":
        return `artifact: ${item.artifact.name}`;
    }
  });

describe("answers", () => {
  const cases: [string, TaskView, string[]][] = [
    ["pieces are one answer", view(text("Hel"), text("lo"), said(Role.AGENT, "Hello")), ["answer: Hello"]],
    ["a whole without pieces is an answer", view(said(Role.AGENT, "Hi")), ["answer: Hi"]],
    ["the whole is right", view(text("Helo"), said(Role.AGENT, "Hello")), ["answer: Hello"]],
    ["what is missing at the end is added", view(text("Hel"), said(Role.AGENT, "Hello")), ["answer: Hello"]],
    [
      "a thought stands between its pieces",
      view(text("a"), thought("T"), text("b"), said(Role.AGENT, "ab")),
      ["answer: a", "thought: T", "answer: b"],
    ],
    [
      "an answer that broke off stays before the one that took its place",
      view(text("bro"), text("whole"), said(Role.AGENT, "whole")),
      ["answer: browhole"],
    ],
    [
      "two answers are two",
      view(text("one"), said(Role.AGENT, "one"), text("two"), said(Role.AGENT, "two")),
      ["answer: one", "answer: two"],
    ],
    ["the user's words are theirs", view(said(Role.USER, "do it")), ["user: do it"]],
    ["a decision has no words", view({ case: "message", value: { role: Role.USER, parts: [] } }), []],
  ];
  test.each(cases)("%s", (_, of, expected) => expect(shown(of)).toEqual(expected));

  test("nothing is open when the task has ended", () => {
    const ended = view(text("half"), state(TaskState.CANCELED));
    expect(ended.items[0]).toMatchObject({ kind: "answer", open: false });
  });

  test("a long answer is cut, and its whole changes nothing", () => {
    const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} ${"word ".repeat(30)}\n\n`);
    const long = view(...paragraphs.map(text), said(Role.AGENT, paragraphs.join("")));
    const answers = long.items.filter((item) => item.kind === "answer");
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.map((item) => item.text).join("")).toBe(paragraphs.join(""));
    expect(answers.every((item) => item.text.length < 6_000 && !item.open)).toBe(true);
  });
});

describe("the cursor", () => {
  test("what was heard before changes nothing", () => {
    const of = emptyView("t");
    expect(fold(of, update(3, text("a")))).toBe(true);
    expect(fold(of, update(3, text("a")))).toBe(false);
    expect(fold(of, update(2, text("z")))).toBe(false);
    expect(shown(of)).toEqual(["answer: a"]);
    expect(of.sequence).toBe(3n);
  });

  test("an update of a kind that is not known moves it on", () => {
    const of = emptyView("t");
    expect(fold(of, update(5, { case: undefined }))).toBe(true);
    expect(of.sequence).toBe(5n);
  });
});

describe("tool calls", () => {
  test("one call is one item, from asking to its end", () => {
    const of = view(
      call(ToolCallStatus.PENDING, asking),
      state(TaskState.INPUT_REQUIRED, "Allow it? 1. yes"),
      { case: "decided", value: { toolCallId: "x", decision: { selectedOptionId: "yes", decidedBy: "ada" } } },
      call(ToolCallStatus.EXECUTING),
      live(0, "one\n"),
      live(4, "two\n"),
      call(ToolCallStatus.SUCCEEDED),
    );
    expect(shown(of)).toEqual(["call: SUCCEEDED one\ntwo"]);
    expect(of.items[0]).toMatchObject({ options: [{ id: "yes" }] });
  });

  test("it waits until it is decided, and then the task works", () => {
    const of = view(call(ToolCallStatus.PENDING, asking), state(TaskState.INPUT_REQUIRED));
    expect(waitingCalls(of).map((one) => one.toolCallId)).toEqual(["x"]);
    fold(of, update(9, { case: "decided", value: { toolCallId: "x", decision: { selectedOptionId: "yes" } } }));
    expect(waitingCalls(of)).toEqual([]);
    expect(of.state).toBe(TaskState.WORKING);
  });

  test("nothing waits in a task that has ended", () => {
    expect(waitingCalls(view(call(ToolCallStatus.PENDING, asking), state(TaskState.CANCELED)))).toEqual([]);
  });
});

describe("states", () => {
  const cases: [string, TaskView, string[]][] = [
    ["a question without calls is shown", view(state(TaskState.INPUT_REQUIRED, "Where?")), ["notice: Where?"]],
    ["plain success says nothing", view(state(TaskState.WORKING), state(TaskState.COMPLETED)), []],
    ["a failure is shown", view(state(TaskState.FAILED, "Broken")), ["notice: Broken"]],
    ["a cancellation is shown", view(state(TaskState.CANCELED)), ["notice: "]],
    [
      "words that the answer has said already are not repeated",
      view(said(Role.AGENT, "Bye"), state(TaskState.COMPLETED, "Bye")),
      ["answer: Bye"],
    ],
  ];
  test.each(cases)("%s", (_, of, expected) => expect(shown(of)).toEqual(expected));
});

test("usage is summed by model", () => {
  const cost = (inputTokens: bigint) => ({ case: "usage" as const, value: { model: "m", inputTokens } });
  expect(view(cost(2n), cost(3n)).usage.get("m")).toMatchObject({ inputTokens: 5n });
});

test("pieces of an artifact are put together", () => {
  const piece = (words: string, append: boolean) => ({
    case: "artifact" as const,
    value: { append, artifact: { artifactId: "a", name: "notes", parts: [part(words)] } },
  });
  const of = view(piece("one ", false), piece("two", true));
  expect(of.items).toHaveLength(1);
  expect(of.items[0]).toMatchObject({ artifact: { parts: [{ content: { value: "one two" } }] } });
});

test("ten thousand pieces are folded in a moment", () => {
  const of = emptyView("t");
  const pieces = Array.from({ length: 10_000 }, (_, at) => update(at + 1, text(`word ${at}${at % 40 === 0 ? "\n\nNext " : " "}`)));
  const began = performance.now();
  for (const piece of pieces) fold(of, piece);
  expect(performance.now() - began).toBeLessThan(500);
  expect(of.items.length).toBeGreaterThan(10);
});
