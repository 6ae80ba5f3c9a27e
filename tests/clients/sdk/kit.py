"""What the cases of the vendors' SDKs share: how they script the fake Gemini, and how they are run, side by side.

A program of cases is called as `PROGRAM URL TOKEN FAKE`: the server, its key, and the fake that it asks.
"""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from report import Report, expect, expect_in  # noqa: E402, F401 - it lies beside all clients; cases take it from here

Json = dict[str, Any]

# A call that takes longer has hung; a silent stream is the longest.
SECONDS = 25.0
# Longer than the server's 15 s between two heartbeats.
SILENCE = 16.0
PIXEL = b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000100e221bc330000000049454e44ae426082"
    )
).decode()
# Two requests for the weather at once, and what a caller declares for them.
WEATHER: Json = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
    "required": ["city"],
    "additionalProperties": False,
}
SIGNED = b64encode(b"signed by the model").decode()
_opener = build_opener(ProxyHandler({}))
_number = count(1)
_naming = threading.Lock()


def http(method: str, url: str, body: Any = None, headers: dict[str, str] | None = None, timeout: float = SECONDS) -> Any:
    """A plain answer, whatever its status."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json", **(headers or {})}, method=method)
    return _opener.open(request, timeout=timeout)


def chunk(*parts: Json, finish: str = "", usage: Json | None = None) -> Json:
    """A piece of an answer of Gemini's."""
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    made: Json = {"candidates": [candidate], "modelVersion": "gemini-fake", "responseId": "answer-1"}
    return made | ({"usageMetadata": usage} if usage else {})


def text(words: str) -> Json:
    return {"text": words}


def thought(words: str) -> Json:
    return {"text": words, "thought": True}


def call(name: str, arguments: Json, signature: str = "", id: str = "") -> Json:
    made: Json = {"functionCall": {"name": name, "args": arguments} | ({"id": id} if id else {})}
    return made | ({"thoughtSignature": signature} if signature else {})


def says(*words: str, **more: Any) -> Json:
    """An answer of texts, each in a chunk of its own."""
    first = [chunk(text(each)) for each in words[:-1]]
    return {"chunks": [*first, chunk(text(words[-1]), finish="STOP", **more)]}


def fails(status: int, name: str, message: str = "so it was told", **more: Any) -> Json:
    details = more.pop("details", [])
    return {"status": status, "error": {"code": status, "status": name, "message": message, "details": details}, **more}


def wants_weather() -> list[Json]:
    """A text, then two calls at once, the first of them signed; the end comes later, with an empty text."""
    return [
        chunk(text("Let me look. ")),
        chunk(call("weather", {"city": "Paris"}, SIGNED, "c1")),
        chunk(call("weather", {"city": "Rome", "unit": "c"}, id="c2")),
        chunk(text(""), finish="STOP"),
    ]


USAGE: Json = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 112,
}


@dataclass(frozen=True)
class Fake:
    """One model of the fake, with a name that nobody else has."""

    url: str
    model: str

    def script(self, *answers: Json) -> Fake:
        http("PUT", self._address(), list(answers)).close()
        return self

    def asked(self, times: int = 1) -> list[Json]:
        """Each request that reached it, and not one more."""
        seen = self._seen(asked=times)["asked"]
        expect("how often the model was asked", len(seen), times)
        return [one["body"] for one in seen]

    def requests(self, times: int = 1) -> list[Json]:
        return list(self._seen(asked=times)["asked"])

    def was_left(self) -> None:
        expect("whether the model was left alone", self._seen(left=1)["left"], 1)

    def _seen(self, **wanted: int) -> Json:
        query = "&".join(f"{name}={value}" for name, value in wanted.items())
        with http("GET", f"{self._address()}?{query}") as answer:
            return json.load(answer)

    def _address(self) -> str:
        return f"{self.url}/fake/{self.model}"


@dataclass(frozen=True)
class Bench:
    """Where a case finds the server and the fake."""

    url: str
    token: str
    fake: str

    def model(self, *answers: Json, name: str = "gemini-3.8-flash") -> Fake:
        with _naming:
            own = f"{name}-{Path(sys.argv[0]).stem.replace('_', '-')}-{next(_number)}"
        return Fake(self.fake, own).script(*answers)

    def plain(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Without an SDK."""
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        return http(method, self.url + path, body, {"authorization": f"Bearer {self.token}", **own})


Case = Callable[[Bench], None]


class Cases(dict[str, Case]):
    """By what they show."""

    def __call__(self, name: str) -> Callable[[Case], Case]:
        def keep(case: Case) -> Case:
            expect("whether the name is new", name in self, False)
            self[name] = case
            return case

        return keep


def error_of(kind: type[Exception], run: Callable[[], object]) -> Any:
    """The error that a call must end in, of just this class."""
    try:
        answer = run()
    except Exception as error:
        if type(error) is kind:
            return error
        raise AssertionError(f"{type(error).__name__} instead of {kind.__name__}: {error}") from error
    raise AssertionError(f"no {kind.__name__} but {answer!r}")


def roles(body: Json) -> list[str]:
    return [content["role"] for content in body["contents"]]


def said(content: Json) -> str:
    return "".join(part.get("text", "") for part in content["parts"])


def responses(content: Json) -> list[tuple[str, str, Any]]:
    """What tools answered: id, name, and what they said."""
    found = [part["functionResponse"] for part in content["parts"]]
    return [(one.get("id", ""), one["name"], one["response"]) for one in found]


@cache
def five_megabytes() -> str:
    """No picture, but as long as one."""
    return b64encode(bytes(range(256)) * (5 * 4096)).decode()


def arguments() -> Bench:
    if len(sys.argv) != 4:
        print(f"usage: {sys.argv[0]} URL TOKEN FAKE", file=sys.stderr)
        sys.exit(2)
    return Bench(*sys.argv[1:])


def run(cases: Cases, wide: int = 8) -> int:
    """All of them, side by side; their lines come in order."""
    bench, report = arguments(), Report()
    # The slow ones first, or the others would wait for them at the end.
    order = sorted(cases, key=lambda name: "silence" not in name)
    with ThreadPoolExecutor(wide) as pool:
        under_way = {name: pool.submit(cases[name], bench) for name in order}
        report.run(waits(under_way))
    return 1 if report.failed else 0


def waits(under_way: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    for name, future in under_way.items():
        yield name, future.result
