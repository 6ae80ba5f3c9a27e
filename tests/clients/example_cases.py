"""The small clients of docs/write-a-client, as a person talks to them: lines in, and what has to be printed, in order.

    python example_cases.py path/to/agena path/to/clients
"""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from curl import curl
from http_cases import header
from report import Case, Report, expect
from server import Place, Server

DOCS = Path(__file__).resolve().parents[2] / "docs/write-a-client"
SECONDS = 20.0
# Each is what has to come, in this order, and then what is said to it.
Script = Sequence[tuple[str, str | None]]
# Plain requests are understood beside it.
OPTIONS = ("--listen", "127.0.0.1:0", "--rehearsal", str(Path(__file__).resolve().parent / "examples.yaml"))

SCRIPTS: dict[str, Script] = {
    "a command is allowed, and shows what it prints": [
        ("you> ", "run echo hello"),
        ("(Running a command: ", None),
        ("1  Allow once", None),
        ("? ", "1"),
        ("hello\n[run_shell_command: SUCCEEDED]\n", None),
        ("-- TASK_STATE_COMPLETED\n", None),
    ],
    "a refusal tells why": [
        ("you> ", "run echo hello"),
        ("? ", "3"),
        ("why? ", "too loud"),
        ("CANCELLED] too loud\n", None),
        ("The user said: too loud", None),
    ],
    "what was not offered is asked for again": [
        ("you> ", "run echo hello"),
        ("? ", "yes"),
        ("one of: 1, 2, 3\n? ", "1"),
        ("SUCCEEDED", None),
    ],
    "a question is answered": [
        ("you> ", "ask me to choose between tea and coffee"),
        ("1  Send the answers", None),
        ("? ", "1"),
        ("[tea, coffee] ", "coffee"),
        ("You answered: coffee", None),
    ],
    "two calls at once are two questions": [
        ("you> ", "both of them"),
        ("$ echo one", None),
        ("? ", "1"),
        ("$ echo two", None),
        ("? ", "1"),
        ("one\n[run_shell_command: SUCCEEDED]\ntwo\n[run_shell_command: SUCCEEDED]\n", None),
        ("Both are done.", None),
    ],
    "a question in words is answered in words": [
        ("you> ", "Which weather?"),
        ("In which town?\n? ", "Oslo"),
        ("It rains.", None),
        ("-- TASK_STATE_COMPLETED\n", None),
    ],
    "a task that fails says why": [
        ("you> ", "fail"),
        ("-- TASK_STATE_FAILED That is no request\n", None),
    ],
    "a slash command is run, and one that asks is answered": [
        ("you> ", "/about"),
        ("Approval mode: default", None),
        ("you> ", "/memory add Tabs."),
        ("+- Tabs.", None),
        ("? ", "1"),
        ("save_memory: SUCCEEDED", None),
    ],
    "an unknown command and an empty prompt end nothing": [
        ("you> ", "/nothing"),
        ("there is no command /nothing", None),
        ("you> ", ""),
        ("prompt: is required", None),
        ("you> ", None),
    ],
    "a conversation goes on in its context": [
        ("you> ", "run echo hello"),
        ("2  Always allow `echo`", None),
        ("? ", "2"),
        ("SUCCEEDED", None),
        ("you> ", "run echo again"),
        ("again\n[run_shell_command: SUCCEEDED]", None),
    ],
}


@dataclass(frozen=True)
class Program:
    """How one of them is started."""

    name: str
    command: list[str]
    variables: dict[str, str]


class Talk:
    """A running client: what it prints is read as it comes, and forgotten up to what was waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._pieces: queue.Queue[bytes] = queue.Queue()
        self._printed = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := self._process.stdout.read1():
            self._pieces.put(piece)
        self._pieces.put(b"")

    def until(self, text: str) -> None:
        deadline, wanted = time.monotonic() + SECONDS, text.encode()
        while wanted not in self._printed:
            try:
                piece = self._pieces.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {text!r} within {SECONDS:.0f} s but {self._printed!r}") from None
            if not piece:
                raise AssertionError(f"it ended without {text!r}: {self._printed!r}")
            self._printed += piece
        self._printed = self._printed.partition(wanted)[2]

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def leave(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(SECONDS)


@contextmanager
def talk(program: Program, server: Server, **variables: str) -> Iterator[Talk]:
    told = {"AGENA_ADDRESS": server.authority, "AGENA_TOKEN": server.token}
    process = subprocess.Popen(
        program.command,
        env=server.place.environment() | program.variables | told | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield Talk(process)
    finally:
        process.kill()
        process.wait(SECONDS)


def follow(program: Program, server: Server, script: Script) -> None:
    with talk(program, server) as client:
        for text, line in script:
            client.until(text)
            if line is not None:
                client.say(line)
        expect("the exit code when there is nothing more to read", client.leave(), 0)


def edited(program: Program, server: Server) -> None:
    """The diff is shown, and what the editor leaves is what is written."""
    name = f"{program.name.lower()}.py"
    with talk(program, server, EDITOR="sed -i s/hi/ho/") as client:
        client.until("you> ")
        client.say(f"create {name} that prints hi")
        client.until('+print("hi")\n')
        client.until("e  Edit it first\n? ")
        client.say("e")
        client.until("write_file: SUCCEEDED")
        client.until("TASK_STATE_COMPLETED")
    expect("the file", (server.place.workspace / name).read_text(), 'print("ho")\n')


def late(program: Program, server: Server) -> None:
    """Another client answers while this one still asks."""
    key = header("Authorization", f"Bearer {server.token}")
    with talk(program, server) as client:
        client.until("you> ")
        client.say(f"run echo {program.name}")
        client.until("? ")
        pending = curl(f"{server.url}/devtool/v1/pendingConfirmations", key).json["confirmations"]
        [one] = [one for one in pending if one["title"] == f"run echo {program.name}"]
        path = f"/devtool/v1/tasks/{one['task_id']}/toolCalls/{one['tool_call']['tool_call_id']}:confirm"
        body = b'{"selected_option_id": "proceed_once"}'
        expect("the status", curl(server.url + path, key, "-HContent-Type: application/json", body=body).status, 200)
        client.say("3")
        client.until("why? ")
        client.say("too late")
        client.until("not taken: ")
        client.until("TASK_STATE_COMPLETED")


def cut(program: Program, place: Place) -> None:
    """The server is killed while it is asked for something, and comes back: nothing is lost, nothing comes twice."""
    with Server(place) as server, talk(program, server) as client:
        client.until("you> ")
        client.say("run echo hello")
        client.until("? ")
        address = server.authority
        server.kill()
        with Server(place, ["--listen", address]):
            client.say("1")
            client.until("(cut off; going on behind ")
            client.until("hello\n[run_shell_command: SUCCEEDED]\n")
            client.until("-- TASK_STATE_COMPLETED\n")


def cases(program: Program, server: Server) -> Iterator[Case]:
    def case(name: str, check: Callable[[], None]) -> Case:
        return f"{program.name}: {name}", check

    for name, script in SCRIPTS.items():
        yield case(name, lambda script=script: follow(program, server, script))
    yield case("a proposed file is edited first", lambda: edited(program, server))
    yield case("whoever is late is told so", lambda: late(program, server))


def run(report: Report, place: Place, clients: Path) -> None:
    programs = [
        Program(
            "Python",
            [str(clients / "sdk/bin/python"), "-u", str(DOCS / "python/agent.py")],
            {"PYTHONPATH": str(clients / "sdk-gen")},
        ),
        Program("TypeScript", ["node", str(clients / "example/build/agent.js")], {}),
    ]
    for program in programs:
        with Server(place, OPTIONS) as server:
            report.run(cases(program, server))
        report.run([(f"{program.name}: a cut is survived by the cursor", lambda program=program: cut(program, place))])


def main() -> int:
    binary, clients = (Path(argument).resolve() for argument in sys.argv[1:])
    report = Report()
    with tempfile.TemporaryDirectory(prefix="agena-examples-") as directory:
        run(report, Place(binary, Path(directory)), clients)
    print(f"\n{report.passed} passed, {report.failed} failed", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
