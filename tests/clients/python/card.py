"""Calls Agena with grpcio, knowing nothing but its address: the server tells the schema.

    python card.py 127.0.0.1:41242 "$(agena token)"
    python card.py localhost:8443 "$(agena token)" --ca cert.pem

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status

A2A = "lf.a2a.v1.A2AService"
HEALTH = "grpc.health.v1.Health"
# A call that takes longer than this has hung.
TIMEOUT = 10.0


class Client:
    """One channel, and the calls of one service by the schema that reflection gave."""

    def __init__(self, channel: grpc.Channel, token: str) -> None:
        self.channel = channel
        self.token = token

    @cached_property
    def service(self) -> ServiceDescriptor:
        database = ProtoReflectionDescriptorDatabase(self.channel)
        return descriptor_pool.DescriptorPool(database).FindServiceByName(A2A)

    def call(self, method: str, token: str | None = None, **fields: Any) -> Message:
        """A unary call. `fields` is the request, by its field names."""
        described = self.service.methods_by_name[method]
        request = message_factory.GetMessageClass(described.input_type)(**fields)
        response = message_factory.GetMessageClass(described.output_type)
        invoke = self.channel.unary_unary(
            f"/{A2A}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        metadata = [("authorization", f"Bearer {token or self.token}")]
        return invoke(request, metadata=metadata, timeout=TIMEOUT)


def expect(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} instead of {expected!r}")


def failure(call: Callable[[], object]) -> grpc.RpcError:
    """The error that a call must end in."""
    try:
        answer = call()
    except grpc.RpcError as error:
        return error
    raise AssertionError(f"no error but {answer!r}")


def services(channel: grpc.Channel, version: str) -> set[str]:
    """What reflection lists. Both versions have the same messages; only the name of the service differs."""
    list_services = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answers: Iterator[Any] = list_services(iter([request]), timeout=TIMEOUT)
    return {service.name for answer in answers for service in answer.list_services_response.service}


def reflection_lists_the_services(client: Client, version: str) -> None:
    listed = services(client.channel, version)
    expect({A2A, HEALTH} - listed, set())


def health_says_serving(client: Client) -> None:
    stub = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", A2A):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=TIMEOUT)
        expect(answer.status, health_pb2.HealthCheckResponse.SERVING)


def card_is_told(client: Client) -> None:
    card = json_format.MessageToDict(client.call("GetExtendedAgentCard"))
    expect(card["name"], "Agena")
    bindings = [interface["protocolBinding"] for interface in card["supportedInterfaces"]]
    expect(bindings, ["GRPC", "JSONRPC", "HTTP+JSON", "JSONRPC", "GRPC", "HTTP+JSON"])


def missing_message_is_named(client: Client) -> None:
    error = failure(lambda: client.call("SendMessage"))
    expect(error.code(), grpc.StatusCode.INVALID_ARGUMENT)
    status = rpc_status.from_call(error)
    if status is None:
        raise AssertionError("the error has no details")
    fields = []
    for detail in status.details:
        bad_request = error_details_pb2.BadRequest()
        if detail.Unpack(bad_request):
            fields += [violation.field for violation in bad_request.field_violations]
    expect(fields, ["message"])


def wrong_token_is_refused(client: Client) -> None:
    error = failure(lambda: client.call("GetExtendedAgentCard", token="wrong"))
    expect(error.code(), grpc.StatusCode.UNAUTHENTICATED)


def unknown_task_is_not_found(client: Client) -> None:
    error = failure(lambda: client.call("GetTask", id="1"))
    expect(error.code(), grpc.StatusCode.NOT_FOUND)


def deadline_ends_a_stream(client: Client) -> None:
    """Watching the health goes on for ever, so only the deadline can end it."""
    stub = health_pb2_grpc.HealthStub(client.channel)
    watched = stub.Watch(health_pb2.HealthCheckRequest(), timeout=0.5)
    expect(next(watched).status, health_pb2.HealthCheckResponse.SERVING)
    error = failure(lambda: next(watched))
    expect(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


CASES: dict[str, Callable[[Client], None]] = {
    "reflection v1 lists the services": lambda client: reflection_lists_the_services(client, "v1"),
    "reflection v1alpha lists the services": lambda client: reflection_lists_the_services(client, "v1alpha"),
    "health says SERVING": health_says_serving,
    "GetExtendedAgentCard tells the card": card_is_told,
    "SendMessage without message names the field": missing_message_is_named,
    "a wrong token is UNAUTHENTICATED": wrong_token_is_refused,
    "an unknown task is NOT_FOUND": unknown_task_is_not_found,
    "a deadline ends a stream": deadline_ends_a_stream,
}


def connect(address: str, ca: Path | None) -> grpc.Channel:
    if ca is None:
        return grpc.insecure_channel(address)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(ca.read_bytes()))


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("address", help="host:port")
    arguments.add_argument("token")
    arguments.add_argument("--ca", type=Path, help="certificate to trust; without it the call is not encrypted")
    given = arguments.parse_args()
    failed = 0
    with connect(given.address, given.ca) as channel:
        grpc.channel_ready_future(channel).result(timeout=TIMEOUT)
        client = Client(channel, given.token)
        for name, case in CASES.items():
            try:
                case(client)
                print(f"ok    {name}")
            except Exception as error:  # noqa: BLE001 - whatever it is, the next case still runs
                failed += 1
                print(f"FAIL  {name}: {' '.join(str(error).split())}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
