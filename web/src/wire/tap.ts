// A fetch that shows the inspector what passes. It changes nothing of it.

import { FrameCutter } from "./frames";
import { beginCall, record, type Direction } from "./log";

const PREFIX = 5;

export const tappedFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input, location.href);
  const [, service = "", method = ""] = url.pathname.split("/");
  const call = beginCall();
  const note = (direction: Direction, bytes: Uint8Array, text?: string) =>
    record({ call, service, method, direction, bytes, ...(text === undefined ? {} : { note: text }) });
  const body: unknown = init?.body;
  if (body instanceof Uint8Array) note("request", new Uint8Array(body.subarray(PREFIX)));
  try {
    const response = await fetch(input, init);
    return response.body === null ? response : tapped(response, response.body, note);
  } catch (error) {
    note("failure", new Uint8Array(0), String(error));
    throw error;
  }
};

type Note = (direction: Direction, bytes: Uint8Array, text?: string) => void;

function tapped(response: Response, body: ReadableStream<Uint8Array>, note: Note): Response {
  const cutter = new FrameCutter();
  const show = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const frame of cutter.push(chunk)) note(frame.trailer ? "trailers" : "message", frame.payload);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  // A call that fails at once has its status in the headers and no body.
  if (headers.has("grpc-status")) note("trailers", statusFromHeaders(headers));
  return new Response(body.pipeThrough(show), { status, statusText, headers });
}

function statusFromHeaders(headers: Headers): Uint8Array {
  const lines = [...headers].filter(([name]) => name.startsWith("grpc-")).map(([name, value]) => `${name}: ${value}`);
  return new TextEncoder().encode(lines.join("\r\n"));
}
