// The models that can be asked.

import { computed, signal } from "@preact/signals";
import { listModels } from "../wire/client";

export const modelNames = signal<string[]>([]);

/** Without a model the server rehearses, and understands scripts. */
export const rehearses = computed(() => modelNames.value.includes("rehearsal"));

export async function loadModels(): Promise<void> {
  if (modelNames.value.length > 0) return;
  try {
    modelNames.value = await listModels();
  } catch {
    // The server's own model can still be used.
  }
}
