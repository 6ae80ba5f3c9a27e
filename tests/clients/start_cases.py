"""The command itself: how it refuses to start, the token, and how it stops."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from curl import curl
from http_cases import CARD, EMPTY
from report import Case, expect, expect_in
from server import START_SECONDS, STOP_SECONDS, Place, Server

ANY_PORT = ("--listen", "127.0.0.1:0")


def cases(place: Place) -> Iterator[Case]:
    yield "agena token prints the token, over restarts too", lambda: stable_token(place)
    yield "a port in use", lambda: port_in_use(place)
    yield from refusals(place)
    yield "--auth none serves without a key", lambda: open_server(place)
    yield "JSON logs do not hold the token", lambda: json_logs(place)
    yield "SIGTERM is heeded as soon as it says that it is ready", lambda: stopped_at_once(place)
    yield "SIGTERM ends an open stream after the drain", lambda: drained(place)


def refusals(place: Place) -> Iterator[Case]:
    """What to give it, and what the line has to name so that a person knows what to mend."""
    file = str(place.root / "a-file")
    Path(file).write_text("not a directory\n")
    serve: list[tuple[str, list[str], str]] = [
        ("a data directory that cannot be read", ["--data-dir", file], file),
        ("a setting of the wrong kind", ["--set", "server.drain_seconds=soon"], "server.drain_seconds"),
        ("an unknown setting", ["--set", "server.colour=red"], "server.colour"),
        ("a configuration that is not TOML", ["--config", file], f"{file}:1:"),
        ("a configuration that is not there", ["--config", "nowhere.toml"], "nowhere.toml"),
        ("a certificate without its key", ["--tls-cert", file], "tls.key"),
        ("a certificate that is none", ["--tls-cert", file, "--tls-key", file], file),
    ]
    for name, options, named in serve:
        yield name, refusal(place, [*options, *ANY_PORT], named)
    yield "agena token without a readable data directory", refusal(place, ["token", "--data-dir", file], file)
    open_to_all = ["--auth", "none", "--listen", "0.0.0.0:0"]
    yield "no key needed, but open to the network", refusal(place, open_to_all, "--auth none")


def refusal(place: Place, arguments: list[str], named: str) -> Callable[[], None]:
    return lambda: refused(place, arguments, named)


def refused(place: Place, arguments: list[str], named: str) -> None:
    done = place.run(*arguments)
    lines = done.stderr.splitlines()
    expect("the number of lines on stderr", len(lines), 1)
    expect("the beginning", lines[0][:7], "error: ")
    expect_in("the line", named, lines[0])
    expect("stdout", done.stdout, "")
    # A negative one is a signal.
    expect("whether the exit code says so", done.returncode > 0, True)


def stable_token(place: Place) -> None:
    before = place.run("token")
    expect("the exit code", (before.returncode, before.stderr), (0, ""))
    for _ in range(2):
        with Server(place) as server:
            expect("stdout of the command", before.stdout, f"{server.token}\n")


def port_in_use(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused(place, ["--listen", address], address)


def open_server(place: Place) -> None:
    with Server(place, [*ANY_PORT, "--auth", "none"]) as server:
        expect("the name", curl(server.url + CARD).json["name"], "Agena")


@contextmanager
def limited(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Ends it after a while at the latest, and with it any reading of what it prints."""
    watchdog = threading.Timer(START_SECONDS, process.kill)
    watchdog.start()
    try:
        with process:
            yield process
    finally:
        watchdog.cancel()
        process.kill()


def json_logs(place: Place) -> None:
    """There is no banner then: a machine collects these lines, and none may hold the token."""
    token = place.run("token").stdout.strip()
    with limited(place.popen(*ANY_PORT, "--log-format", "json", stderr=subprocess.PIPE)) as process:
        assert process.stderr is not None
        ready = process.stderr.readline()
        process.terminate()
        stdout, rest = process.communicate(timeout=STOP_SECONDS)
    expect("the first message", json.loads(ready)["message"], "ready")
    expect("stdout", stdout, "")
    expect("whether the token is in the log", token in ready + rest, False)
    for line in rest.splitlines():
        json.loads(line)


def stopped_at_once(place: Place) -> None:
    """Whoever starts it takes it for ready once the banner is there. Many times, as it may be a race."""
    for _ in range(20):
        with limited(place.popen(*ANY_PORT, stderr=subprocess.DEVNULL)) as process:
            assert process.stdout is not None
            next((line for line in process.stdout if line.startswith("  token ")), None)
            process.terminate()
            expect("the exit code", process.wait(STOP_SECONDS), 0)


def drained(place: Place) -> None:
    """A watcher of the health would stay for ever."""
    with Server(place, [*ANY_PORT, "--set", "server.drain_seconds=1"]) as server, watch(server) as watcher:
        assert watcher.stdin is not None and watcher.stdout is not None
        watcher.stdin.write(EMPTY)
        watcher.stdin.close()
        # Once its first message is there the stream is open: two bytes that say SERVING.
        expect("the first message", watcher.stdout.read(7), bytes([0, 0, 0, 0, 2, 8, 1]))
        begin = time.monotonic()
        expect("the exit code", server.stop(), 0)
        expect("whether it drained within 3 s", time.monotonic() - begin < 3, True)


def watch(server: Server) -> subprocess.Popen[bytes]:
    command = ["curl", "-qsSN", "-m10", "-Hcontent-type: application/grpc-web+proto", "--data-binary", "@-"]
    command.append(f"{server.url}/grpc.health.v1.Health/Watch")
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
