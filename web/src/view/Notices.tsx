// Short words at the edge of the page, and the same for screen readers.

import { dismiss, notices, spoken } from "../state/announce";
import { Icon } from "./Icon";

export function Notices() {
  const calm = notices.value.filter((notice) => !notice.urgent);
  const urgent = notices.value.filter((notice) => notice.urgent);
  return (
    <div class="notices">
      <p class="visually-hidden" role="status" aria-live="polite">
        {spoken.value}
      </p>
      <div role="status">
        {calm.map((notice) => (
          <p key={notice.id} class="toast">
            {notice.text}
          </p>
        ))}
      </div>
      <div role="alert">
        {urgent.map((notice) => (
          <p key={notice.id} class="toast toast-bad">
            {notice.text}
            <button type="button" class="bare" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
              <Icon name="close" />
            </button>
          </p>
        ))}
      </div>
    </div>
  );
}
