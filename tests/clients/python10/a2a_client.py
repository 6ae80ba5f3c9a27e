"""Docks a2a-sdk for A2A 1.0 to Agena, over each of its transports. Each function below is one behaviour.

    python a2a_client.py http://127.0.0.1:41242 "$(agena token)"

The server follows ../a2a.yaml. Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx
from a2a.client import AuthInterceptor, Client, ClientConfig, create_client
from a2a.client.auth.credentials import CredentialService
from a2a.client.client import ClientCallContext
from a2a.client.errors import A2AClientError
from a2a.helpers import get_artifact_text, get_message_text, new_text_message
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from report import Case, Report, expect  # noqa: E402 - it lies beside all clients

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
# What takes longer than this has hung.
SECONDS = 10.0
WEBHOOK = "http://127.0.0.1:9/hook"


@dataclass(frozen=True)
class Token(CredentialService):
    """Gives the same token for every scheme that the card asks for."""

    token: str

    async def get_credentials(self, security_scheme_name: str, context: ClientCallContext | None) -> str:
        return self.token


@dataclass(frozen=True)
class Dock:
    """The server over one binding."""

    url: str
    token: str
    binding: str

    async def client(self, *, streaming: bool = False, polling: bool = False) -> Client:
        config = ClientConfig(
            streaming=streaming,
            polling=polling,
            httpx_client=httpx.AsyncClient(timeout=SECONDS),
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_protocol_bindings=[self.binding],
        )
        return await create_client(self.url, config, interceptors=[AuthInterceptor(Token(self.token))])


def says(text: str, task: pb.Task | None = None) -> pb.SendMessageRequest:
    of_task = {"task_id": task.id, "context_id": task.context_id} if task else {}
    return pb.SendMessageRequest(message=new_text_message(text, role=pb.ROLE_USER, **of_task))


async def first(items: AsyncIterator[pb.StreamResponse]) -> pb.StreamResponse:
    """A send that does not stream answers with one item."""
    return [item async for item in items][0]


async def send(dock: Dock, text: str, task: pb.Task | None = None) -> pb.Task:
    async with await dock.client() as client:
        return (await first(client.send_message(says(text, task)))).task


async def begin(dock: Dock, text: str) -> pb.Task:
    async with await dock.client(polling=True) as client:
        return (await first(client.send_message(says(text)))).task


async def failure(kind: type[Exception], call: Awaitable[object]) -> Exception:
    try:
        answer = await call
    except Exception as error:
        if isinstance(error, kind):
            return error
        raise AssertionError(f"{type(error).__name__} instead of {kind.__name__}: {error}") from error
    raise AssertionError(f"no {kind.__name__} but {answer!r}")


def state(status: pb.TaskStatus) -> str:
    return pb.TaskState.Name(status.state).removeprefix("TASK_STATE_")


def kind(item: pb.StreamResponse) -> str:
    """`task`, `WORKING`, `artifact`: what a stream tells, in a word."""
    match item.WhichOneof("payload"):
        case "status_update":
            return state(item.status_update.status)
        case "artifact_update":
            return "artifact"
        case other:
            return str(other)


async def card(dock: Dock) -> None:
    async with await dock.client() as client:
        told = await client.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
    expect("the name", told.name, "Agena")
    expect("streaming", told.capabilities.streaming, True)
    spoken = {(one.protocol_binding, one.protocol_version) for one in told.supported_interfaces}
    expect("the interfaces", spoken, {(binding, version) for binding in BINDINGS for version in ("1.0", "0.3")})


async def blocking_send(dock: Dock) -> None:
    task = await send(dock, "Please complete this")
    expect("the state", state(task.status), "COMPLETED")
    expect("the status", get_message_text(task.status.message), "All done")
    expect("who spoke", [message.role for message in task.history][:1], [pb.ROLE_USER])


async def immediate_send(dock: Dock) -> None:
    task = await begin(dock, "Please take your time")
    expect("whether it goes on", state(task.status) in ("SUBMITTED", "WORKING"), True)
    async with await dock.client() as client:
        while state(task.status) != "COMPLETED":
            await asyncio.sleep(0.1)
            task = await client.get_task(pb.GetTaskRequest(id=task.id))
    expect("the artifact", get_artifact_text(task.artifacts[0]), "Late but whole")


async def stream(dock: Dock) -> None:
    async with await dock.client(streaming=True) as client:
        items = [item async for item in client.send_message(says("Please take your time"))]
    expect("the items", list(map(kind, items)), ["task", "WORKING", "WORKING", "artifact", "COMPLETED"])
    expect("the piece", get_message_text(items[2].status_update.status.message), "Working on it")
    expect("whose artifact", items[3].artifact_update.task_id, items[0].task.id)


async def resubscribe(dock: Dock) -> None:
    task = await begin(dock, "Please take your time")
    async with await dock.client(streaming=True) as client:
        items = [item async for item in client.subscribe(pb.SubscribeToTaskRequest(id=task.id))]
    expect("the first item", (kind(items[0]), items[0].task.id), ("task", task.id))
    expect("the end", list(map(kind, items))[-2:], ["artifact", "COMPLETED"])


async def cancel(dock: Dock) -> None:
    task = await begin(dock, "Please never end")
    async with await dock.client() as client:
        canceled = await client.cancel_task(pb.CancelTaskRequest(id=task.id))
        expect("the state", state(canceled.status), "CANCELED")
        await failure(TaskNotCancelableError, client.cancel_task(pb.CancelTaskRequest(id=task.id)))


async def list_tasks(dock: Dock) -> None:
    task = await send(dock, "Please make artifacts")
    async with await dock.client() as client:
        of_context = pb.ListTasksRequest(context_id=task.context_id)
        page = await client.list_tasks(of_context)
        expect("the tasks", [(one.id, len(one.artifacts)) for one in page.tasks], [(task.id, 0)])
        expect("the counts", (page.total_size, page.page_size, page.next_page_token), (1, 50, ""))
        of_context.include_artifacts = True
        page = await client.list_tasks(of_context)
        expect("the artifacts", len(page.tasks[0].artifacts), 5)
        ended = await client.list_tasks(pb.ListTasksRequest(page_size=1, status=pb.TASK_STATE_COMPLETED))
        expect("a page", (len(ended.tasks), ended.page_size), (1, 1))


async def push_configs(dock: Dock) -> None:
    task = await send(dock, "Please ask")
    bearer = pb.AuthenticationInfo(scheme="Bearer", credentials="secret")
    wanted = pb.TaskPushNotificationConfig(task_id=task.id, url=WEBHOOK, token="t", authentication=bearer)
    of_task = pb.ListTaskPushNotificationConfigsRequest(task_id=task.id)
    async with await dock.client() as client:
        made = await client.create_task_push_notification_config(wanted)
        wanted.id = made.id
        expect("what was made", (made, made.id != ""), (wanted, True))
        named = {"task_id": task.id, "id": made.id}
        get = pb.GetTaskPushNotificationConfigRequest(**named)
        expect("what is read", await client.get_task_push_notification_config(get), made)
        listed = await client.list_task_push_notification_configs(of_task)
        expect("what is listed", list(listed.configs), [made])
        await client.delete_task_push_notification_config(pb.DeleteTaskPushNotificationConfigRequest(**named))
        expect("the rest", len((await client.list_task_push_notification_configs(of_task)).configs), 0)
        await failure(TaskNotFoundError, client.get_task_push_notification_config(get))


async def unknown_task(dock: Dock) -> None:
    lost = says("Please complete this", pb.Task(id="lost"))
    async with await dock.client(streaming=True) as client:
        await failure(TaskNotFoundError, client.get_task(pb.GetTaskRequest(id="lost")))
        await failure(TaskNotFoundError, client.cancel_task(pb.CancelTaskRequest(id="lost")))
        await failure(TaskNotFoundError, first(client.subscribe(pb.SubscribeToTaskRequest(id="lost"))))
        await failure(TaskNotFoundError, first(client.send_message(lost)))
    async with await dock.client() as client:
        await failure(TaskNotFoundError, first(client.send_message(lost)))


async def ended_task(dock: Dock) -> None:
    task = await send(dock, "Please complete this")
    async with await dock.client(streaming=True) as client:
        await failure(UnsupportedOperationError, first(client.send_message(says("And more", task))))
        await failure(UnsupportedOperationError, first(client.subscribe(pb.SubscribeToTaskRequest(id=task.id))))


async def wrong_media(dock: Dock) -> None:
    request = says("Please complete this")
    request.message.parts[0].media_type = "video/mp4"
    async with await dock.client() as client:
        await failure(ContentTypeNotSupportedError, first(client.send_message(request)))


async def wrong_token(dock: Dock) -> None:
    stranger = Dock(dock.url, "wrong", dock.binding)
    async with await stranger.client() as client:
        error = await failure(A2AClientError, client.get_task(pb.GetTaskRequest(id="lost")))
    expect("whether it says why", any(word in str(error) for word in ("401", "UNAUTHENTICATED")), True)


async def multi_turn(dock: Dock) -> None:
    asked = await send(dock, "Please ask")
    expect("the question", get_message_text(asked.status.message), "Which colour?")
    expect("the state", state(asked.status), "INPUT_REQUIRED")
    done = await send(dock, "My colour is blue", asked)
    expect("the task", (done.id, state(done.status)), (asked.id, "COMPLETED"))
    expect("the artifact", get_artifact_text(done.artifacts[0]), "My colour is blue")
    said = [get_message_text(message) for message in done.history if message.role == pb.ROLE_USER]
    expect("what was said", said, ["Please ask", "My colour is blue"])


async def endings(dock: Dock) -> None:
    for text, ending, why in [("fail", "FAILED", "It broke"), ("reject", "REJECTED", "Not my job")]:
        task = await send(dock, f"Please {text}")
        expect(text, (state(task.status), get_message_text(task.status.message)), (ending, why))


def content(artifact: pb.Artifact) -> list[object]:
    """The parts without what is said about them."""
    return [MessageToDict(part)[part.WhichOneof("content")] for part in artifact.parts]


async def artifacts(dock: Dock) -> None:
    made = {artifact.name: artifact for artifact in (await send(dock, "Please make artifacts")).artifacts}
    expect("the text", content(made["text"]), ["Plain words"])
    expect("the bytes", made["bytes"].parts[0].raw, b"\x00\x01\xfe\xff")
    expect("its name", (made["bytes"].parts[0].filename, made["url"].parts[0].filename), ("raw.bin", "far.txt"))
    expect("its type", made["url"].parts[0].media_type, "text/plain")
    expect("the url", content(made["url"]), ["https://example.com/far.txt"])
    expect("the data", content(made["data"]), [{"key": "value", "count": 42.0, "list": [1.0, None, True]}])
    expect("the chunks", "".join(map(str, content(made["chunks"]))), "one two three")


async def chunks(dock: Dock) -> None:
    async with await dock.client(streaming=True) as client:
        items = [item async for item in client.send_message(says("Please make artifacts"))]
    updates = [item.artifact_update for item in items if item.HasField("artifact_update")]
    pieces = [update for update in updates if update.artifact.name == "chunks"]
    expect("the flags", [(one.append, one.last_chunk) for one in pieces], [(False, False), (True, False), (True, True)])
    expect("the pieces", [get_artifact_text(one.artifact) for one in pieces], ["one ", "two ", "three"])
    expect("one artifact", len({one.artifact.artifact_id for one in pieces}), 1)


async def bare_message(dock: Dock) -> None:
    for streaming in (False, True):
        async with await dock.client(streaming=streaming) as client:
            items = [item async for item in client.send_message(says("Please reply"))]
        expect("the items", list(map(kind, items)), ["message"])
        expect("the words", get_message_text(items[0].message), "A bare message")


CASES: dict[str, Callable[[Dock], Awaitable[None]]] = {
    "the card": card,
    "a send that waits": blocking_send,
    "a send that does not wait": immediate_send,
    "a stream": stream,
    "a second stream of a task": resubscribe,
    "cancel, and once more": cancel,
    "the list of tasks": list_tasks,
    "webhooks are made, read, listed, removed": push_configs,
    "an unknown task": unknown_task,
    "a task that has ended": ended_task,
    "a media type that is not taken": wrong_media,
    "a wrong token": wrong_token,
    "a question and its answer": multi_turn,
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
