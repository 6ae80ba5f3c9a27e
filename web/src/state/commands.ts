// Slash commands: what there is, what the typed line means, and what could come next. The parsing is pure.

import { signal } from "@preact/signals";
import type { SlashCommand, SlashCommandArgument } from "#gen/agena/devtool/v1/command_pb";
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

/** A command with its whole path. */
export interface Entry {
  path: string[];
  description: string;
  arguments: SlashCommandArgument[];
  /** It has commands below it. */
  parent: boolean;
}

export function flatten(list: readonly SlashCommand[], above: string[] = []): Entry[] {
  return list.flatMap((command) => {
    const path = [...above, command.name];
    const { description, subCommands } = command;
    const own = { path, description, arguments: command.arguments, parent: subCommands.length > 0 };
    return [own, ...flatten(subCommands, path)];
  });
}

/** The command that a line names, and what is left as its arguments. */
export function parseLine(line: string, entries: readonly Entry[]): { entry: Entry; args: string } | undefined {
  if (!line.startsWith("/")) return undefined;
  const fitting = entries.filter((entry) => names(line, entry));
  const longest = fitting.sort((a, b) => b.path.length - a.path.length)[0];
  if (longest === undefined) return undefined;
  return { entry: longest, args: rest(line, longest) };
}

function pattern(entry: Entry): RegExp {
  const words = entry.path.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^/${words.join("\\s+")}(?:\\s+|$)`);
}

function names(line: string, entry: Entry): boolean {
  return pattern(entry).test(line);
}

function rest(line: string, entry: Entry): string {
  return line.replace(pattern(entry), "").trim();
}

/** What the line could become: commands whose path begins as it does, then those that only contain it. */
export function suggestions(line: string, entries: readonly Entry[]): Entry[] {
  if (!line.startsWith("/") || line.includes("\n")) return [];
  const typed = line.slice(1).replace(/\s+/g, " ").toLowerCase();
  const full = (entry: Entry) => entry.path.join(" ").toLowerCase();
  const beginning = entries.filter((entry) => full(entry).startsWith(typed) && full(entry) !== typed.trimEnd());
  const depth = typed.split(" ").length;
  const near = beginning.filter((entry) => entry.path.length <= depth);
  const first = near.length > 0 ? near : beginning;
  if (typed.includes(" ") || typed.length < 2) return first;
  return [...first, ...entries.filter((entry) => !first.includes(entry) && full(entry).includes(typed))].slice(0, 40);
}

/** What to type next, such as `<fact>` or `[name]`. */
export function hint(entry: Entry): string {
  return entry.arguments.map(({ name, isRequired }) => (isRequired ? `<${name}>` : `[${name}]`)).join(" ");
}
