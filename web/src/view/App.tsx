// The page. What is loaded on demand is loaded here.

import { useEffect, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { watchAnswers } from "../state/approvals";
import { followRoute } from "../state/conversation";
import { route } from "../state/route";
import { pendingCount, watch } from "../state/tasks";
import { access } from "../wire/client";
import { Approval } from "./Approval";
import { Composer } from "./Composer";
import { Reconnecting } from "./Connection";
import { Conversation } from "./Conversation";
import { Header } from "./Header";
import { Notices } from "./Notices";
import { Sidebar } from "./Sidebar";
import { TokenPage } from "./TokenPage";
import { Welcome } from "./Welcome";
import { dialog } from "./dialogs";
import { drawerOpen } from "./drawer";
import { inspectorOpen } from "./inspector/open";
import { listenToKeys } from "./keys";

export function App() {
  const refused = access.value === "refused";
  return refused ? <TokenPage granted={() => (access.value = "granted")} /> : <Console />;
}

function Console() {
  useEffect(() => {
    const stop = new AbortController();
    watch(stop.signal);
    const leave = followRoute();
    const deaf = listenToKeys();
    const done = watchAnswers();
    return () => {
      stop.abort();
      leave();
      deaf();
      done();
    };
  }, []);
  useEffect(() => {
    const waiting = pendingCount.value;
    document.title = waiting > 0 ? `(${waiting}) Agena` : "Agena";
  }, [pendingCount.value]);
  return (
    <div class="page" data-inspector={inspectorOpen.value}>
      <a class="skip" href="#message" onClick={skip}>
        Skip to the message
      </a>
      <Sidebar />
      {drawerOpen.value && <div class="veil" onClick={() => (drawerOpen.value = false)} />}
      <main class="main" inert={drawerOpen.value}>
        <Header />
        <Reconnecting />
        {route.value.contextId === undefined ? <Welcome /> : <Conversation />}
        <Approval />
        <Composer />
      </main>
      {inspectorOpen.value && <Lazy load={() => import("./inspector/Inspector").then((part) => part.Inspector)} />}
      {dialog.value === "settings" && <Lazy load={() => import("./Settings").then((part) => part.Settings)} />}
      {dialog.value === "statistics" && <Lazy load={() => import("./StatisticsDialog").then((part) => part.StatisticsDialog)} />}
      {dialog.value === "help" && <Lazy load={() => import("./Help").then((part) => part.Help)} />}
      <Notices />
    </div>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#message")?.focus();
}

function Lazy({ load }: { load: () => Promise<ComponentType> }) {
  const [part, setPart] = useState<{ Part: ComponentType }>();
  useEffect(() => void load().then((Part) => setPart({ Part })), []);
  return part === undefined ? null : <part.Part />;
}
