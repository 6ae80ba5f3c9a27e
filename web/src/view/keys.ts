// Keyboard shortcuts. Never while something is being typed, and never with a modifier of the browser's.

import { answerWith, focusReason } from "./Approval";
import { fillDraft } from "./Composer";
import { dialog } from "./dialogs";
import { inspectorOpen } from "./inspector/open";
import { leave } from "./Sidebar";
import { goToWaiting } from "./waiting";

export interface Shortcut {
  keys: string;
  does: string;
  run: (event: KeyboardEvent) => void;
}

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

export const SHORTCUTS: Shortcut[] = [
  { keys: "1–9", does: "Give the approval the answer with this number", run: (event) => answerWith(Number(event.key)) },
  { keys: "r", does: "Write a reason for rejecting", run: () => focusReason() },
  { keys: "a", does: "Go to the next thing that waits for approval", run: () => goToWaiting() },
  { keys: "c", does: "Write a message", run: () => focus("#message") },
  { keys: "/", does: "Choose a slash command", run: () => fillDraft("/") },
  { keys: "n", does: "New conversation", run: () => leave({}) },
  { keys: "i", does: "Show or hide the wire inspector", run: () => (inspectorOpen.value = !inspectorOpen.value) },
  { keys: ",", does: "Settings", run: () => (dialog.value = "settings") },
  { keys: "?", does: "These shortcuts", run: () => (dialog.value = "help") },
];

export function listenToKeys(): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.value !== undefined) return;
    if (isTyping(event)) return;
    const name = /^[1-9]$/.test(event.key) ? "1–9" : event.key;
    const shortcut = SHORTCUTS.find((one) => one.keys === name);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run(event);
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

/** Looks into shadow roots too: editors live there. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
