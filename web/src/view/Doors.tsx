// The buttons that open dialogs. Those that are needed less stand in the sidebar where the screen is narrow.

import { prefer, preferences } from "../state/preferences";
import { Icon, type IconName } from "./Icon";
import { dialog, type DialogName } from "./dialogs";
import { drawerOpen } from "./drawer";

export function Doors() {
  return (
    <>
      <Door to="statistics" icon="chart" name="Statistics" />
      <ThemeSwitch />
      <Door to="help" icon="help" name="Keyboard shortcuts" />
    </>
  );
}

function open(to: DialogName): void {
  drawerOpen.value = false;
  dialog.value = to;
}

export function Door({ to, icon, name }: { to: DialogName; icon: IconName; name: string }) {
  return (
    <button type="button" class="bare" aria-label={name} title={name} onClick={() => open(to)}>
      <Icon name={icon} />
    </button>
  );
}

const NEXT = { system: "dark", dark: "light", light: "system" } as const;

function ThemeSwitch() {
  const { theme } = preferences.value;
  const name = `Theme: ${theme}`;
  return (
    <button type="button" class="bare" aria-label={name} title={name} onClick={() => prefer({ theme: NEXT[theme] })}>
      <Icon name="theme" />
    </button>
  );
}
