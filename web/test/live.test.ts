import { expect, test } from "vitest";
import { appendLive } from "../src/state/live";

const cases: [string, [number, string][], string][] = [
  ["pieces follow each other", [[0, "one\n"], [4, "two\n"]], "one\ntwo\n"],
  ["a piece that was heard is skipped", [[0, "one\n"], [0, "one\n"], [4, "two"]], "one\ntwo"],
  ["of an overlap the rest is taken", [[0, "one"], [1, "ne two"]], "one two"],
  ["offsets count bytes, not characters", [[0, "äö"], [4, "ü"]], "äöü"],
  ["an overlap ends within characters of several bytes", [[0, "ä"], [0, "äö"]], "äö"],
  ["a gap is told", [[0, "a"], [5, "b"]], "a\n[4 bytes were left out]\nb"],
  ["nothing is nothing", [[0, ""]], ""],
];

test.each(cases)("%s", (_, pieces, expected) => {
  const heard = { live: "", heard: 0 };
  for (const [offset, text] of pieces) appendLive(heard, offset, text);
  expect(heard.live).toBe(expected);
});

test("only the end of very much is kept", () => {
  const heard = { live: "", heard: 0 };
  for (let at = 0; at < 20; at += 1) appendLive(heard, at * 100_000, "x".repeat(100_000));
  expect(heard.live.length).toBeLessThanOrEqual(500_000);
  expect(heard.heard).toBe(2_000_000);
});
