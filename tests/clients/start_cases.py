"""The command itself: how it refuses to start, the token, and how it stops."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

from curl import curl
from http_cases import CARD, EMPTY
from report import Case, expect, expect_in
from server import START_SECONDS, STOP_SECONDS, Place, Server

ANY_PORT = ("--listen", "127.0.0.1:0")


def cases(place: Place) -> Iterator[Case]:
    yield "agena token prints the token, over restarts too", lambda: stable_token(place)
    yield "a port in use", lambda: port_in_use(place)
    file = place.root / "a-file"
    file.write_text("not a directory\n")
    yield "a data directory that cannot be read", refusal(place, "--data-dir", str(file), *ANY_PORT)
    yield "agena token without a readable data directory", refusal(place, "token", "--data-dir", str(file))
    yield "a setting of the wrong kind", refusal(place, "--set", "server.drain_seconds=soon", *ANY_PORT)
    yield "an unknown setting", refusal(place, "--set", "server.colour=red", *ANY_PORT)
    yield "a configuration that is not TOML", refusal(place, "--config", str(file), *ANY_PORT)
    yield "a configuration that is not there", refusal(place, "--config", "nowhere.toml", *ANY_PORT)
    yield "a certificate without its key", refusal(place, "--tls-cert", str(file), *ANY_PORT)
    yield "a certificate that is none", refusal(
        place, "--tls-cert", str(file), "--tls-key", str(file), *ANY_PORT
    )
    yield "no key needed, but open to the network", refusal(
        place, "--auth", "none", "--listen", "0.0.0.0:0"
    )
    yield "--auth none serves without a key", lambda: open_server(place)
    yield "JSON logs do not hold the token", lambda: json_logs(place)
    yield "SIGTERM ends an open stream after the drain", lambda: drained(place)


def refusal(place: Place, *arguments: str) -> Callable[[], None]:
    return lambda: refused(place, *arguments)


def refused(place: Place, *arguments: str) -> str:
    done = place.run(*arguments)
    lines = done.stderr.splitlines()
    expect("the number of lines on stderr", (len(lines), lines[1:]), (1, []))
    expect("the beginning", lines[0][:7], "error: ")
    if done.returncode <= 0:
        raise AssertionError(f"the exit code is {done.returncode}")
    expect("stdout", done.stdout, "")
    return lines[0]


def stable_token(place: Place) -> None:
    before = place.run("token")
    expect("the exit code", (before.returncode, before.stderr), (0, ""))
    for _ in range(2):
        with Server(place) as server:
            expect("stdout of the command", before.stdout, f"{server.token}\n")
            expect("the exit code of the server", server.stop(), 0)


def port_in_use(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = refused(place, "--listen", address)
        expect_in("the line", address, line)


def open_server(place: Place) -> None:
    with Server(place, [*ANY_PORT, "--auth", "none"]) as server:
        expect("the name", curl(server.url + CARD).json["name"], "Agena")
        expect("the exit code", server.stop(), 0)


def json_logs(place: Place) -> None:
    """There is no banner then: a machine collects these lines, and none may hold the token."""
    token = place.run("token").stdout.strip()
    process = place.popen(*ANY_PORT, "--log-format", "json", stderr=subprocess.PIPE)
    # Ends the reading as well, should no line ever come.
    watchdog = threading.Timer(START_SECONDS, process.kill)
    watchdog.start()
    try:
        assert process.stderr is not None
        ready = process.stderr.readline()
        process.terminate()
        stdout, rest = process.communicate(timeout=STOP_SECONDS)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait(STOP_SECONDS)
    expect("the first message", json.loads(ready)["message"], "ready")
    expect("stdout", stdout, "")
    expect("whether the token is in the log", token in ready + rest, False)
    for line in rest.splitlines():
        json.loads(line)


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
