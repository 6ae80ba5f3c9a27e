"""Calls curl, as a person at a shell does, and takes its answer apart."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

SECONDS = 10


@dataclass(frozen=True)
class Answer:
    version: str
    status: int
    # By lower-case name; repeated ones joined by commas.
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


def curl(url: str, *options: str, body: bytes | None = None) -> Answer:
    # -q: not with the user's own settings of curl.
    command = ["curl", "-q", "--silent", "--show-error", "--include", "--max-time", str(SECONDS), *options]
    if body is not None:
        command += ["--data-binary", "@-"]
    done = subprocess.run(
        [*command, url], input=body or b"", capture_output=True, timeout=SECONDS + 5, check=False
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise AssertionError(f"curl ended with {done.returncode}: {said}")
    return parse(done.stdout)


def parse(printed: bytes) -> Answer:
    head, _, body = printed.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    version, status = first.split()[:2]
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        before = headers.get(name.lower())
        headers[name.lower()] = value.strip() if before is None else f"{before},{value.strip()}"
    return Answer(version, int(status), headers, body)
