// Model and approval mode of the next task.

import { useEffect } from "preact/hooks";
import { loadModels, modelNames } from "../state/models";
import { prefer, preferences } from "../state/preferences";
import { MODES } from "./words";


export function NextTask() {
  useEffect(() => void loadModels(), []);
  const { model, approvalMode } = preferences.value;
  const listed = model === "" || modelNames.value.includes(model) ? modelNames.value : [model, ...modelNames.value];
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
