"""Docks a2a-sdk for A2A 0.3 to Agena, over each of its transports. Each function below is one behaviour.

    python a2a_client.py http://127.0.0.1:41242 "$(agena token)"

The server follows ../a2a.yaml. Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import httpx
from a2a import types as a2a
from a2a.client import AuthInterceptor, Client, ClientConfig, ClientFactory
from a2a.client.auth.credentials import CredentialService
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.client.middleware import ClientCallContext
from a2a.grpc import a2a_pb2, a2a_pb2_grpc
from a2a.utils import get_artifact_text, get_message_text

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from report import Case, Report, expect  # noqa: E402 - it lies beside all clients

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
# What takes longer than this has hung.
SECONDS = 10.0
WEBHOOK = "http://127.0.0.1:9/hook"

# This SDK has typed errors only within JSON-RPC; elsewhere it gives the status. All three say the same.
Fault = tuple[int, int, grpc.StatusCode]
NOT_FOUND: Fault = (-32001, 404, grpc.StatusCode.NOT_FOUND)
NOT_CANCELABLE: Fault = (-32002, 400, grpc.StatusCode.FAILED_PRECONDITION)
UNSUPPORTED: Fault = (-32004, 400, grpc.StatusCode.FAILED_PRECONDITION)

# A task and what happened to it, if it is not the first item; or a bare message.
Item = tuple[a2a.Task, Any] | a2a.Message


@dataclass(frozen=True)
class Token(CredentialService):
    """Gives the same token for every scheme that the card asks for."""

    token: str

    async def get_credentials(self, security_scheme_name: str, context: ClientCallContext | None) -> str:
        return self.token


class Unary(grpc.aio.UnaryUnaryClientInterceptor):
    """The SDK leaves it to the channel to authenticate over gRPC."""

    def __init__(self, token: str) -> None:
        self.token = token

    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(authorized(details, self.token), request)


class Stream(grpc.aio.UnaryStreamClientInterceptor):
    def __init__(self, token: str) -> None:
        self.token = token

    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(authorized(details, self.token), request)


def authorized(details: Any, token: str) -> Any:
    metadata = grpc.aio.Metadata(*(details.metadata or ()), ("authorization", f"Bearer {token}"))
    return details._replace(metadata=metadata)


@dataclass(frozen=True)
class Dock:
    """The server over one binding."""

    url: str
    token: str
    binding: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def http(self) -> httpx.AsyncClient:
        # Over REST the SDK does not call its interceptors yet, so the token is the HTTP client's.
        headers = self.headers if self.binding == "HTTP+JSON" else {}
        return httpx.AsyncClient(timeout=SECONDS, headers=headers)

    def channel(self, url: str) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(url, interceptors=[Unary(self.token), Stream(self.token)])

    async def client(self, *, streaming: bool = False, polling: bool = False) -> Client:
        config = ClientConfig(
            streaming=streaming,
            polling=polling,
            httpx_client=self.http(),
            grpc_channel_factory=self.channel,
            supported_transports=[self.binding],
        )
        return await ClientFactory.connect(self.url, config, interceptors=[AuthInterceptor(Token(self.token))])

    def fault(self, fault: Fault) -> Any:
        return dict(zip(BINDINGS, fault, strict=True))[self.binding]


def says(text: str, task: a2a.Task | None = None) -> a2a.Message:
    of_task = {"task_id": task.id, "context_id": task.context_id} if task else {}
    part = a2a.Part(root=a2a.TextPart(text=text))
    return a2a.Message(message_id=str(uuid.uuid4()), role=a2a.Role.user, parts=[part], **of_task)


async def first(items: AsyncIterator[Item]) -> Any:
    return [item async for item in items][0]


async def send(dock: Dock, text: str, task: a2a.Task | None = None) -> a2a.Task:
    async with await dock.client() as client:
        return (await first(client.send_message(says(text, task))))[0]


async def begin(dock: Dock, text: str) -> a2a.Task:
    async with await dock.client(polling=True) as client:
        return (await first(client.send_message(says(text))))[0]


async def failure(dock: Dock, fault: Fault, call: Awaitable[object]) -> None:
    try:
        answer = await call
    except A2AClientJSONRPCError as error:
        expect("the code", error.error.code, dock.fault(fault))
    except A2AClientHTTPError as error:
        expect("the HTTP status", error.status_code, dock.fault(fault))
    except grpc.aio.AioRpcError as error:
        expect("the status", error.code(), dock.fault(fault))
    else:
        raise AssertionError(f"no error but {answer!r}")


def kind(item: Item) -> str:
    """`task`, `working`, `artifact`: what a stream tells, in a word."""
    match item:
        case (_, a2a.TaskStatusUpdateEvent() as update):
            return update.status.state.value + (" (final)" if update.final else "")
        case (_, a2a.TaskArtifactUpdateEvent()):
            return "artifact"
        case (a2a.Task(), None):
            return "task"
        case _:
            return "message"


def text_of_status(task: a2a.Task) -> str:
    return get_message_text(task.status.message) if task.status.message else ""


async def card(dock: Dock) -> None:
    async with await dock.client() as client:
        told = await client.get_card()
    expect("the name", told.name, "Agena")
    expect("streaming", told.capabilities.streaming, True)
    expect("the interfaces", {one.transport for one in told.additional_interfaces or []}, set(BINDINGS))
    expect("the schemes", list(told.security_schemes or {}), ["bearer"])


async def blocking_send(dock: Dock) -> None:
    task = await send(dock, "Please complete this")
    expect("the end", (task.status.state.value, text_of_status(task)), ("completed", "All done"))
    expect("who spoke", [message.role for message in task.history or []][:1], [a2a.Role.user])


async def immediate_send(dock: Dock) -> None:
    task = await begin(dock, "Please take your time")
    expect("whether it goes on", task.status.state.value in ("submitted", "working"), True)
    async with await dock.client() as client:
        while task.status.state != a2a.TaskState.completed:
            await asyncio.sleep(0.1)
            task = await client.get_task(a2a.TaskQueryParams(id=task.id))
    expect("the artifact", get_artifact_text(task.artifacts[0]), "Late but whole")


async def stream(dock: Dock) -> None:
    async with await dock.client(streaming=True) as client:
        items = [(kind(item), item) async for item in client.send_message(says("Please take your time"))]
    told = ["task", "working", "working", "artifact", "completed (final)"]
    expect("the items", [name for name, _ in items], told)
    expect("the piece", get_message_text(items[2][1][1].status.message), "Working on it")


async def resubscribe(dock: Dock) -> None:
    task = await begin(dock, "Please take your time")
    async with await dock.client(streaming=True) as client:
        items = [kind(item) async for item in client.resubscribe(a2a.TaskIdParams(id=task.id))]
    expect("the first item", items[0], "task")
    expect("the end", items[-2:], ["artifact", "completed (final)"])


async def cancel(dock: Dock) -> None:
    task = await begin(dock, "Please never end")
    named = a2a.TaskIdParams(id=task.id)
    async with await dock.client() as client:
        expect("the state", (await client.cancel_task(named)).status.state.value, "canceled")
        await failure(dock, NOT_CANCELABLE, client.cancel_task(named))


async def history_length(dock: Dock) -> None:
    asked = await send(dock, "Please ask")
    await send(dock, "My colour is blue", asked)
    async with await dock.client() as client:
        task = await client.get_task(a2a.TaskQueryParams(id=asked.id, history_length=1))
    expect("the messages", len(task.history or []), 1)


async def push_configs(dock: Dock) -> None:
    task = await send(dock, "Please ask")
    bearer = a2a.PushNotificationAuthenticationInfo(schemes=["Bearer"], credentials="secret")
    wanted = a2a.PushNotificationConfig(id="mine", url=WEBHOOK, token="t", authentication=bearer)
    named = a2a.GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="mine")
    async with await dock.client() as client:
        config = a2a.TaskPushNotificationConfig(task_id=task.id, push_notification_config=wanted)
        made = await client.set_task_callback(config)
        expect("what was made", made, config)
        expect("what is read", await client.get_task_callback(named), config)
        listed, left = await LIST_AND_DELETE[dock.binding](dock, task.id, "mine")
        expect("what is listed, then left", (listed, left), ([WEBHOOK], []))
        await failure(dock, NOT_FOUND, client.get_task_callback(named))


async def push_without_id(dock: Dock) -> None:
    """Clients that know one webhook per task name none; setting it again replaces it."""
    task = await send(dock, "Please ask")
    async with await dock.client() as client:
        for path in ("/a", "/b"):
            wanted = a2a.PushNotificationConfig(url=WEBHOOK + path)
            config = a2a.TaskPushNotificationConfig(task_id=task.id, push_notification_config=wanted)
            made = await client.set_task_callback(config)
            expect("what was made", made.push_notification_config.url, WEBHOOK + path)
    listed, _ = await LIST_AND_DELETE[dock.binding](dock, task.id, made.push_notification_config.id)
    expect("what is listed", listed, [WEBHOOK + "/b"])


async def over_jsonrpc(dock: Dock, task: str, config: str) -> tuple[list[str], list[str]]:
    """The SDK has the types of listing and deleting, but no calls."""
    of_task = a2a.ListTaskPushNotificationConfigParams(id=task)
    ask = a2a.ListTaskPushNotificationConfigRequest(id="1", params=of_task)
    named = a2a.DeleteTaskPushNotificationConfigParams(id=task, push_notification_config_id=config)
    delete = a2a.DeleteTaskPushNotificationConfigRequest(id="2", params=named)

    async with httpx.AsyncClient(timeout=SECONDS, headers=dock.headers) as http:

        async def call(request: Any) -> bytes:
            body = request.model_dump(mode="json", exclude_none=True, by_alias=True)
            return (await http.post(f"{dock.url}/a2a/rpc", json=body)).content

        async def urls() -> list[str]:
            answer = a2a.ListTaskPushNotificationConfigResponse.model_validate_json(await call(ask))
            return [one.push_notification_config.url for one in answer.root.result]

        listed = await urls()
        a2a.DeleteTaskPushNotificationConfigResponse.model_validate_json(await call(delete))
        return listed, await urls()


async def over_rest(dock: Dock, task: str, config: str) -> tuple[list[str], list[str]]:
    path = f"{dock.url}/v1/tasks/{task}/pushNotificationConfigs"
    async with httpx.AsyncClient(timeout=SECONDS, headers=dock.headers) as http:

        async def urls() -> list[str]:
            answer = (await http.get(path)).raise_for_status().json()
            return [one["pushNotificationConfig"]["url"] for one in answer.get("configs", [])]

        listed = await urls()
        (await http.delete(f"{path}/{config}")).raise_for_status()
        return listed, await urls()


async def over_grpc(dock: Dock, task: str, config: str) -> tuple[list[str], list[str]]:
    async with dock.channel(dock.url.removeprefix("http://")) as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)

        async def urls() -> list[str]:
            request = a2a_pb2.ListTaskPushNotificationConfigRequest(parent=f"tasks/{task}")
            answer = await stub.ListTaskPushNotificationConfig(request, timeout=SECONDS)
            return [one.push_notification_config.url for one in answer.configs]

        listed = await urls()
        name = f"tasks/{task}/pushNotificationConfigs/{config}"
        request = a2a_pb2.DeleteTaskPushNotificationConfigRequest(name=name)
        await stub.DeleteTaskPushNotificationConfig(request, timeout=SECONDS)
        return listed, await urls()


# By hand, as the client of this SDK has no calls for it.
LIST_AND_DELETE = {"JSONRPC": over_jsonrpc, "HTTP+JSON": over_rest, "GRPC": over_grpc}


async def unknown_task(dock: Dock) -> None:
    lost = says("Please complete this").model_copy(update={"task_id": "lost"})
    named = a2a.TaskIdParams(id="lost")
    async with await dock.client(streaming=True) as client:
        await failure(dock, NOT_FOUND, client.get_task(a2a.TaskQueryParams(id="lost")))
        await failure(dock, NOT_FOUND, client.cancel_task(named))
        await failure(dock, NOT_FOUND, first(client.send_message(lost)))
        if dock.binding != "HTTP+JSON":
            # There the SDK looks at the content type before the status, and says 400 whatever it is.
            await failure(dock, NOT_FOUND, first(client.resubscribe(named)))
    async with await dock.client() as client:
        await failure(dock, NOT_FOUND, first(client.send_message(lost)))


async def ended_task(dock: Dock) -> None:
    task = await send(dock, "Please complete this")
    async with await dock.client() as client:
        await failure(dock, UNSUPPORTED, first(client.send_message(says("And more", task))))


async def multi_turn(dock: Dock) -> None:
    asked = await send(dock, "Please ask")
    expect("the question", (asked.status.state.value, text_of_status(asked)), ("input-required", "Which colour?"))
    done = await send(dock, "My colour is blue", asked)
    expect("the task", (done.id, done.status.state.value), (asked.id, "completed"))
    expect("the artifact", get_artifact_text(done.artifacts[0]), "My colour is blue")
    said = [get_message_text(message) for message in done.history or [] if message.role == a2a.Role.user]
    expect("what was said", said, ["Please ask", "My colour is blue"])


async def streamed_question(dock: Dock) -> None:
    async with await dock.client(streaming=True) as client:
        items = [kind(item) async for item in client.send_message(says("Please ask"))]
    expect("the end", items[-1], "input-required (final)")


async def endings(dock: Dock) -> None:
    for text, ending, why in [("fail", "failed", "It broke"), ("reject", "rejected", "Not my job")]:
        task = await send(dock, f"Please {text}")
        expect(text, (task.status.state.value, text_of_status(task)), (ending, why))


def file(artifact: a2a.Artifact) -> Any:
    return artifact.parts[0].root.file


async def artifacts(dock: Dock) -> None:
    made = {artifact.name: artifact for artifact in (await send(dock, "Please make artifacts")).artifacts or []}
    expect("the text", get_artifact_text(made["text"]), "Plain words")
    expect("the bytes", file(made["bytes"]).bytes, "AAH+/w==")
    expect("the url", file(made["url"]).uri, "https://example.com/far.txt")
    types = (file(made["bytes"]).mime_type, file(made["url"]).mime_type)
    expect("their types", types, ("application/octet-stream", "text/plain"))
    expect("the data", made["data"].parts[0].root.data, {"key": "value", "count": 42, "list": [1, None, True]})
    expect("the chunks", get_artifact_text(made["chunks"], ""), "one two three")


async def chunks(dock: Dock) -> None:
    async with await dock.client(streaming=True) as client:
        items = [item async for item in client.send_message(says("Please make artifacts"))]
    updates = [item[1] for item in items if kind(item) == "artifact"]
    pieces = [update for update in updates if update.artifact.name == "chunks"]
    flags = [(bool(one.append), bool(one.last_chunk)) for one in pieces]
    expect("the flags", flags, [(False, False), (True, False), (True, True)])
    whole = next(one for one in items[-1][0].artifacts if one.name == "chunks")
    expect("what the SDK puts together", get_artifact_text(whole, ""), "one two three")


async def bare_message(dock: Dock) -> None:
    for streaming in (False, True):
        async with await dock.client(streaming=streaming) as client:
            items = [item async for item in client.send_message(says("Please reply"))]
        expect("the items", list(map(kind, items)), ["message"])
        expect("the words", get_message_text(items[0]), "A bare message")


CASES: dict[str, Callable[[Dock], Awaitable[None]]] = {
    "the card": card,
    "a send that waits": blocking_send,
    "a send that does not wait": immediate_send,
    "a stream": stream,
    "a second stream of a task": resubscribe,
    "cancel, and once more": cancel,
    "the last of the history": history_length,
    "webhooks are made, read, listed, removed": push_configs,
    "a webhook without a name": push_without_id,
    "an unknown task": unknown_task,
    "a task that has ended": ended_task,
    "a question and its answer": multi_turn,
    "a question in a stream": streamed_question,
    "a task that fails, one that is rejected": endings,
    "artifacts of all kinds": artifacts,
    "an artifact in pieces": chunks,
    "an answer without a task": bare_message,
}


def case(check: Callable[[Dock], Awaitable[None]], dock: Dock) -> Callable[[], None]:
    async def within() -> None:
        await asyncio.wait_for(check(dock), SECONDS)

    return lambda: asyncio.run(within())


def cases(url: str, token: str) -> Iterator[Case]:
    for binding in BINDINGS:
        dock = Dock(url, token, binding)
        for name, check in CASES.items():
            yield f"{binding}: {name}", case(check, dock)


def main() -> int:
    url, token = sys.argv[1:]
    report = Report()
    report.run(cases(url, token))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
