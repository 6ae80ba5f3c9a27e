// The caller's token: where it comes from and where it is kept. Nothing else may read it from the address.

const KEPT = "agena.token";

/** Takes the token out of `#token=...`, if one is there, and leaves no trace of it in the address or the history. */
export function takeFromAddress(location: Location, history: History): boolean {
  const found = fragmentToken(location.hash);
  if (found === undefined) return false;
  keepToken(found.token);
  history.replaceState(null, "", `${location.pathname}${location.search}${found.rest}`);
  return true;
}

/** The token in a fragment, and the fragment without it. */
export function fragmentToken(hash: string): { token: string; rest: string } | undefined {
  const members = hash.replace(/^#/, "").split("&");
  const named = members.find((member) => member.startsWith("token="));
  if (named === undefined) return undefined;
  const others = members.filter((member) => member !== named && member !== "");
  const token = decoded(named.slice("token=".length));
  return { token, rest: others.length > 0 ? `#${others.join("&")}` : "#/" };
}

/** What is no percent-encoding is taken as it is; the server will say what it thinks of it. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Storage can be forbidden by the browser; then the token lives as long as the page.
let inMemory: string | undefined;

export function keepToken(token: string): void {
  inMemory = token;
  try {
    localStorage.setItem(KEPT, token);
  } catch {
    // Kept in memory alone.
  }
}

export function forgetToken(): void {
  inMemory = undefined;
  try {
    localStorage.removeItem(KEPT);
  } catch {
    // There was none.
  }
}

export function token(): string | undefined {
  try {
    return inMemory ?? localStorage.getItem(KEPT) ?? undefined;
  } catch {
    return inMemory;
  }
}
