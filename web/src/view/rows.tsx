// One row of the conversation: an item, or the line between two tasks.

import type { Artifact, Part } from "#gen/lf/a2a/v1/a2a_pb";
import { TaskState } from "#gen/lf/a2a/v1/a2a_pb";
import type { AnswerItem, ArtifactItem, Item, NoticeItem, TaskView, ThoughtItem, UserItem } from "../state/model";
import { Fold } from "./Fold";
import { Icon } from "./Icon";
import { openness } from "./fold";
import { Markdown } from "./Markdown";
import { Output } from "./Output";
import { Failure } from "./Result";
import { State } from "./State";
import { TaskLine } from "./TaskLine";
import { ToolCard } from "./ToolCard";
import { count, exactTime, pretty, shortTime, size, stateWord } from "./words";

/** The line that begins a task. */
export interface TaskRow {
  kind: "task";
  key: string;
  revision: number;
  view: TaskView;
}

export type AnyRow = Item | TaskRow;

export interface Placed<T> {
  item: T;
  revision: number;
  position: number;
}

export function renderRow(row: AnyRow, position: number) {
  // Items change in place; the revision tells their component.
  const place = { revision: row.revision, position };
  switch (row.kind) {
    case "task":
      return <TaskLine view={row.view} position={position} />;
    case "user":
      return <User item={row} {...place} />;
    case "answer":
      return <Answer item={row} {...place} />;
    case "thought":
      return <Thought item={row} {...place} />;
    case "call":
      return <ToolCard item={row} {...place} />;
    case "artifact":
      return <ArtifactCard item={row} {...place} />;
    case "notice":
      return <NoticeCard item={row} {...place} />;
  }
}

function User({ item, position }: Placed<UserItem>) {
  return (
    <article class="said said-user" aria-label="You" aria-posinset={position} aria-setsize={-1}>
      <UserText item={item} />
      <time class="said-time" title={exactTime(item.time)}>
        {shortTime(item.time)}
      </time>
    </article>
  );
}

// Longer texts take long to lay out, and few read them here.
const LONG = 3_000;

function UserText({ item }: { item: UserItem }) {
  const whole = openness(item.key, false);
  if (item.text.length <= LONG) return <p class="said-text">{item.text}</p>;
  return (
    <div>
      <p class="said-text">{whole.value ? item.text : `${item.text.slice(0, LONG)}…`}</p>
      <button type="button" class="link" onClick={() => (whole.value = !whole.value)}>
        {whole.value ? "Show less" : `Show all ${count(item.text.length)} characters`}
      </button>
    </div>
  );
}

function Answer({ item, position }: Placed<AnswerItem>) {
  return (
    <article class="said said-agent" aria-label="Agent" aria-posinset={position} aria-setsize={-1} aria-busy={item.open}>
      <Markdown text={item.text} />
      {item.open && <span class="caret" aria-hidden="true" />}
    </article>
  );
}

function Thought({ item, position }: Placed<ThoughtItem>) {
  const { subject, description } = item.thought;
  const summary = (
    <>
      <Icon name="thought" /> <span>{subject || "Thought"}</span>
    </>
  );
  return (
    <article class="thought" aria-label={`Thought: ${subject}`} aria-posinset={position} aria-setsize={-1}>
      <Fold id={item.key} summary={summary} class="quiet">
        <Markdown text={description} />
      </Fold>
    </article>
  );
}

function NoticeCard({ item, position }: Placed<NoticeItem>) {
  const question = item.state === TaskState.INPUT_REQUIRED;
  return (
    <article
      class={`notice ${question ? "notice-question" : ""}`}
      aria-label={question ? "Question" : stateWord(item.state).text}
      aria-posinset={position}
      aria-setsize={-1}
    >
      <State word={stateWord(item.state)} />
      {item.text !== "" && <Markdown text={item.text} />}
      {item.error && item.error.message !== item.text && <Failure error={item.error} />}
    </article>
  );
}

function ArtifactCard({ item, position }: Placed<ArtifactItem>) {
  const { artifact } = item;
  const name = artifact.name || "unnamed";
  const summary = (
    <>
      <Icon name="file" /> <span class="file-name">{name}</span> <span class="dim">{aboutArtifact(artifact)}</span>
    </>
  );
  return (
    <article class="card artifact" aria-label={`Artifact: ${name}`} aria-posinset={position} aria-setsize={-1}>
      <Fold id={item.key} summary={summary} class="quiet">
        {artifact.description && <p>{artifact.description}</p>}
        {artifact.parts.map((part, at) => (
          <PartView key={at} id={`${item.key}:${at}`} part={part} />
        ))}
      </Fold>
    </article>
  );
}

function aboutArtifact({ parts }: Artifact): string {
  const bytes = parts.reduce((sum, { content }) => sum + (content.case === "raw" ? content.value.length : 0), 0);
  const kinds = [...new Set(parts.map((part) => part.mediaType).filter((kind) => kind !== ""))];
  return [...kinds, ...(bytes > 0 ? [size(bytes)] : [])].join(", ");
}

function PartView({ id, part }: { id: string; part: Part }) {
  const { content } = part;
  switch (content.case) {
    case "text":
      return <Output id={id} text={content.value} label="Text" />;
    case "raw":
      return <Raw id={id} part={part} bytes={content.value} />;
    case "url":
      return (
        <a href={safeLink(content.value)} target="_blank" rel="noopener noreferrer">
          {content.value}
        </a>
      );
    case "data":
      return <Output id={id} text={pretty(content.value)} label="Data" />;
    default:
      return null;
  }
}

function safeLink(url: string): string | undefined {
  return /^https?:/i.test(url) ? url : undefined;
}

function Raw({ id, part, bytes }: { id: string; part: Part; bytes: Uint8Array }) {
  const isText = /^text\/|json|xml|yaml|toml|javascript/.test(part.mediaType);
  const save = () => download(bytes, part.filename || "artifact", part.mediaType);
  return (
    <>
      {isText && <Output id={id} text={new TextDecoder().decode(bytes)} label={part.filename || "File"} />}
      <button type="button" class="link" onClick={save}>
        Download {part.filename || "file"}
      </button>
    </>
  );
}

function download(bytes: Uint8Array, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: type || "application/octet-stream" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
