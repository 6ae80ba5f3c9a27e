// One message: as JSON, as protobuf, and its call as a command.

import { useState } from "preact/hooks";
import type { JsonObject } from "@bufbuild/protobuf";
import { curl, grpcurl } from "../../wire/curl";
import { readTrailers } from "../../wire/frames";
import type { Entry } from "../../wire/log";
import { methodOf } from "../../wire/methods";
import { hexDump, jsonOf, textOf } from "../../wire/show";
import { token } from "../../wire/token";
import { copy } from "../copy";
import { exactTime, size } from "../words";

interface Props {
  entry: Entry;
  all: readonly Entry[];
}

export function Shown({ entry, all }: Props) {
  const [tab, setTab] = useState<"json" | "proto">("json");
  const { json, text } = decoded(entry);
  return (
    <section class="shown" aria-label="Message">
      <p class="shown-head dim">
        <code>
          {entry.service}/{entry.method}
        </code>
        {exactTime(entry.time)}, {size(entry.bytes.length)}
      </p>
      <Copies entry={entry} all={all} />
      <div role="tablist" aria-label="Form" class="tabs">
        <Tab name="JSON" on={tab === "json"} press={() => setTab("json")} />
        <Tab name="Proto" on={tab === "proto"} press={() => setTab("proto")} />
      </div>
      <div role="tabpanel" aria-label={tab === "json" ? "JSON" : "Proto"} class="shown-body" tabIndex={0}>
        {tab === "json" ? (
          <pre>{json}</pre>
        ) : (
          <>
            <pre>{text}</pre>
            <pre class="hex">{hexDump(entry.bytes)}</pre>
          </>
        )}
      </div>
    </section>
  );
}

function Tab({ name, on, press }: { name: string; on: boolean; press: () => void }) {
  return (
    <button type="button" role="tab" class="small" aria-selected={on} onClick={press}>
      {name}
    </button>
  );
}

function decoded(entry: Entry): { json: string; text: string } {
  if (entry.direction === "failure") return { json: entry.note ?? "", text: entry.note ?? "" };
  if (entry.direction === "trailers") {
    const trailers = readTrailers(entry.bytes);
    const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}`);
    return { json: JSON.stringify(trailers, null, 2), text: lines.join("\n") };
  }
  const method = methodOf(entry.service, entry.method);
  if (method === undefined) return { json: "The schema of this method is not known here.", text: "" };
  const schema = entry.direction === "request" ? method.input : method.output;
  try {
    return { json: JSON.stringify(jsonOf(schema, entry.bytes), null, 2), text: textOf(schema, entry.bytes) };
  } catch (error) {
    return { json: `This cannot be read: ${String(error)}`, text: "" };
  }
}

/** The call that the message belongs to, for a shell. */
function Copies({ entry, all }: Props) {
  const request = all.find((one) => one.call === entry.call && one.direction === "request");
  const method = methodOf(entry.service, entry.method);
  if (request === undefined || method === undefined) return null;
  const body = jsonOf(method.input, request.bytes) as JsonObject;
  const authorized = token() !== undefined;
  const overJson = curl(method, body, location.origin, authorized);
  const overGrpc = grpcurl(method, body, location.origin, authorized);
  return (
    <p class="copies">
      {overJson !== undefined && (
        <button type="button" class="small" onClick={() => void copy(overJson, "curl")}>
          Copy as curl
        </button>
      )}
      <button type="button" class="small" onClick={() => void copy(overGrpc, "grpcurl")}>
        Copy as grpcurl
      </button>
    </p>
  );
}
