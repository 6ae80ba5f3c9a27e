// Reads a unified diff. Pure.

export interface DiffLine {
  kind: "add" | "del" | "same" | "hunk";
  text: string;
}

/** The lines to show; the names of the files stand elsewhere. */
export function diffLines(text: string): DiffLine[] {
  const lines = text.replace(/\n$/, "").split("\n");
  let inHunk = false;
  const shown: DiffLine[] = [];
  for (const line of lines) {
    if (line.startsWith("@@")) inHunk = true;
    if (inHunk) shown.push({ kind: kindOf(line), text: line });
  }
  return shown;
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("@@") || line.startsWith("\\")) return "hunk";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : "same";
}

export function changedLines(text: string): { added: number; removed: number } {
  const lines = diffLines(text);
  const amount = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: amount("add"), removed: amount("del") };
}
