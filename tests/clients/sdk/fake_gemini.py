"""A stand-in for Google's Gemini API on loopback: says what a test told it to, keeps what it was asked, and refuses what
Google refuses.

    with FakeGemini() as fake:
        ...  # fake.url

Tests of every language script it over HTTP, each under a model's name of its own, so that they can run side by side:

    PUT /fake/MODEL   [ANSWER, ...]   the last one is given again and again
    GET /fake/MODEL?asked=N&left=N    what was asked, once there is so much of it, or connections were left by the asker

An ANSWER is an object:

    {"chunks": [GenerateContentResponse, ...]}     a stream, or all in one if no stream is asked for
        with "pause": seconds before all but the first, "split": so many bytes at a time,
        "then": "hang" (say no more), "reset" (break off), or an error that comes within the stream
    {"status": 429, "error": {...}, "headers": {...}}
    {"recall": "My name is (\\w+)"}                says the last match among the texts that reached it
"""

from __future__ import annotations

import json
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from google_rules import Refusal, check

Json = dict[str, Any]

# A test that waits for longer has hung.
WAIT_SECONDS = 10.0
HANG_SECONDS = 30.0
MODELS: tuple[Json, ...] = tuple(
    {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name.replace("-", " ").title(),
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": methods,
        "thinking": "embedding" not in name,
    }
    for name, methods in (
        ("gemini-4-argon", ["generateContent", "countTokens"]),
        ("gemini-3.8-flash", ["generateContent", "countTokens"]),
        ("gemini-embedding-001", ["embedContent"]),
    )
)


@dataclass
class Played:
    """One model's script, and how it went."""

    answers: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)
    signatures: set[str] = field(default_factory=set)
    left: int = 0


class Stage:
    """Shared by all connections."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._played: dict[str, Played] = {}

    def played(self, model: str) -> Played:
        return self._played.setdefault(model, Played())

    def script(self, model: str, answers: list[Json]) -> None:
        with self.changed:
            self._played[model] = Played(answers)

    def ask(self, model: str, asked: Json) -> Json | None:
        with self.changed:
            played = self.played(model)
            played.asked.append(asked)
            self.changed.notify_all()
            return played.answers.pop(0) if len(played.answers) > 1 else next(iter(played.answers), None)

    def sign(self, model: str, signatures: Iterator[str]) -> None:
        with self.changed:
            self.played(model).signatures.update(signatures)

    def leave(self, model: str) -> None:
        with self.changed:
            self.played(model).left += 1
            self.changed.notify_all()

    def seen(self, model: str, asked: int, left: int) -> Json:
        with self.changed:
            played = self.played(model)
            enough = lambda: len(played.asked) >= asked and played.left >= left  # noqa: E731
            self.changed.wait_for(enough, WAIT_SECONDS)
            return {"asked": played.asked, "left": played.left}


class FakeGemini:
    """Runs while it is entered."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.stage = Stage()  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeGemini:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def stage(self) -> Stage:
        return self.server.stage  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: object) -> None:
        """Quiet: a test prints its own line."""

    def do_PUT(self) -> None:
        self.stage.script(unquote(self.path.removeprefix("/fake/")), self._read())
        self._json(200, {})

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path.startswith("/fake/"):
            wanted = {name: int(values[0]) for name, values in parse_qs(url.query).items()}
            model = unquote(url.path.removeprefix("/fake/"))
            self._json(200, self.stage.seen(model, wanted.get("asked", 0), wanted.get("left", 0)))
            return
        _, _, name = url.path.partition("/models/")
        found = next((model for model in MODELS if model["name"] == f"models/{name}"), None)
        if not name:
            self._json(200, {"models": list(MODELS)})
        elif found:
            self._json(200, found)
        else:
            self._error(404, error(404, "NOT_FOUND", f"models/{name} is not found"))

    def do_POST(self) -> None:
        body = self._read()
        url = urlsplit(self.path)
        model, _, verb = unquote(url.path).partition("/models/")[2].rpartition(":")
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.stage.ask(model, {"path": self.path, "verb": verb, "headers": headers, "body": body})
        if answer and "error" in answer:
            self._error(answer["status"], answer["error"], answer.get("headers", {}))
        elif verb in DIRECT:
            self._json(200, DIRECT[verb](body))
        elif answer is None:
            self._error(404, error(404, "NOT_FOUND", f"models/{model} has no script"))
        else:
            self._generate(model, verb, body, answer)

    def _generate(self, model: str, verb: str, body: Json, answer: Json) -> None:
        try:
            check(model, body, self.stage.played(model).signatures)
        except Refusal as refusal:
            self._error(400, error(400, "INVALID_ARGUMENT", f"the fake refuses: {refusal}"))
            return
        chunks = [recall(body, answer["recall"])] if "recall" in answer else answer["chunks"]
        self.stage.sign(model, signatures(chunks))
        if verb == "streamGenerateContent":
            self._stream(model, chunks, answer)
        elif answer.get("then") == "hang":
            self._hang(model)
        else:
            self._json(200, whole(chunks))

    def _stream(self, model: str, chunks: list[Json], answer: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for number, chunk in enumerate(chunks):
                if number and answer.get("pause"):
                    time.sleep(answer["pause"])
                self._event(chunk, answer.get("split", 0))
            self._end(model, answer.get("then"))
        except OSError:
            self.stage.leave(model)
            self.close_connection = True

    def _end(self, model: str, then: Any) -> None:
        if then == "hang":
            self._hang(model)
        elif then == "reset":
            # Closed with a reset instead of an end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        else:
            if then:
                self._event({"error": then}, 0)
            self.wfile.write(b"0\r\n\r\n")

    def _event(self, chunk: Json, split: int) -> None:
        data = f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n".encode()
        for piece in [data[at : at + split] for at in range(0, len(data), split)] if split else [data]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()

    def _hang(self, model: str) -> None:
        """Until the asker leaves, which ends it too."""
        self.close_connection = True
        readable, _, _ = select.select([self.connection], [], [], HANG_SECONDS)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            self.stage.leave(model)

    def _read(self) -> Any:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return camel(json.loads(body or b"{}"))

    def _error(self, status: int, problem: Json, headers: dict[str, str] | None = None) -> None:
        self._json(status, {"error": problem}, headers or {})

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def error(code: int, status: str, message: str, details: list[Json] | None = None) -> Json:
    return {"code": code, "status": status, "message": message, "details": details or []}


# What is the caller's own stays as it is.
OPAQUE = ("args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema")


def camel(value: Any) -> Any:
    """Google takes `inline_data` for `inlineData`, and its SDK for Python sends some of each."""
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub("_([a-z])", lambda found: found[1].upper(), name): each for name, each in value.items()}
    return {name: each if name in OPAQUE else camel(each) for name, each in named.items()}


def texts(contents: list[Json]) -> Iterator[str]:
    return (part["text"] for content in contents for part in content.get("parts", []) if "text" in part)


def recall(body: Json, pattern: str) -> Json:
    found = re.findall(pattern, "\n".join(texts(body["contents"])))
    said = f"Your name is {found[-1]}." if found else "I do not know."
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP"}]}


def parts(chunks: list[Json]) -> Iterator[Json]:
    for chunk in chunks:
        for candidate in chunk.get("candidates", []):
            yield from candidate.get("content", {}).get("parts", [])


def signatures(chunks: list[Json]) -> Iterator[str]:
    return (part["thoughtSignature"] for part in parts(chunks) if "thoughtSignature" in part)


def whole(chunks: list[Json]) -> Json:
    """What Google says to who does not want a stream: texts that follow each other are one."""
    joined: list[Json] = []
    for part in parts(chunks):
        if part.get("text") == "" and "thoughtSignature" not in part:
            continue
        before = joined[-1] if joined else {}
        same = before.get("thought") == part.get("thought") and "thoughtSignature" not in before
        if "text" in part and "text" in before and same:
            joined[-1] = {**part, "text": before["text"] + part["text"]}
        else:
            joined.append(part)
    last: Json = {}
    for chunk in chunks:
        last |= chunk
    if last.get("candidates"):
        content = {"role": "model", "parts": joined}
        last["candidates"] = [{**last["candidates"][0], "content": content}]
    return last


def count(body: Json) -> Json:
    """A token for each word."""
    asked = body.get("generateContentRequest", body)
    system = asked.get("systemInstruction")
    contents = [*asked.get("contents", []), *([system] if system else [])]
    return {"totalTokens": sum(len(text.split()) for text in texts(contents))}


def embed(body: Json) -> Json:
    """Where the text lies is told by its length, so that a test can tell one from another."""
    length = sum(map(len, texts([body["content"]])))
    size = body.get("outputDimensionality", 4)
    return {"values": [length, 0.5, -0.25, 0.125][:size]}


DIRECT = {
    "countTokens": count,
    "embedContent": lambda body: {"embedding": embed(body)},
    "batchEmbedContents": lambda body: {"embeddings": [embed(one) for one in body["requests"]]},
}
