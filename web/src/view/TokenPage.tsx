// Asks for the token, when the server does.

import { useState } from "preact/hooks";
import { access } from "../wire/access";
import { devtool } from "../wire/client";
import { isRefused, problemOf } from "../wire/errors";
import { forgetToken, keepToken, token } from "../wire/token";

export function TokenPage({ granted }: { granted: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(token() === undefined ? "" : "The token that this browser has is refused.");
  const submit = async () => {
    setBusy(true);
    keepToken(typed.trim());
    try {
      await devtool.listContexts({ pageSize: 1 });
      granted();
    } catch (error) {
      if (isRefused(error)) forgetToken();
      access.value = "refused";
      setProblem(isRefused(error) ? "This token is refused. Is it of another data directory?" : problemOf(error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="token-page">
      <form
        aria-label="Sign in"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <span class="brand-mark" aria-hidden="true" />
        <h1>Agena</h1>
        <p>The server asks for its token. On the machine where it runs, this prints it:</p>
        <pre class="command">agena token</pre>
        <label class="field">
          Token
          <input
            type="password"
            autocomplete="off"
            autofocus
            value={typed}
            aria-describedby="token-problem"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <p id="token-problem" class="failure" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={busy || typed.trim() === ""}>
          Connect
        </button>
        <p class="dim">
          The address in the server's banner has the token in it; it is kept in this browser and sent to this server alone.
        </p>
      </form>
    </main>
  );
}
