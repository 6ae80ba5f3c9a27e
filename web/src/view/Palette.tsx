// The list of slash commands above the composer. The keyboard stays in the text.

import { useEffect, useState } from "preact/hooks";
import { hint, parseLine, type Entry } from "../state/command-line";

export const PALETTE = "palette";

export interface PaletteState {
  open: boolean;
  found: Entry[];
  at: number;
  /** The id of the option that the arrows have reached. */
  active: string | undefined;
  /** Whether the key was meant for the palette. */
  key: (event: KeyboardEvent) => boolean;
  typed: () => void;
  close: () => void;
  pick: (entry: Entry) => void;
}

export function usePalette(found: Entry[], fill: (line: string) => void): PaletteState {
  const [closed, setClosed] = useState(false);
  const [at, setAt] = useState(0);
  const open = !closed && found.length > 0;
  const index = Math.min(at, found.length - 1);
  useEffect(() => {
    document.getElementById(optionId(index))?.scrollIntoView({ block: "nearest" });
  }, [index, open]);
  const pick = (entry: Entry) => {
    fill(`/${entry.path.join(" ")} `);
    setAt(0);
    document.querySelector<HTMLTextAreaElement>("#message")?.focus();
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => setAt((index + 1) % found.length),
    ArrowUp: () => setAt((index - 1 + found.length) % found.length),
    Tab: () => found[index] && pick(found[index]),
    Enter: () => found[index] && pick(found[index]),
    Escape: () => setClosed(true),
  };
  return {
    open,
    found,
    at: index,
    active: open ? optionId(index) : undefined,
    key: (event) => {
      const act = open && !event.shiftKey ? keys[event.key] : undefined;
      if (act === undefined) return false;
      event.preventDefault();
      act();
      return true;
    },
    typed: () => {
      setClosed(false);
      setAt(0);
    },
    close: () => setClosed(true),
    pick,
  };
}

function optionId(at: number): string {
  return `palette-${at}`;
}

interface Props {
  palette: PaletteState;
  line: string;
  entries: Entry[];
}

export function Palette({ palette, line, entries }: Props) {
  if (!palette.open) return <Usage line={line} entries={entries} />;
  return (
    <ul id={PALETTE} class="palette" role="listbox" aria-label="Slash commands" tabIndex={0}>
      {palette.found.map((entry, at) => (
        <li
          key={entry.path.join(" ")}
          id={optionId(at)}
          role="option"
          aria-selected={at === palette.at}
          onMouseDown={(event) => {
            event.preventDefault();
            palette.pick(entry);
          }}
        >
          <span class="command-name">
            /{entry.path.join(" ")} <span class="dim">{hint(entry)}</span>
          </span>
          <span class="command-what">{entry.description}</span>
        </li>
      ))}
    </ul>
  );
}

/** A command is typed out: what its arguments are. */
function Usage({ line, entries }: { line: string; entries: Entry[] }) {
  const command = parseLine(line, entries);
  if (command === undefined || line.includes("\n")) return null;
  const { entry } = command;
  return (
    <p class="palette usage" role="status">
      <span class="command-name">
        /{entry.path.join(" ")} <span class="dim">{hint(entry)}</span>
      </span>
      <span class="command-what">
        {entry.description} {entry.arguments.map(({ name, description }) => `${name}: ${description}`).join("; ")}
      </span>
    </p>
  );
}
