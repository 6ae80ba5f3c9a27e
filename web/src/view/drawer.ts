// On a narrow screen the sidebar lies over the page, when it is asked for.

import { signal } from "@preact/signals";

export const drawerOpen = signal(false);
