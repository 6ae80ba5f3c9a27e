import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { access } from "../src/wire/access";
import { brokenLink } from "../src/wire/links";
import { hurry } from "../src/wire/retry";
import { keep, type Opened } from "../src/wire/streams";

/** What one connection does: numbers from the cursor on, up to a break. */
type Connection = { upTo: number; then: "end" | "cut" | "refuse" | "gone" | "hang" };

const BREAKS = { cut: Code.Unavailable, refuse: Code.Unauthenticated, gone: Code.NotFound };

function server(connections: Connection[]) {
  const heard: number[] = [];
  const asked: number[] = [];
  let cursor = 0;
  async function* stream({ upTo, then }: Connection, after: number, { onHeader, signal }: Opened) {
    onHeader();
    for (let at = after + 1; at <= upTo; at += 1) yield at;
    if (then === "end") return;
    if (then === "hang") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))));
    throw new ConnectError("broken", BREAKS[then as keyof typeof BREAKS]);
  }
  const kept = {
    name: "test",
    open: (options: Opened) => {
      asked.push(cursor);
      const next = connections.shift();
      if (next === undefined) throw new Error("nobody expected another connection");
      return stream(next, cursor, options);
    },
    take: (one: number) => {
      cursor = one;
      heard.push(one);
    },
    finished: () => cursor >= 6,
    failed: () => void heard.push(-1),
  };
  return { kept, heard, asked };
}

/** No test waits for a backoff. */
async function run({ kept }: ReturnType<typeof server>, signal = new AbortController().signal): Promise<void> {
  const impatient = setInterval(hurry, 1);
  await keep(kept, signal).finally(() => clearInterval(impatient));
}

beforeEach(() => (access.value = "unknown"));

const cases: [string, Connection[], number[], number[]][] = [
  ["a stream that ends is read once", [{ upTo: 6, then: "end" }], [1, 2, 3, 4, 5, 6], [0]],
  [
    "one that is cut goes on where it was",
    [{ upTo: 2, then: "cut" }, { upTo: 2, then: "cut" }, { upTo: 6, then: "end" }],
    [1, 2, 3, 4, 5, 6],
    [0, 2, 2],
  ],
  ["one that ends too soon goes on", [{ upTo: 3, then: "end" }, { upTo: 6, then: "end" }], [1, 2, 3, 4, 5, 6], [0, 3]],
  ["one that is refused stops", [{ upTo: 2, then: "refuse" }], [1, 2], [0]],
  ["one that is not there stops", [{ upTo: 2, then: "gone" }], [1, 2, -1], [0]],
];

test.each(cases)("%s", async (_, connections, expected, cursors) => {
  const made = server(connections);
  await run(made);
  expect(made.heard).toEqual(expected);
  expect(made.asked).toEqual(cursors);
  expect(brokenLink.value).toBeUndefined();
});

test("who is refused is asked for a token", async () => {
  await run(server([{ upTo: 0, then: "refuse" }]));
  expect(access.value).toBe("refused");
});

test("one that nobody wants any more stops", async () => {
  const stop = new AbortController();
  const made = server([{ upTo: 1, then: "hang" }]);
  setTimeout(() => stop.abort(), 20);
  await run(made, stop.signal);
  expect(made.heard).toEqual([1]);
});
