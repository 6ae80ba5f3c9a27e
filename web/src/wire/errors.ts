// What a failed call means, in words and for decisions.

import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb";

export interface Problem {
  code: Code;
  /** The server's stable word for it, such as `ALREADY_DECIDED`. */
  reason: string;
  message: string;
  metadata: Record<string, string>;
}

export function problemOf(error: unknown): Problem {
  const failed = ConnectError.from(error);
  const info = failed.findDetails(ErrorInfoSchema)[0];
  return {
    code: failed.code,
    reason: info?.reason ?? Code[failed.code] ?? "UNKNOWN",
    message: failed.rawMessage || "The server could not be reached.",
    metadata: info?.metadata ?? {},
  };
}

const PASSING = new Set([Code.Unavailable, Code.Unknown, Code.DeadlineExceeded, Code.Aborted, Code.Internal]);

/** Whether trying again can help: the server was not reached, or is on its way down or up. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(ConnectError.from(error).code);
}

export function isRefused(error: unknown): boolean {
  return ConnectError.from(error).code === Code.Unauthenticated;
}
