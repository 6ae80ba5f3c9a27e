// Model and approval mode of the next task.

import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { prefer, preferences } from "../state/preferences";
import { listModels } from "../wire/client";
import { MODES } from "./words";

const known = signal<string[]>([]);

async function load(): Promise<void> {
  try {
    known.value = await listModels();
  } catch {
    // The server's own model can still be used.
  }
}

export function NextTask() {
  useEffect(() => void (known.value.length === 0 && load()), []);
  const { model, approvalMode } = preferences.value;
  const listed = model === "" || known.value.includes(model) ? known.value : [model, ...known.value];
  return (
    <>
      <select
        aria-label="Model"
        title="Model of the next task"
        value={model}
        onChange={(event) => prefer({ model: event.currentTarget.value })}
      >
        <option value="">Default model</option>
        {listed.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Approval mode"
        title={MODES.find(([mode]) => mode === approvalMode)?.[2]}
        value={approvalMode}
        onChange={(event) => prefer({ approvalMode: Number(event.currentTarget.value) })}
      >
        {MODES.map(([mode, name]) => (
          <option key={mode} value={mode}>
            Approvals: {name.toLowerCase()}
          </option>
        ))}
      </select>
    </>
  );
}
