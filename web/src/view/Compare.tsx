// A file before and after in editors side by side, for a change that is done. Only on demand: editors are heavy.

import type { FileDiff } from "#gen/agena/devtool/v1/tool_call_pb";
import { MergeEditor } from "./MergeEditor";
import { openness } from "./fold";

export function Compare({ id, diff }: { id: string; diff: FileDiff }) {
  const open = openness(`${id}:compare`, false);
  return (
    <>
      <button type="button" class="link" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {open.value ? "Hide the whole file" : "Compare the whole file"}
      </button>
      {open.value && (
        <MergeEditor name={diff.fileName} before={diff.oldContent ?? ""} after={diff.newContent} />
      )}
    </>
  );
}
