// The wire, as it is: each request, each message, each end of a call.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { clearLog, logEntries, logPaused, logRevision, type Entry } from "../../wire/log";
import { Icon } from "../Icon";
import { Shown } from "./Shown";
import { EntryList } from "./EntryList";
import { inspectorOpen } from "./open";

const filter = signal("");

export function Inspector() {
  void logRevision.value;
  const [selected, select] = useState<Entry>();
  const entries = matching(logEntries(), filter.value);
  return (
    <aside class="inspector" aria-label="Wire inspector">
      <header class="inspector-head">
        <h2>Wire</h2>
        <input
          type="search"
          aria-label="Filter messages"
          placeholder="Filter by method, words or #call"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
        <button type="button" class="small" aria-pressed={logPaused.value} onClick={() => (logPaused.value = !logPaused.value)}>
          {logPaused.value ? "Resume" : "Pause"}
        </button>
        <button type="button" class="small" onClick={clearLog}>
          Clear
        </button>
        <button type="button" class="bare" aria-label="Close inspector" onClick={() => (inspectorOpen.value = false)}>
          <Icon name="close" />
        </button>
      </header>
      <EntryList entries={entries} selected={selected} select={select} />
      {selected === undefined ? (
        <p class="inspector-empty dim">Choose a message to see it as JSON and as bytes.</p>
      ) : (
        <Shown entry={selected} all={logEntries()} />
      )}
    </aside>
  );
}

const decoder = new TextDecoder();

/** By the method's name, by the number of the call, or by words that stand in the message. */
function matching(entries: readonly Entry[], wanted: string): readonly Entry[] {
  const word = wanted.trim().toLowerCase();
  if (word === "") return entries;
  if (/^#\d+$/.test(word)) return entries.filter((entry) => `#${entry.call}` === word);
  return entries.filter(
    ({ method, bytes }) => method.toLowerCase().includes(word) || decoder.decode(bytes).toLowerCase().includes(word),
  );
}
