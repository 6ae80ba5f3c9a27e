// The server's services. Everything that the console asks for goes through here.

import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { signal } from "@preact/signals";
import { DevelopmentToolService } from "#gen/agena/devtool/v1/service_pb";
import { isRefused } from "./errors";
import { tappedFetch } from "./tap";
import { token } from "./token";

/** `refused` as soon as one call was; the page then asks for a token. */
export const access = signal<"unknown" | "granted" | "refused">("unknown");

const authorize: Interceptor = (next) => async (request) => {
  const held = token();
  if (held !== undefined) request.header.set("Authorization", `Bearer ${held}`);
  try {
    const response = await next(request);
    // A stream tells that it was refused only when it is read: the caller of that looks itself.
    if (!response.stream) access.value = "granted";
    return response;
  } catch (error) {
    if (isRefused(error)) access.value = "refused";
    throw error;
  }
};

const transport = createGrpcWebTransport({
  baseUrl: location.origin,
  interceptors: [authorize],
  fetch: tappedFetch,
});

export const devtool = createClient(DevelopmentToolService, transport);

interface ModelList {
  data?: { id?: unknown }[];
}

/** The names of the models. Over JSON: the schema of OpenAI's whole API would be a large part of this page. */
export async function listModels(): Promise<string[]> {
  const held = token();
  const headers: HeadersInit = held === undefined ? {} : { Authorization: `Bearer ${held}` };
  const response = await fetch("/v1/models", { headers });
  if (!response.ok) return [];
  const { data = [] } = (await response.json()) as ModelList;
  return data.map((model) => model.id).filter((id) => typeof id === "string");
}
