// The same call for a shell: over its JSON path with curl, and over gRPC with grpcurl. Pure. The token is never written
// out; `$TOKEN` stands in its place.

import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ruleOf } from "./methods";

const AUTHORIZE = `-H "Authorization: Bearer $TOKEN"`;

export function grpcurl(method: DescMethod, request: JsonObject, origin: string, authorized: boolean): string {
  const { host, protocol } = new URL(origin);
  const plain = protocol === "http:" ? ["-plaintext"] : [];
  const header = authorized ? [AUTHORIZE] : [];
  const target = `${host} ${method.parent.typeName}/${method.name}`;
  return ["grpcurl", ...plain, ...header, `-d ${quote(JSON.stringify(request))}`, target].join(" \\\n  ");
}

/** Nothing if the method has no JSON path, as bidirectional streams have none. */
export function curl(method: DescMethod, request: JsonObject, origin: string, authorized: boolean): string | undefined {
  const call = httpCall(method, request);
  if (call === undefined) return undefined;
  const streams = method.methodKind === "server_streaming" ? ["-N"] : [];
  const verb = call.verb === "GET" ? [] : [`-X ${call.verb}`];
  const header = authorized ? [AUTHORIZE] : [];
  const json = "-H 'Content-Type: application/json'";
  const body = call.body === undefined ? [] : [json, `-d ${quote(JSON.stringify(call.body))}`];
  return ["curl -sS", ...streams, ...verb, ...header, ...body, quote(origin + call.path)].join(" \\\n  ");
}

interface HttpCall {
  verb: string;
  path: string;
  body?: JsonValue;
}

export function httpCall(method: DescMethod, request: JsonObject): HttpCall | undefined {
  const rule = ruleOf(method);
  if (rule === undefined || rule.pattern.case === undefined || typeof rule.pattern.value !== "string") return undefined;
  const rest = structuredClone(request);
  const path = rule.pattern.value.replace(/\{([^}=]+)(?:=[^}]*)?\}/g, (_, name: string) =>
    encodeURIComponent(String(take(rest, name.split(".")) ?? "")),
  );
  const verb = rule.pattern.case.toUpperCase();
  if (rule.body === "*") return { verb, path, body: rest };
  const body = rule.body === "" ? undefined : (take(rest, [rule.body]) ?? {});
  return { verb, path: path + query(rest), ...(body === undefined ? {} : { body }) };
}

/** Takes a member out of an object, as it stands in the path now. */
function take(from: JsonObject, [head, ...tail]: string[]): JsonValue | undefined {
  if (head === undefined) return undefined;
  const value = from[head];
  if (tail.length > 0) return isObject(value) ? take(value, tail) : undefined;
  delete from[head];
  return value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function query(rest: JsonObject): string {
  const pairs = parameters(rest, "").map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}

function parameters(object: JsonObject, prefix: string): [string, string][] {
  return Object.entries(object).flatMap(([name, value]): [string, string][] => {
    const full = prefix + name;
    if (isObject(value)) return parameters(value, `${full}.`);
    return (Array.isArray(value) ? value : [value]).map((one): [string, string] => [full, String(one)]);
  });
}

/** One word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
