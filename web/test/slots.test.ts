import { expect, test } from "vitest";
import { Slots } from "../src/wire/slots";

test("as many as there are places, the others in turn", async () => {
  const slots = new Slots(1);
  const { signal } = new AbortController();
  const order: string[] = [];
  await slots.enter(signal);
  const second = slots.enter(signal).then(() => order.push("second"));
  const third = slots.enter(signal).then(() => order.push("third"));
  expect(slots.wanted).toBe(true);
  slots.leave();
  await second;
  slots.leave();
  await third;
  expect(order).toEqual(["second", "third"]);
  expect(slots.wanted).toBe(false);
});

test("one that gives up while it waits takes no place away", async () => {
  const slots = new Slots(1);
  const stays = new AbortController().signal;
  const gives = new AbortController();
  await slots.enter(stays);
  const gone = slots.enter(gives.signal);
  gives.abort();
  await gone;
  slots.leave();
  slots.leave();
  await slots.enter(stays);
  const waits = slots.enter(stays);
  expect(slots.wanted).toBe(true);
  slots.leave();
  await waits;
});
