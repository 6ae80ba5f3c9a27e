"""Runs the commands of the README's "First calls" as they are printed, in one shell.

    python readme.py path/to/agena DATA_DIR HOST:PORT

Two things are replaced: the one command that would compile the server, by the binary given here, and the default address,
by the one given here. Any connection of the machine may have the default port for a while, as it lies among those that
the system hands out. Prints a line per command and exits 1 if one fails.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTION = "## First calls"
DEFAULT_ADDRESS = "127.0.0.1:41242"
TOKEN_COMMAND = "cargo run --release --quiet -- token"
SECONDS = 180


def blocks(readme: str) -> list[str]:
    """The shell blocks of the section."""
    section = readme.split(f"\n{SECTION}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def script(commands: list[str], binary: str, data_dir: str, address: str, out: Path) -> str:
    """All commands in one shell, so that TOKEN carries over, each with its own output and exit code."""
    token = shlex.join([binary, "token", "--data-dir", data_dir])
    parts = []
    for number, command in enumerate(commands):
        base = shlex.quote(str(out / str(number)))
        here = command.replace(TOKEN_COMMAND, token).replace(DEFAULT_ADDRESS, address)
        parts.append(f"{{\n{here}}} >{base}.out 2>{base}.err\necho $? >{base}.code\n")
    return "".join(parts)


def missing(command: str) -> str | None:
    """A program that the command needs and that is not here, though the README does not ask to install it."""
    return "grpcurl" if command.startswith("grpcurl ") and shutil.which("grpcurl") is None else None


def problem(command: str, base: Path) -> str | None:
    """What is wrong with how a command went, if anything is."""
    if not base.with_suffix(".code").exists():
        return "it did not end"
    out, err = base.with_suffix(".out").read_text(), base.with_suffix(".err").read_text()
    code = base.with_suffix(".code").read_text().strip()
    if code != "0":
        return f"exit code {code}: {err or out}"
    if command.startswith(("TOKEN=", "TASK=")):
        return None
    if "message:stream" in command:
        return None if "TASK_STATE_COMPLETED" in out else f"no task that completes but {out}"
    try:
        answer = json.loads(out)
    except ValueError:
        return f"no JSON: {out or err}"
    if "card" in command.lower():
        return None if "name" in answer else f"no card but {out}"
    if "chat/completions" in command:
        return None if answer.get("choices") else f"no completion but {out}"
    # The example of a wrong request. It must be wrong for the reason that it shows, not for lack of a key.
    return None if answer.get("error", {}).get("status") == "INVALID_ARGUMENT" else f"not that error but {out}"


def main() -> int:
    binary, data_dir, address = sys.argv[1:]
    found = blocks((ROOT / "README.md").read_text())
    commands = [command for command in found if missing(command) is None]
    for command in found:
        if program := missing(command):
            print(f"skip  {program} is not installed: {command.strip()}")
    if not any(TOKEN_COMMAND in command for command in commands):
        print(f"FAIL  the README does not say `{TOKEN_COMMAND}` any more")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory)
        run = ["bash", "-c", script(commands, binary, data_dir, address, out)]
        try:
            subprocess.run(run, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            print(f"FAIL  the commands took longer than {SECONDS} s")
            failed += 1
        for number, command in enumerate(commands):
            why = problem(command, out / str(number))
            failed += why is not None
            print(f"FAIL  {command.strip()}: {' '.join(why.split())}" if why else f"ok    {command.strip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
