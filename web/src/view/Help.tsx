// The keyboard shortcuts, from the table that they work by.

import { Dialog } from "./Dialog";
import { dialog } from "./dialogs";
import { SHORTCUTS } from "./keys";

const WRITING: [string, string][] = [
  ["Enter", "Send"],
  ["Shift+Enter", "New line"],
  ["↑ ↓ Tab", "Choose and complete a slash command"],
  ["Esc", "Leave the message; go to the approval, if one waits"],
];

export function Help() {
  return (
    <Dialog title="Keyboard shortcuts">
      <h3>Anywhere but in a field</h3>
      <Table rows={SHORTCUTS.map(({ keys, does }) => [keys, does])} />
      <h3>While writing</h3>
      <Table rows={WRITING} />
      <p>
        <button type="button" class="link" onClick={() => (dialog.value = "licenses")}>
          Licences of what this page is made of
        </button>
      </p>
    </Dialog>
  );
}

function Table({ rows }: { rows: [string, string][] }) {
  return (
    <dl class="keys">
      {rows.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
