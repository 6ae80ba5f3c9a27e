"""Counts the cases of a run and prints a line for each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

# A case passes when its check returns.
Case = tuple[str, Callable[[], None]]


def expect(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what} is {actual!r} instead of {expected!r}")


def expect_in(what: str, part: str, whole: str) -> None:
    if part not in whole:
        raise AssertionError(f"{what} lacks {part!r}: {whole!r}")


@dataclass
class Report:
    passed: int = 0
    failed: int = 0

    def run(self, cases: Iterable[Case]) -> None:
        for name, check in cases:
            self._case(name, check)

    def _case(self, name: str, check: Callable[[], None]) -> None:
        try:
            check()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next case still runs
            self.failed += 1
            print(f"FAIL  {name}: {describe(error)}", flush=True)
        else:
            self.passed += 1
            print(f"ok    {name}", flush=True)

    def program(self, name: str, command: Sequence[str], timeout: float = 60) -> None:
        """Runs a program that prints such lines itself, and counts them."""
        self._count(name, execute(command, timeout))

    def programs(self, commands: Sequence[tuple[str, Sequence[str]]], wide: int, timeout: float = 100) -> None:
        """The same with several at a time; their lines come in order."""
        with ThreadPoolExecutor(wide) as pool:
            under_way = [(name, pool.submit(execute, command, timeout)) for name, command in commands]
            for name, future in under_way:
                self._count(name, future.result())

    def _count(self, name: str, done: subprocess.CompletedProcess[str] | Exception) -> None:
        before = self.failed
        if isinstance(done, Exception):
            why = describe(done)
            self._case(name, lambda: fail(why))
            return
        for line in done.stdout.splitlines():
            result, _, case = line.partition("  ")
            self.passed += result == "ok"
            self.failed += result == "FAIL"
            print(f"{result:<6}{name}: {case.strip()}", flush=True)
        # One that dies says so by its exit code alone.
        if done.returncode != 0 and self.failed == before:
            self._case(name, lambda: fail(f"exit code {done.returncode}: {one_line(done.stderr)}"))


def execute(command: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str] | Exception:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return error


def fail(why: str) -> None:
    raise AssertionError(why)


def describe(error: Exception) -> str:
    text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    return one_line(text)


def one_line(text: str) -> str:
    return " | ".join(line.strip() for line in text.strip().splitlines()[-12:])
