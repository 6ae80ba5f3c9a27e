// How the connection stands: a word in the sidebar, a line across the page when it is broken.

import { useEffect, useState } from "preact/hooks";
import { brokenLink } from "../wire/links";
import { hurry } from "../wire/retry";

export function Connection() {
  const broken = brokenLink.value !== undefined;
  return (
    <span class={`connection ${broken ? "tone-bad" : "tone-good"}`} role="status" aria-label="Connection">
      <span class="connection-dot" aria-hidden="true" />
      {broken ? "Reconnecting" : "Live"}
    </span>
  );
}

export function Reconnecting() {
  const link = brokenLink.value;
  const seconds = useCountdown(link?.retryAt);
  if (link === undefined || link.attempt < 2) return null;
  return (
    <div class="banner" role="status">
      <span>
        Reconnecting… {seconds > 0 && `next try in ${seconds} s.`} Nothing is lost: what happens meanwhile is read then.
      </span>
      <button type="button" class="small" onClick={hurry}>
        Try now
      </button>
    </div>
  );
}

function useCountdown(until: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (until === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until === undefined ? 0 : Math.max(0, Math.ceil((until - now) / 1_000));
}
