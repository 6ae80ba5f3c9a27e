// The slash commands that there are.

import { signal } from "@preact/signals";
import type { SlashCommand } from "#gen/agena/devtool/v1/command_pb";
import { devtool } from "../wire/client";

export const commands = signal<SlashCommand[]>([]);
let loadedFor: string | undefined;

/** Reads the commands of a context; another workspace may have others. */
export async function loadCommands(contextId: string, again = false): Promise<void> {
  if (loadedFor === contextId && !again) return;
  loadedFor = contextId;
  try {
    commands.value = (await devtool.getAllSlashCommands({ contextId })).commands;
  } catch {
    // Tried again when the palette is opened next.
    loadedFor = undefined;
  }
}
