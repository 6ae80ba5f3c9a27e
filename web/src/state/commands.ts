// The slash commands that there are.

import { signal } from "@preact/signals";
import type { SlashCommand } from "#gen/agena/devtool/v1/command_pb";
import { devtool } from "../wire/client";

export const commands = signal<SlashCommand[]>([]);
let loading: { contextId: string; done: Promise<void> } | undefined;

/** Reads the commands of a context, once; another workspace may have others. */
export function loadCommands(contextId: string): Promise<void> {
  if (loading?.contextId !== contextId) loading = { contextId, done: load(contextId) };
  return loading.done;
}

async function load(contextId: string): Promise<void> {
  try {
    commands.value = (await devtool.getAllSlashCommands({ contextId })).commands;
  } catch {
    // Tried again when the next one is typed.
    loading = undefined;
  }
}
