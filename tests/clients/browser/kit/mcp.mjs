// A small MCP server on standard streams, with one tool: `repeat` says what it is told.

import { createInterface } from "node:readline";

const schema = { type: "object", properties: { words: { type: "string" } }, required: ["words"] };
const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "parrot", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "repeat", description: "Says it again.", inputSchema: schema }] }),
  "tools/call": ({ arguments: { words } }) => ({ content: [{ type: "text", text: `${words}, ${words}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  // Notifications are not answered.
  if (id === undefined) continue;
  const answer = METHODS[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
}
