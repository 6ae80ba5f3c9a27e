// Where CodeMirror's merge view is put on the page. It is loaded when the first one is shown.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "../editor/merge";

interface Props {
  name: string;
  before: string;
  after: string;
  /** Given, the right side can be edited. */
  onEdit?: (content: string) => void;
}

export function MergeEditor({ name, before, after, onEdit }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string>();
  const edit = useRef(onEdit);
  edit.current = onEdit;
  const editable = onEdit !== undefined;
  useEffect(() => {
    let editor: Editor | undefined;
    let gone = false;
    import("../editor/merge").then(
      ({ mergeEditor }) => {
        if (gone || host.current === null) return;
        const onEdit = editable ? { onEdit: (content: string) => edit.current?.(content) } : {};
        editor = mergeEditor(host.current, { name, before, after, ...onEdit });
      },
      () => setProblem("The editor could not be loaded. Reload the page to try again."),
    );
    return () => {
      gone = true;
      editor?.destroy();
    };
  }, [name, before, after, editable]);
  if (problem !== undefined) return <p class="failure">{problem}</p>;
  return <div ref={host} class="merge-host" data-editable={editable} />;
}
