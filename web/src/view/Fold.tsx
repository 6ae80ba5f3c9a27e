// Something that can be unfolded, and stays so.

import type { ComponentChildren } from "preact";
import { openness } from "./fold";

interface Props {
  id: string;
  summary: ComponentChildren;
  open?: boolean;
  class?: string;
  children: ComponentChildren;
}

export function Fold({ id, summary, open = false, class: name = "", children }: Props) {
  const unfolded = openness(id, open);
  const toggled = (event: Event) => (unfolded.value = (event.currentTarget as HTMLDetailsElement).open);
  return (
    <details class={`fold ${name}`} open={unfolded.value} onToggle={toggled}>
      <summary>{summary}</summary>
      {unfolded.value && <div class="fold-body">{children}</div>}
    </details>
  );
}
