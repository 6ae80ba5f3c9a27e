// What the console is made of, and on which terms.

import { licenses } from "#gen/licenses";
import { Dialog } from "./Dialog";

export function Licenses() {
  return (
    <Dialog title="Licences">
      <pre class="licenses" tabIndex={0} aria-label="Licences">
        {licenses}
      </pre>
    </Dialog>
  );
}
