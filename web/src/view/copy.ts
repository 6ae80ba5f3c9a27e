// To the clipboard.

import { announce, complain } from "../state/announce";

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied: ${what}.`);
  } catch {
    complain("The browser did not let the page use the clipboard.");
  }
}
