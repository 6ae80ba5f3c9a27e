// Single calls that are made again when the server was not reached. Only for those that may come twice: with a message id,
// or without effect.

import { isPassing } from "./errors";
import { backoff, pause } from "./retry";

const TRIES = 5;

export async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt + 1 >= TRIES || !isPassing(error)) throw error;
      await pause(backoff(attempt));
    }
  }
}
