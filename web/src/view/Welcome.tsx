// The empty page. It teaches by examples; a click puts one into the composer.

import { rehearses } from "../state/models";
import { fillDraft } from "./Composer";

const EXAMPLES: [string, string][] = [
  ["create hello.py that prints hi", "Proposes a file. You see the diff, may change it, and allow it."],
  ["run ls -la", "Asks before the command runs, then shows what it prints."],
  ["list files", "Reading is free: no question."],
  ["plan: read the code, write a test, run it", "Makes a checklist."],
  ["ask me to choose between tea and coffee", "Asks you something, with a form."],
];

const SCRIPT = `Look around, then change something:
\`\`\`rehearsal
- think: {subject: Looking around, description: "First I look at **what is here**."}
- say: ["I will ", "look at the files ", "and write a note."]
- call: {tool: list_directory, with: {dir_path: .}}
- call: {tool: write_file, with: {file_path: note.md, content: "# Note\\n\\nWritten by the rehearsal.\\n"}}
- say: "Done. \`note.md\` is there."
\`\`\``;

export function Welcome() {
  return (
    <section class="welcome" aria-label="Welcome">
      <h2>What should the agent do?</h2>
      <p>
        It works in the server's workspace, reads freely, and asks before it changes anything. Everything that happens is
        kept: reload, restart the server, come back tomorrow.
      </p>
      <ul class="examples" aria-label="Examples">
        {EXAMPLES.map(([prompt, about]) => (
          <li key={prompt}>
            <button type="button" onClick={() => fillDraft(prompt)}>
              <span class="example-prompt">{prompt}</span>
              <span class="example-about">{about}</span>
            </button>
          </li>
        ))}
        {rehearses.value && (
          <li>
            <button type="button" onClick={() => fillDraft(SCRIPT)}>
              <span class="example-prompt">a script of your own</span>
              <span class="example-about">Without a model the server rehearses: a block in the prompt says what happens.</span>
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}
