"""Starts the built server for a test, and stops it again."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

START_SECONDS = 20.0
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Place:
    """Where the test keeps what a server needs: nothing of the user's own settings is seen or changed."""

    binary: Path
    root: Path

    def __post_init__(self) -> None:
        self.workspace.mkdir()

    @property
    def data_dir(self) -> Path:
        return self.root / "data"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def command(self, *arguments: str) -> list[str]:
        return [str(self.binary), *arguments]

    def environment(self) -> dict[str, str]:
        own = ("AGENA_", "CODER_AGENT_", "XDG_", "GEMINI_", "GOOGLE_", "CODE_ASSIST_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        for name in ("RUST_LOG", "DEBUG", "USE_CCPA", "DEFAULT_MODEL"):
            kept.pop(name, None)
        return kept | {"HOME": str(self.root), "AGENA_DATA_DIR": str(self.data_dir)}

    def popen(self, *arguments: str, stderr: int | IO[str], **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.workspace,
            env=self.environment() | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that ends by itself."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.workspace,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )


class Server:
    """A running server. As a context manager it leaves no process behind, whatever happens within."""

    def __init__(
        self, place: Place, arguments: Sequence[str] = ("--listen", "127.0.0.1:0"), **variables: str
    ) -> None:
        self.place = place
        # In a file, as a pipe that nobody reads would one day block the server.
        self._log = (place.root / "server.log").open("w+")
        self._process = place.popen(*arguments, stderr=self._log, **variables)
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            banner = self._banner()
        except BaseException:
            self._end()
            raise
        self.authority = banner["gRPC"]
        self.url = banner["HTTP+JSON"]
        self.token = banner["token"]

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def stop(self, within: float = STOP_SECONDS) -> int:
        """Asks it to end and returns its exit code."""
        self._process.terminate()
        return self._process.wait(within)

    def kill(self) -> None:
        """Ends it as a crash does."""
        self._process.kill()
        self._process.wait(STOP_SECONDS)

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _banner(self) -> dict[str, str]:
        """The first word after each name; the token comes last."""
        found: dict[str, str] = {}
        deadline = time.monotonic() + START_SECONDS
        while "token" not in found:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"no banner within {START_SECONDS:.0f} s: {self.log}") from None
            if line is None:
                raise RuntimeError(f"it ended before it was ready: {self.log}")
            for name in ("gRPC", "HTTP+JSON", "token"):
                if line.startswith(f"  {name} "):
                    found[name] = line[len(name) + 2 :].split()[0]
        return found

    def _end(self) -> None:
        if self._process.poll() is None:
            self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
