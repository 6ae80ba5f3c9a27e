"""A small client of the typed service: prompts and slash commands in, what the agent does out.

    AGENA_TOKEN=$(agena token) PYTHONPATH=gen python agent.py
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import uuid

import grpc
from agena.devtool.v1 import command_pb2, service_pb2 as pb, service_pb2_grpc, tool_call_pb2 as tool
from lf.a2a.v1 import a2a_pb2 as a2a

KEY = [("authorization", f"Bearer {os.environ['AGENA_TOKEN']}")]
CHANNEL = grpc.insecure_channel(os.environ.get("AGENA_ADDRESS", "127.0.0.1:41242"))
STUB = service_pb2_grpc.DevelopmentToolServiceStub(CHANNEL)
ALLOWS = (tool.ALLOW_ONCE, tool.ALLOW_ALWAYS)


def patiently(act):
    """Does it again while the server cannot be reached. Only for what may be sent again."""
    while True:
        try:
            return act()
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            time.sleep(1)


def start(prompt: str, context: str) -> tuple[str, str]:
    """The task and its context. Leaving the stream cancels nothing: what happens is read by `follow`."""
    request = pb.StartTaskRequest(prompt=prompt, context_id=context, message_id=str(uuid.uuid4()))
    stream = STUB.StartTask(request, metadata=KEY)
    first = next(stream).update
    stream.cancel()
    return first.task_id, first.context_id


def command(line: str, context: str) -> tuple[str, str]:
    """The same for a slash command, which is a task as well."""
    name, _, args = line[1:].partition(" ")
    request = command_pb2.ExecuteSlashCommandRequest(command_path=[name], args=args, context_id=context)
    done = STUB.ExecuteSlashCommand(request, metadata=KEY)
    print(done.message, end="\n" if done.message else "")
    return done.execution_id, done.context_id or context


def follow(task: str) -> None:
    """Shows a task until it has ended. After a cut it goes on behind the last update that was seen."""
    cursor, waiting = 0, {}
    while True:
        try:
            for told in STUB.FollowTask(pb.FollowTaskRequest(task_id=task, after=cursor), metadata=KEY):
                show(told.update, waiting)
                cursor = told.update.sequence
            return
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            print(f"(cut off; going on behind {cursor})", flush=True)
            time.sleep(1)


def show(update: pb.TaskUpdate, waiting: dict[str, tool.ToolCall]) -> None:
    """`waiting` holds the calls that want an answer. A call is whole in every update, so the last one counts."""
    match update.WhichOneof("update"):
        case "text":
            print(update.text, end="", flush=True)
        case "live_output":
            print(update.live_output.text, end="", flush=True)
        case "thought":
            print(f"({update.thought.subject}: {update.thought.description})")
        case "tool_call":
            one = update.tool_call
            waiting.pop(one.tool_call_id, None)
            if one.status == tool.PENDING and one.HasField("confirmation_request"):
                waiting[one.tool_call_id] = one
            elif one.status > tool.EXECUTING:
                print(f"[{one.tool_name}: {tool.ToolCallStatus.Name(one.status)}] {one.error.message}".rstrip())
        case "decided":
            waiting.pop(update.decided.tool_call_id, None)
        case "status" if update.status.state == a2a.TASK_STATE_INPUT_REQUIRED:
            asked(update, waiting)
        case "status" if update.status.state not in (a2a.TASK_STATE_SUBMITTED, a2a.TASK_STATE_WORKING):
            print(f"\n-- {a2a.TaskState.Name(update.status.state)} {update.error.message}".rstrip())


def asked(update: pb.TaskUpdate, waiting: dict[str, tool.ToolCall]) -> None:
    """The task rests until somebody answers: its calls, or else what it asks in words."""
    task, new_id = update.task_id, lambda: str(uuid.uuid4())
    if not waiting:
        question = "".join(part.text for part in update.status.message.parts)
        said = pb.ContinueTaskRequest(task_id=task, prompt=input(f"{question}\n? "), message_id=new_id())
        patiently(lambda: STUB.ContinueTask(said, metadata=KEY))
    for one in list(waiting.values()):
        said = pb.ConfirmToolCallRequest(task_id=task, confirmation=answer(one), message_id=new_id())
        try:
            patiently(lambda: STUB.ConfirmToolCall(said, metadata=KEY))
        except grpc.RpcError as error:
            # Somebody else was first, or the call asks for something else by now. The stream tells what holds.
            print(f"not taken: {error.details()}")


def answer(one: tool.ToolCall) -> tool.ToolCallConfirmation:
    """Asks on the terminal, with the options that the server offers."""
    request = one.confirmation_request
    edit = request.file_edit_details
    print(f"\n{one.description}\n{edit.formatted_diff}", end="")
    if request.execute_details.command:
        print(f"$ {request.execute_details.command}")
    options = {str(number): option for number, option in enumerate(request.options, 1)}
    if edit.file_path:
        options["e"] = next(option for option in request.options if option.kind == tool.ALLOW_ONCE)
    for key, option in options.items():
        print(f"  {key}  {'Edit it first' if key == 'e' else option.name}")
    while (key := input("? ").strip()) not in options:
        print(f"one of: {', '.join(options)}")
    # The fingerprint stands for what was shown, so that nothing else can be approved by mistake.
    said = tool.ToolCallConfirmation(
        tool_call_id=one.tool_call_id, selected_option_id=options[key].id, fingerprint=request.fingerprint)
    if key == "e":
        said.file_details.new_content = edited(edit)
    if options[key].kind not in ALLOWS:
        said.reject_reason = input("why? ")
        return said
    for question in request.generic_details.questions:
        choices = ", ".join(choice.label for choice in question.choices)
        said.answers.append(input(f"{question.question} [{choices}] "))
    return said


def edited(edit: tool.FileDiff) -> str:
    """The proposed file, as the user leaves it in an editor."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, edit.file_name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(edit.new_content)
        subprocess.run(["sh", "-c", '${EDITOR:-vi} "$0"', path], check=True)
        with open(path, encoding="utf-8") as file:
            return file.read()


def main() -> None:
    context = ""
    while True:
        try:
            line = input("you> ").strip()
            task, context = (command if line.startswith("/") else start)(line, context)
            if task:
                follow(task)
        except grpc.RpcError as error:
            print(f"{error.code().name}: {error.details()}")
        except (EOFError, KeyboardInterrupt):
            return  # A task that runs or waits goes on doing so.


main()
