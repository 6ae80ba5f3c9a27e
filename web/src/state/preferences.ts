// What the user chose, kept in this browser.

import { effect, signal } from "@preact/signals";
import { ApprovalMode } from "#gen/agena/devtool/v1/event_pb";

export interface Preferences {
  theme: "system" | "light" | "dark";
  /** Empty means the server's own. */
  model: string;
  /** Unspecified means the server's own. */
  approvalMode: ApprovalMode;
  /** For new conversations; empty means the server's own. */
  workspace: string;
}

const KEPT = "agena.preferences";
const PLAIN: Preferences = {
  theme: "system",
  model: "",
  approvalMode: ApprovalMode.APPROVAL_MODE_UNSPECIFIED,
  workspace: "",
};

function load(): Preferences {
  try {
    return { ...PLAIN, ...(JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Partial<Preferences>) };
  } catch {
    return PLAIN;
  }
}

export const preferences = signal<Preferences>(load());

export function prefer(change: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...change };
}

/** Writes every change down, and gives the page its theme. */
export function keepPreferences(): void {
  effect(() => {
    const { theme } = preferences.value;
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEPT, JSON.stringify(preferences.value));
    } catch {
      // They hold until the page is closed.
    }
  });
}
