"""Writes down what Python's json_format makes of a corpus of messages, for the Rust tests to compare with.

It needs Python 3.11 with the packages of tests/clients/requirements.txt, and the descriptors of both modules:

    buf build --as-file-descriptor-set -o descriptors.binpb
    python tests/clients/protojson/corpus.py descriptors.binpb            # writes tests/golden/protojson/*.jsonl
    python tests/clients/protojson/corpus.py descriptors.binpb --check    # exits 1 if those are stale

The cases are tables in encode_cases.py, decode_cases.py and documents.py. Knows nothing of the server.
"""

import argparse
import base64
import difflib
import json
import pathlib
import sys
from collections.abc import Iterable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format
from google.protobuf.message import Message

import decode_cases
import documents
import encode_cases

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "protojson"

# The package that the server prints with the names of its files.
SNAKE = "agena.devtool.v1."
# What the server prints with all its members, because A2A asks for them.
WHOLE = "lf.a2a.v1.ListTasksResponse"

Line = dict[str, Any]


class Pool:
    """Messages by their full names."""

    def __init__(self, path: pathlib.Path) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        for file in files.file:
            self._pool.Add(file)

    def new(self, name: str) -> Message:
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))()

    def parse(self, name: str, text: bytes) -> Message:
        # A2A wants unknown members ignored.
        return json_format.Parse(text, self.new(name), ignore_unknown_fields=True, descriptor_pool=self._pool)

    def parse_text(self, name: str, text: str) -> Message:
        return text_format.Parse(text, self.new(name), descriptor_pool=self._pool)

    def print(self, message: Message) -> Any:
        name = message.DESCRIPTOR.full_name
        text = json_format.MessageToJson(
            message,
            indent=None,
            sort_keys=True,  # Maps have no order of their own.
            preserving_proto_field_name=name.startswith(SNAKE),
            descriptor_pool=self._pool,
        )
        value = json.loads(text)
        if name == WHOLE:
            # Python's option would reach down into the tasks, where nobody asks for it.
            empty = json_format.MessageToDict(self.new(name), always_print_fields_with_no_presence=True)
            value = dict(sorted((empty | value).items()))
        return value


def wire(message: Message) -> str:
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode()


def encode_line(pool: Pool, case: str, message: Message) -> Line:
    line: Line = {"case": case, "message": message.DESCRIPTOR.full_name, "wire": wire(message)}
    try:
        return line | {"json": pool.print(message)}
    except Exception:  # Its text changes with the version of Python; that it refuses is what counts.
        return line | {"refused": True}


def decode_line(pool: Pool, case: str, name: str, text: bytes) -> Line:
    line: Line = {"case": case, "message": name}
    try:
        line["text"] = text.decode()
    except UnicodeDecodeError:
        line["base64"] = base64.b64encode(text).decode()
    try:
        return line | {"wire": wire(pool.parse(name, text))}
    except Exception:
        return line | {"refused": True}


def encode_lines(pool: Pool) -> Iterable[Line]:
    for case, name, text in encode_cases.cases():
        yield encode_line(pool, case, pool.parse_text(name, text))
    for case, name, document in documents.cases():
        yield encode_line(pool, case, pool.parse(name, json.dumps(document).encode()))


def decode_lines(pool: Pool) -> Iterable[Line]:
    for case, name, text in decode_cases.cases():
        yield decode_line(pool, case, name, text)
    for case, name, document in documents.cases():
        yield decode_line(pool, case, name, json.dumps(document).encode())


def render(lines: Iterable[Line]) -> str:
    seen: set[str] = set()
    rendered = []
    for line in lines:
        if line["case"] in seen:
            raise SystemExit(f"two cases are called {line['case']!r}")
        seen.add(line["case"])
        rendered.append(json.dumps(line, ensure_ascii=True, sort_keys=False) + "\n")
    return "".join(rendered)


def is_current(path: pathlib.Path, fresh: str) -> bool:
    committed = path.read_text("utf-8") if path.exists() else ""
    names = (f"{path.name} (committed)", f"{path.name} (fresh)")
    diff = list(difflib.unified_diff(committed.splitlines(True), fresh.splitlines(True), *names, n=0))
    sys.stdout.writelines(diff)
    return not diff


def main() -> int:
    arguments = argparse.ArgumentParser(description="Writes or checks the golden files of the ProtoJSON tests.")
    arguments.add_argument("descriptors", type=pathlib.Path, help="a FileDescriptorSet with imports")
    arguments.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    given = arguments.parse_args()

    pool = Pool(given.descriptors)
    files = {"encode.jsonl": render(encode_lines(pool)), "decode.jsonl": render(decode_lines(pool))}
    if given.check:
        current = [is_current(GOLDEN / name, fresh) for name, fresh in files.items()]
        return 0 if all(current) else 1
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, fresh in files.items():
        (GOLDEN / name).write_text(fresh, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
