// What the user does: each is one call, made so that sending it again does no harm.

import { signal } from "@preact/signals";
import type { TaskUpdate } from "#gen/agena/devtool/v1/service_pb";
import { CommandExecutionStatus } from "#gen/agena/devtool/v1/command_pb";
import { again } from "../wire/again";
import { devtool } from "../wire/client";
import { problemOf } from "../wire/errors";
import type { Opened } from "../wire/streams";
import { complain, say } from "./announce";
import { follow, openViews } from "./conversation";
import { hasEnded, type TaskView } from "./model";
import { nextSettings } from "./next";
import { preferences } from "./preferences";
import { go, route } from "./route";
import { soon } from "./tasks";

export const sending = signal(false);

/** The task that a message goes to, if one is under way. */
export function openTask(): TaskView | undefined {
  return openViews.value.findLast((view) => view.items.length > 0 && !hasEnded(view.state));
}

/** Sends the words wherever they belong. False if they were not taken. */
export async function send(prompt: string, anew: boolean): Promise<boolean> {
  const running = anew ? undefined : openTask();
  sending.value = true;
  try {
    if (running === undefined) await start(prompt);
    else await goOn(running.taskId, prompt);
    return true;
  } catch (error) {
    complain(problemOf(error).message);
    return false;
  } finally {
    sending.value = false;
  }
}

async function start(prompt: string): Promise<void> {
  const { contextId = "" } = route.value;
  const settings = nextSettings(contextId === "", openViews.value.at(-1)?.settings, preferences.value);
  const request = { prompt, contextId, messageId: crypto.randomUUID(), ...(settings ? { settings } : {}) };
  const stop = new AbortController();
  // The same message id makes it the same task, should the first answer get lost.
  const { first, rest } = await again(async () => {
    const stream = devtool.startTask(request, { signal: stop.signal })[Symbol.asyncIterator]();
    const begun = await stream.next();
    const update = begun.done ? undefined : begun.value.update;
    if (update === undefined) throw new Error("The server started no task.");
    return { first: update, rest: stream };
  });
  // Going there leaves whatever else was followed, so it comes first.
  go({ contextId: first.contextId });
  follow(first.taskId, (options) => joined(first, rest, options, stop));
  soon();
}

/** The update that was read to learn the task's id, and then the stream that it came from. */
async function* joined(
  first: TaskUpdate,
  rest: AsyncIterator<{ update?: TaskUpdate }>,
  { onHeader, signal }: Opened,
  stop: AbortController,
): AsyncGenerator<{ update?: TaskUpdate }> {
  signal.addEventListener("abort", () => stop.abort());
  onHeader();
  yield { update: first };
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function goOn(taskId: string, prompt: string): Promise<void> {
  const request = { taskId, prompt, messageId: crypto.randomUUID() };
  const answer = await again(() => devtool.continueTask(request));
  // Ended meanwhile, it goes on in another task, which is not the one that the address names.
  if (answer.taskId !== taskId) go({ contextId: answer.contextId });
  follow(answer.taskId);
  if (answer.taskId === taskId) say("Sent. The task hears it in its next turn.");
  soon();
}

export async function cancel(taskId: string): Promise<void> {
  try {
    await devtool.cancelTask({ taskId });
    say("The task is canceled.");
  } catch (error) {
    complain(problemOf(error).message);
  }
}

/** Runs a slash command. False if it did not start. */
export async function runCommand(path: string[], args: string): Promise<boolean> {
  sending.value = true;
  try {
    const { contextId = "" } = route.value;
    const settings = contextId === "" ? nextSettings(true, undefined, preferences.value) : undefined;
    const request = { commandPath: path, args, contextId, ...(settings ? { settings } : {}) };
    const answer = await devtool.executeSlashCommand(request);
    if (answer.status === CommandExecutionStatus.FAILED_TO_START) {
      complain(answer.message);
      return false;
    }
    go({ contextId: answer.contextId });
    follow(answer.executionId);
    soon();
    return true;
  } catch (error) {
    complain(problemOf(error).message);
    return false;
  } finally {
    sending.value = false;
  }
}
