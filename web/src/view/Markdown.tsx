// Text of the model. Only what changed is rendered again.

import { useMemo } from "preact/hooks";
import { render } from "./markdown";

export function Markdown({ text }: { text: string }) {
  const html = useMemo(() => ({ __html: render(text) }), [text]);
  return <div class="prose" dangerouslySetInnerHTML={html} />;
}
