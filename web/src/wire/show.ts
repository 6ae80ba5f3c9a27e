// A message for people: as JSON, as the text form of protobuf, and as bytes. Pure.

import { fromBinary, toJson, ScalarType, type DescMessage, type JsonValue } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { DescField } from "@bufbuild/protobuf";

/** ProtoJSON with the names of the schema, as the JSON paths have it. */
export function jsonOf(schema: DescMessage, bytes: Uint8Array): JsonValue {
  return toJson(schema, fromBinary(schema, bytes), { useProtoFieldName: true });
}

export function textOf(schema: DescMessage, bytes: Uint8Array): string {
  return lines(reflect(schema, fromBinary(schema, bytes)), "").join("\n");
}

function lines(message: ReflectMessage, indent: string): string[] {
  return message.fields.filter((field) => message.isSet(field)).flatMap((field) => fieldLines(message, field, indent));
}

function fieldLines(message: ReflectMessage, field: DescField, indent: string): string[] {
  const value: unknown = message.get(field);
  const { name } = field;
  switch (field.fieldKind) {
    case "list":
      return [...(value as Iterable<unknown>)].flatMap((one) => singleLines(name, one, kindOf(field), indent));
    case "map":
      return [...(value as Iterable<[unknown, unknown]>)].flatMap(([key, one]) => [
        `${indent}${name} {`,
        ...singleLines("key", key, { scalar: field.mapKey }, `${indent}  `),
        ...singleLines("value", one, kindOf(field), `${indent}  `),
        `${indent}}`,
      ]);
    default:
      return singleLines(name, value, kindOf(field), indent);
  }
}

interface Kind {
  scalar?: ScalarType | undefined;
  enumName?: ((number: number) => string) | undefined;
}

function kindOf(field: DescField): Kind {
  const { enum: kinds } = field;
  if (kinds === undefined) return { scalar: field.scalar };
  return { enumName: (number) => kinds.value[number]?.name ?? String(number) };
}

function singleLines(name: string, value: unknown, kind: Kind, indent: string): string[] {
  if (isMessage(value)) return [`${indent}${name} {`, ...lines(value, `${indent}  `), `${indent}}`];
  return [`${indent}${name}: ${scalarText(value, kind)}`];
}

function isMessage(value: unknown): value is ReflectMessage {
  return typeof value === "object" && value !== null && "message" in value && "fields" in value;
}

function scalarText(value: unknown, { scalar, enumName }: Kind): string {
  if (enumName !== undefined) return enumName(value as number);
  if (scalar === ScalarType.BYTES) return `"${escapeBytes(value as Uint8Array)}"`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function escapeBytes(bytes: Uint8Array): string {
  const shown = [...bytes.subarray(0, 256)].map(escapeByte).join("");
  return bytes.length > 256 ? `${shown}…` : shown;
}

function escapeByte(byte: number): string {
  const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92;
  return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
}

const ROW = 16;

/** Offset, sixteen bytes, and what of them is readable. */
export function hexDump(bytes: Uint8Array, most = 4_096): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += ROW) {
    const row = [...bytes.subarray(at, Math.min(at + ROW, most))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const seen = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    rows.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(ROW * 3 - 1)}  ${seen}`);
  }
  if (bytes.length > most) rows.push(`… ${bytes.length - most} more bytes`);
  return rows.join("\n");
}
