// What holds for new conversations, what was allowed for good, and the token of this browser.

import { Dialog } from "./Dialog";
import { Rules } from "./Rules";
import { prefer, preferences } from "../state/preferences";
import { access } from "../wire/access";
import { forgetToken, token } from "../wire/token";
import { dialog } from "./dialogs";

export function Settings() {
  const { workspace, theme } = preferences.value;
  const forget = () => {
    forgetToken();
    dialog.value = undefined;
    access.value = "refused";
  };
  return (
    <Dialog title="Settings">
      <label class="field">
        Workspace of new conversations
        <input
          type="text"
          spellcheck={false}
          placeholder="The server's own"
          value={workspace}
          onInput={(event) => prefer({ workspace: event.currentTarget.value.trim() })}
        />
        <span class="dim">An absolute path that the server allows. Empty means its own.</span>
      </label>
      <label class="field">
        Theme
        <select
          value={theme}
          onChange={(event) => prefer({ theme: event.currentTarget.value as typeof theme })}
        >
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <Rules />
      {token() !== undefined && (
        <section>
          <h3>Token</h3>
          <p class="dim">Kept in this browser, sent to this server alone.</p>
          <button type="button" class="small" onClick={forget}>
            Forget the token
          </button>
        </section>
      )}
    </Dialog>
  );
}
