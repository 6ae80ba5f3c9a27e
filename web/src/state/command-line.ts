// What a typed line means as a slash command, and what it could become. Pure.

import type { SlashCommand, SlashCommandArgument } from "#gen/agena/devtool/v1/command_pb";

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

const MOST = 40;

/** What the line could become: commands whose path begins as it does, then those that only contain it. */
export function suggestions(line: string, entries: readonly Entry[]): Entry[] {
  if (!line.startsWith("/") || line.includes("\n")) return [];
  const typed = line.slice(1).replace(/\s+/g, " ").toLowerCase();
  const full = (entry: Entry) => entry.path.join(" ").toLowerCase();
  // What is typed out needs no completion.
  const others = entries.filter((entry) => full(entry) !== typed.trimEnd());
  const beginning = others.filter((entry) => full(entry).startsWith(typed));
  const depth = typed.split(" ").length;
  const near = beginning.filter((entry) => entry.path.length <= depth);
  const first = near.length > 0 ? near : beginning;
  if (typed.includes(" ") || typed.length < 2) return first;
  return [...first, ...others.filter((entry) => !first.includes(entry) && full(entry).includes(typed))].slice(0, MOST);
}

/** What to type next, such as `<fact>` or `[name]`. */
export function hint(entry: Entry): string {
  return entry.arguments.map(({ name, isRequired }) => (isRequired ? `<${name}>` : `[${name}]`)).join(" ");
}
