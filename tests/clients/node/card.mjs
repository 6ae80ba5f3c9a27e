// Calls Agena over gRPC-Web and HTTP/1.1, as a web page does, with @connectrpc/connect-web.
//
//     cd tests/clients && npm ci && npx buf generate ../../proto --template buf.gen.yaml -o node
//     node node/card.mjs http://127.0.0.1:41242 "$(agena token)"
//
// Prints a line per case and exits 1 if one fails.

import assert from "node:assert/strict";
import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { A2AService } from "./gen/lf/a2a/v1/a2a_pb.js";
import { BadRequestSchema } from "./gen/google/rpc/error_details_pb.js";

const [url, token] = process.argv.slice(2);
if (!url || !token) {
  console.error("usage: card.mjs URL TOKEN");
  process.exit(2);
}

function client(key) {
  const authorize = (next) => (request) => {
    request.header.set("Authorization", `Bearer ${key}`);
    return next(request);
  };
  // A call that takes longer has hung.
  const options = { baseUrl: url, interceptors: [authorize], defaultTimeoutMs: 10_000 };
  const transport = createGrpcWebTransport(options);
  return createClient(A2AService, transport);
}

/** The error that a call must end in. */
async function failure(call) {
  const answer = await call.then(
    (value) => value,
    (reason) => ConnectError.from(reason),
  );
  assert.ok(answer instanceof ConnectError, "no error");
  return answer;
}

const cases = {
  "GetExtendedAgentCard tells the card": async () => {
    const card = await client(token).getExtendedAgentCard({});
    assert.equal(card.name, "Agena");
    assert.deepEqual(
      card.supportedInterfaces.map((one) => one.protocolBinding),
      ["GRPC", "JSONRPC", "HTTP+JSON", "JSONRPC", "GRPC", "HTTP+JSON"],
    );
  },

  "SendMessage without message names the field": async () => {
    const error = await failure(client(token).sendMessage({}));
    assert.equal(error.code, Code.InvalidArgument);
    const fields = error.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
    assert.deepEqual(
      fields.map((violation) => violation.field),
      ["message"],
    );
  },

  "a wrong token is UNAUTHENTICATED": async () => {
    const error = await failure(client("wrong").getExtendedAgentCard({}));
    assert.equal(error.code, Code.Unauthenticated);
  },

  "an unknown task is NOT_FOUND": async () => {
    const error = await failure(client(token).getTask({ id: "1" }));
    assert.equal(error.code, Code.NotFound);
  },

  "a stream that fails at once says why": async () => {
    const stream = client(token).sendStreamingMessage({});
    const error = await failure(stream[Symbol.asyncIterator]().next());
    assert.equal(error.code, Code.InvalidArgument);
    assert.equal(error.findDetails(BadRequestSchema).length, 1);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${String(error).replaceAll("\n", " ")}`);
  }
}
process.exitCode = failed ? 1 : 0;
