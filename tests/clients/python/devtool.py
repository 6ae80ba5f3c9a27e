"""Drives tasks through agena.devtool.v1.DevelopmentToolService with the client that grpcio made of proto/.

    python -m grpc_tools.protoc -I proto --python_out GEN --grpc_python_out GEN \
        proto/agena/devtool/v1/*.proto proto/lf/a2a/v1/a2a.proto
    PYTHONPATH=GEN python devtool.py 127.0.0.1:41242 "$(agena token)"

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import grpc
from agena.devtool.v1 import command_pb2, service_pb2, service_pb2_grpc, tool_call_pb2
from lf.a2a.v1 import a2a_pb2

# A call that takes longer than this has hung.
TIMEOUT = 20.0
COMPLETED = a2a_pb2.TASK_STATE_COMPLETED
ASKS = a2a_pb2.TASK_STATE_INPUT_REQUIRED

Update = service_pb2.TaskUpdate


def script(*steps: str) -> str:
    return "\n".join(["Do it.", "```rehearsal", *(f"- {step}" for step in steps), "```"])


SHELL = script("call: {tool: run_shell_command, with: {command: echo hello}}", "say: 'Done: {result}'")


class Client:
    """The stub with the key and a deadline on every call."""

    def __init__(self, authority: str, token: str) -> None:
        self._stub = service_pb2_grpc.DevelopmentToolServiceStub(grpc.insecure_channel(authority))
        self._metadata = [("authorization", f"Bearer {token}")]

    def __call__(self, method: str, request: Any) -> Any:
        return getattr(self._stub, method)(request, metadata=self._metadata, timeout=TIMEOUT)

    def start(self, prompt: str) -> list[Update]:
        return [one.update for one in self("StartTask", service_pb2.StartTaskRequest(prompt=prompt))]

    def follow(self, task: str, after: int = 0) -> list[Update]:
        request = service_pb2.FollowTaskRequest(task_id=task, after=after)
        return [one.update for one in self("FollowTask", request)]

    def confirm(self, task: str, call: str, option: str, **more: Any) -> tool_call_pb2.ToolCall:
        answer = tool_call_pb2.ToolCallConfirmation(tool_call_id=call, selected_option_id=option, **more)
        request = service_pb2.ConfirmToolCallRequest(task_id=task, confirmation=answer)
        return self("ConfirmToolCall", request).tool_call


def expect(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what} is {actual!r} instead of {expected!r}")


def asked(client: Client, prompt: str) -> tuple[str, tool_call_pb2.ToolCall]:
    updates = client.start(prompt)
    expect("the state", updates[-1].status.state, ASKS)
    call = [update.tool_call for update in updates if update.HasField("tool_call")][-1]
    return updates[0].task_id, call


def text(updates: list[Update]) -> str:
    return "".join(update.text for update in updates)


def approval(client: Client) -> None:
    task, call = asked(client, SHELL)
    expect("the command", call.confirmation_request.execute_details.command, "echo hello")
    fingerprint = call.confirmation_request.fingerprint
    after = client.confirm(task, call.tool_call_id, "proceed_once", fingerprint=fingerprint)
    expect("the decision", after.decision.selected_option_id, "proceed_once")
    updates = client.follow(task)
    expect("the end", updates[-1].status.state, COMPLETED)
    printed = "".join(update.live_output.text for update in updates)
    expect("what it printed", printed.strip(), "hello")
    for cut in range(len(updates)):
        rest = client.follow(task, updates[cut].sequence)
        expect(f"the rest behind {cut}", rest, updates[cut + 1 :])


def modification(client: Client) -> None:
    call = "call: {tool: write_file, with: {file_path: typed.txt, content: proposed}}"
    task, call = asked(client, script(call, "say: ok"))
    expect("the proposal", call.confirmation_request.file_edit_details.new_content, "proposed")
    edited = tool_call_pb2.ModifiedFileDetails(new_content="edited\n")
    after = client.confirm(task, call.tool_call_id, "proceed_once", file_details=edited)
    expect("the decision", after.decision.modified, True)
    calls = [update.tool_call for update in client.follow(task) if update.HasField("tool_call")]
    expect("the status", calls[-1].status, tool_call_pb2.SUCCEEDED)
    expect("the file", calls[-1].output.diff.new_content, "edited\n")


def questions(client: Client) -> None:
    question = "{header: Colour, question: 'Which colour?', type: choice, options: [{label: red, description: a}, {label: blue, description: b}]}"
    task, call = asked(client, script(f"call: {{tool: ask_user, with: {{questions: [{question}]}}}}", "say: 'You said {result}'"))
    [shown] = call.confirmation_request.generic_details.questions
    expect("the choices", [choice.label for choice in shown.choices], ["red", "blue"])
    client.confirm(task, call.tool_call_id, "proceed_once", answers=["blue"])
    said = text(client.follow(task))
    if "blue" not in said:
        raise AssertionError(f"the answer is not told: {said!r}")


def late(client: Client) -> None:
    task, call = asked(client, SHELL)
    client.confirm(task, call.tool_call_id, "cancel", reject_reason="too loud")
    try:
        client.confirm(task, call.tool_call_id, "proceed_once")
    except grpc.RpcError as error:
        expect("the code", error.code(), grpc.StatusCode.FAILED_PRECONDITION)
    else:
        raise AssertionError("a second answer was taken")


def interaction(client: Client) -> None:
    says: SimpleQueue[service_pb2.InteractRequest | None] = SimpleQueue()

    def said() -> Iterator[service_pb2.InteractRequest]:
        while (one := says.get()) is not None:
            yield one

    hears = client("Interact", said())
    says.put(service_pb2.InteractRequest(action_id="bad", start=service_pb2.StartTaskRequest()))
    error = next(hears)
    expect("the error", (error.action_id, error.error.code), ("bad", grpc.StatusCode.INVALID_ARGUMENT.value[0]))
    says.put(service_pb2.InteractRequest(action_id="go", start=service_pb2.StartTaskRequest(prompt=SHELL)))
    for told in hears:
        update = told.update
        if update.tool_call.HasField("confirmation_request"):
            answer = tool_call_pb2.ToolCallConfirmation(
                tool_call_id=update.tool_call.tool_call_id, selected_option_id="proceed_once"
            )
            confirm = service_pb2.ConfirmToolCallRequest(task_id=update.task_id, confirmation=answer)
            says.put(service_pb2.InteractRequest(action_id="yes", confirm=confirm))
        if update.status.state == COMPLETED:
            says.put(None)
            break
    else:
        raise AssertionError("the stream ended before the task")


def command(client: Client) -> None:
    listed = client("GetAllSlashCommands", command_pb2.GetAllSlashCommandsRequest()).commands
    if not {"about", "memory", "restore"} <= {one.name for one in listed}:
        raise AssertionError(f"commands are missing: {[one.name for one in listed]}")
    request = command_pb2.ExecuteSlashCommandRequest(command_path=["memory", "add"], args="likes tea")
    executed = client("ExecuteSlashCommand", request)
    expect("the status", executed.status, command_pb2.AWAITING_ACTION_CONFIRMATION)
    task = executed.execution_id
    request = service_pb2.GetTaskRequest(task_id=task)
    [call] = client("GetTask", request).open_tool_calls
    expect("the tool", call.tool_name, "save_memory")
    client.confirm(task, call.tool_call_id, "proceed_once", fingerprint=call.confirmation_request.fingerprint)
    expect("the end", client.follow(task)[-1].status.state, COMPLETED)


CASES: dict[str, Callable[[Client], None]] = {
    "a call is approved, and the stream goes on from every cursor": approval,
    "an edited file is written as it was edited": modification,
    "a question is answered": questions,
    "a second answer is told that it is late": late,
    "a task lives on one bidirectional stream": interaction,
    "a slash command is listed, executed and approved": command,
}


def main() -> int:
    client, failed = Client(*sys.argv[1:]), 0
    for name, check in CASES.items():
        try:
            check(client)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next case still runs
            failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
        else:
            print(f"ok    {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
