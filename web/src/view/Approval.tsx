// The bar that asks. It shows exactly what would happen, and the server's own options.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ConfirmationOptionKind, type ConfirmationOption } from "#gen/agena/devtool/v1/tool_call_pb";
import { say } from "../state/announce";
import { rejects, type Draft } from "../state/answer";
import { answer, answering, asked, type Asked } from "../state/approvals";
import { Details } from "./Details";
import { Icon } from "./Icon";
import { blankAnswers } from "./questions";

/** Which of several is shown. */
const shown = signal<string | undefined>(undefined);

/** Brings a call that waits to the front, and the keyboard to it. */
export function showWaiting(toolCallId: string | undefined): void {
  shown.value = toolCallId;
  setTimeout(() => document.querySelector<HTMLElement>(".approval")?.focus(), 100);
}

export function shownWaiting(): string | undefined {
  return asked.value.find((one) => one.call.toolCallId === shown.value)?.call.toolCallId ?? asked.value[0]?.call.toolCallId;
}

/** Presses the button with this number, if it is there. */
export function answerWith(number: number): void {
  document.querySelector<HTMLButtonElement>(`.approval [data-shortcut="${number}"]`)?.click();
}

export function focusReason(): void {
  document.querySelector<HTMLElement>(".approval [data-focus=reason]")?.focus();
}

export function Approval() {
  const all = asked.value;
  const at = Math.max(0, all.findIndex((one) => one.call.toolCallId === shown.value));
  const current = all[at];
  if (current === undefined) return null;
  const step = (by: number) => (shown.value = all[(at + by + all.length) % all.length]?.call.toolCallId);
  return (
    <Bar key={current.call.toolCallId} asked={current}>
      {all.length > 1 && (
        <span class="approval-steps">
          <button type="button" class="small" onClick={() => step(-1)} aria-label="Previous approval">
            ‹
          </button>
          {at + 1} of {all.length}
          <button type="button" class="small" onClick={() => step(1)} aria-label="Next approval">
            ›
          </button>
        </span>
      )}
    </Bar>
  );
}

interface BarProps {
  asked: Asked;
  children: ComponentChildren;
}

function Bar({ asked: one, children }: BarProps) {
  const { call } = one;
  const request = call.confirmationRequest;
  const questions = request?.details.case === "genericDetails" ? request.details.value.questions : [];
  const [draft, setDraft] = useState<Draft>(() => (questions.length > 0 ? { answers: blankAnswers(questions) } : {}));
  const change = (more: Draft) => setDraft((now) => ({ ...now, ...more }));
  useEffect(() => say(`Approval needed: ${call.description ?? call.toolName}`), [call.toolCallId]);
  if (request === undefined) return null;
  const busy = answering.value.has(call.toolCallId);
  return (
    <section class="approval" aria-label="Approval" tabIndex={-1}>
      <header class="approval-head">
        <Icon name="ask" />
        <h2>
          <span class="tool-name">{call.toolName}</span> {call.description}
        </h2>
        {children}
      </header>
      <div class="approval-body">
        <Details call={call} draft={draft} change={change} />
      </div>
      <footer class="approval-foot">
        <Options options={request.options} busy={busy} choose={(option) => void answer(one, option, draft)} />
        <Reason options={request.options} draft={draft} change={change} />
      </footer>
    </section>
  );
}

interface OptionsProps {
  options: ConfirmationOption[];
  busy: boolean;
  choose: (option: ConfirmationOption) => void;
}

function Options({ options, busy, choose }: OptionsProps) {
  const main = options.find((option) => option.kind === ConfirmationOptionKind.ALLOW_ONCE);
  return (
    <div class="options" role="group" aria-label="Answers">
      {options.map((option, at) => (
        <button
          key={option.id}
          type="button"
          class={option === main ? "primary" : rejects(option) ? "danger" : ""}
          data-shortcut={at + 1}
          aria-keyshortcuts={String(at + 1)}
          title={option.description}
          disabled={busy}
          onClick={() => choose(option)}
        >
          {option.name}
          <kbd aria-hidden="true">{at + 1}</kbd>
        </button>
      ))}
    </div>
  );
}

interface ReasonProps {
  options: ConfirmationOption[];
  draft: Draft;
  change: (more: Draft) => void;
}

function Reason({ options, draft, change }: ReasonProps) {
  if (!options.some(rejects)) return null;
  return (
    <label class="reason">
      <span class="visually-hidden">Reason for rejecting</span>
      <input
        type="text"
        data-focus="reason"
        placeholder="Reason, if you reject"
        value={draft.reason ?? ""}
        onInput={(event) => change({ reason: event.currentTarget.value })}
      />
    </label>
  );
}
