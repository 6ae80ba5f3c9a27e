// Where the user writes: prompts, answers and slash commands.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import { openTask, runCommand, send, sending } from "../state/actions";
import { asked } from "../state/approvals";
import { flatten, parseLine, suggestions } from "../state/command-line";
import { commands, loadCommands } from "../state/commands";
import { openViews, revision } from "../state/conversation";
import { route } from "../state/route";
import { toEnd } from "./end";
import { Icon } from "./Icon";
import { NextTask } from "./NextTask";
import { PALETTE, Palette, usePalette, type PaletteState } from "./Palette";

/** What is being written. Examples and shortcuts put words here too. */
export const draft = signal("");

export function fillDraft(text: string): void {
  draft.value = text;
  document.querySelector<HTMLTextAreaElement>("#message")?.focus();
}

export function Composer() {
  void revision.value;
  const [anew, setAnew] = useState(false);
  const { contextId = "" } = route.value;
  const entries = flatten(commands.value);
  const palette = usePalette(suggestions(draft.value, entries), (text) => (draft.value = text));
  const isCommand = draft.value.startsWith("/");
  useEffect(() => {
    if (isCommand) void loadCommands(contextId);
  }, [isCommand, contextId]);
  const submit = async () => {
    palette.close();
    await sendDraft(contextId, anew);
    setAnew(false);
  };
  return (
    <form
      class="composer"
      aria-label="Composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Palette palette={palette} line={draft.value} entries={entries} />
      <div class="composer-box">
        <MessageBox palette={palette} submit={() => void submit()} />
        <button type="submit" class="primary send" aria-label="Send" disabled={draft.value.trim() === "" || sending.value}>
          <Icon name="send" />
        </button>
      </div>
      <div class="composer-foot">
        <NextTask />
        <Hint anew={anew} setAnew={setAnew} />
      </div>
    </form>
  );
}

/** What could not be sent is not lost, unless something else was written meanwhile. */
async function sendDraft(contextId: string, anew: boolean): Promise<void> {
  const text = draft.value.trim();
  if (text === "" || sending.value) return;
  draft.value = "";
  const command = await commandIn(text, contextId);
  // What is said to an earlier task goes on up there.
  const above = command === undefined && !anew && (openTask() ?? openViews.value.at(-1)) !== openViews.value.at(-1);
  const taken = command ? await runCommand(command.entry.path, command.args) : await send(text, anew);
  if (taken && !above) toEnd();
  if (!taken && draft.value === "") draft.value = text;
}

function MessageBox({ palette, submit }: { palette: PaletteState; submit: () => void }) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => grow(box.current), [draft.value]);
  const pressed = (event: KeyboardEvent) => {
    if (event.isComposing || palette.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape") {
      box.current?.blur();
      document.querySelector<HTMLElement>(".approval")?.focus();
    }
  };
  return (
    <textarea
      id="message"
      ref={box}
      rows={1}
      aria-label="Message"
      aria-describedby="composer-hint"
      aria-controls={palette.open ? PALETTE : undefined}
      aria-activedescendant={palette.active}
      aria-autocomplete="list"
      placeholder="Give the agent a task, or type / for commands"
      value={draft.value}
      onInput={(event) => {
        draft.value = event.currentTarget.value;
        palette.typed();
      }}
      onKeyDown={pressed}
    />
  );
}

/** The commands may still be on their way when a quick hand has typed one out. */
async function commandIn(text: string, contextId: string): Promise<ReturnType<typeof parseLine>> {
  if (!text.startsWith("/")) return undefined;
  await loadCommands(contextId);
  return parseLine(text, flatten(commands.value));
}

function grow(box: HTMLTextAreaElement | null): void {
  if (box === null) return;
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, innerHeight * 0.35)}px`;
}

/** Says where the words will go, as that depends on what the task is doing. */
function Hint({ anew, setAnew }: { anew: boolean; setAnew: (anew: boolean) => void }) {
  const running = openTask();
  const words = destination(running?.state, asked.value.some((one) => one.taskId === running?.taskId));
  return (
    <p id="composer-hint" class="composer-hint">
      {anew ? "Starts another task beside the running one." : words}
      {running !== undefined && (
        <label class="anew">
          <input type="checkbox" checked={anew} onChange={(event) => setAnew(event.currentTarget.checked)} />
          As a new task
        </label>
      )}
    </p>
  );
}

function destination(state: TaskState | undefined, approval: boolean): string {
  if (state === undefined) return "Enter sends, Shift+Enter makes a new line.";
  if (approval) return "An approval waits: words sent now reject it, with them as the reason.";
  if (state === TaskState.INPUT_REQUIRED) return "The agent asks: this is your answer.";
  return "The agent works: it hears this in its next turn.";
}
