// Waits with deadlines. Nothing here sleeps for a fixed time and then hopes.

import assert from "node:assert/strict";

export const SECONDS = 20;
const BEAT = 40;

/** Calls `check` until it gives something true, and returns that. What it throws last is told when time is up. */
export async function until(what, check, seconds = SECONDS) {
  const deadline = Date.now() + seconds * 1_000;
  let last = "nothing";
  for (;;) {
    try {
      last = await check();
      if (last) return last;
    } catch (error) {
      last = error.message;
    }
    if (Date.now() > deadline) assert.fail(`${what} did not come true within ${seconds} s; last: ${last}`);
    await new Promise((resolve) => setTimeout(resolve, BEAT));
  }
}

/** Fails if the promise is not settled in time. */
export async function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1_000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
