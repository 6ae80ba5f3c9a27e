"""What curl sees: both versions of HTTP, every place for a key, and the guards against foreign pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from curl import Answer, curl
from report import Case, expect, expect_in
from server import Server

CARD = "/extendedAgentCard"
PUBLIC_CARD = "/.well-known/agent-card.json"
PAGE = "http://localhost:5173"
# What gRPC-Web clients in a browser ask leave to send, and have to be able to read.
SENT = ["authorization", "content-type", "grpc-timeout", "x-grpc-web", "x-user-agent"]
READ = ["grpc-status", "grpc-message", "grpc-status-details-bin"]
# An empty message of gRPC: not compressed, no bytes.
EMPTY = bytes(5)


def header(name: str, value: str) -> str:
    """As one word: curl knows no `--header=`."""
    return f"-H{name}: {value}"


def cases(server: Server) -> Iterator[Case]:
    yield "curl over HTTP/1.1", lambda: card(server, "HTTP/1.1", "--http1.1")
    yield "curl over HTTP/2", lambda: card(server, "HTTP/2", "--http2-prior-knowledge")
    yield "the public card and its ETag", lambda: public_card(server)
    yield "health needs no key", lambda: status(server, 200, "/healthz", key=False)
    yield "a wrong request names the field", lambda: wrong_request(server)
    yield "a form is not JSON", lambda: status(server, 415, "/message:send", "-da=b")
    yield "an unknown path", lambda: status(server, 404, "/nowhere")
    yield "the server itself ends a call at its deadline", lambda: deadline(server)
    yield from credentials(server)
    yield from guards(server)


def status(server: Server, expected: int, path: str, *options: str, key: bool = True) -> None:
    bearer = [header("Authorization", f"Bearer {server.token}")] if key else []
    answer = curl(server.url + path, *bearer, *options)
    expect("the status", answer.status, expected)


def card(server: Server, version: str, *options: str) -> None:
    answer = curl(server.url + CARD, header("Authorization", f"Bearer {server.token}"), *options)
    expect("the version", answer.version, version)
    expect("the status", answer.status, 200)
    expect("the name", answer.json["name"], "Agena")
    urls = {interface["url"] for interface in answer.json["supportedInterfaces"]}
    expect("the addresses", urls, {server.authority, f"{server.url}/a2a/rpc", server.url})


def public_card(server: Server) -> None:
    first = curl(server.url + PUBLIC_CARD)
    expect("the status", first.status, 200)
    again = curl(server.url + PUBLIC_CARD, header("If-None-Match", first.header("etag")))
    expect("the status with its ETag", again.status, 304)


def wrong_request(server: Server) -> None:
    options = [header("Authorization", f"Bearer {server.token}"), header("Content-Type", "application/json")]
    answer = curl(server.url + "/message:send", *options, "-d{}")
    expect("the status", answer.status, 400)
    details = answer.json["error"]["details"]
    fields = [one["field"] for detail in details for one in detail.get("fieldViolations", [])]
    expect("the fields", fields, ["message"])


def deadline(server: Server) -> None:
    """grpcio ends a call on its own side too; curl only shows what the server does."""
    options = [header("Content-Type", "application/grpc-web+proto"), header("grpc-timeout", "200m")]
    answer = curl(server.url + "/grpc.health.v1.Health/Watch", *options, body=EMPTY)
    expect_in("the trailers", "grpc-status:4", answer.body.decode("latin-1"))


def credentials(server: Server) -> Iterator[Case]:
    yield "no key is refused", lambda: status(server, 401, CARD, key=False)
    for key, expected in ((server.token, 200), ("wrong", 401)):
        word = "right" if expected == 200 else "wrong"
        for name, value in (
            ("Authorization", f"Bearer {key}"),
            ("x-api-key", key),
            ("x-goog-api-key", key),
        ):
            yield f"a {word} key in {name}", place(server, expected, CARD, header(name, value))
        yield f"a {word} key in ?key=", place(server, expected, f"{CARD}?key={key}")


def place(server: Server, expected: int, path: str, *options: str) -> Callable[[], None]:
    return lambda: status(server, expected, path, *options, key=False)


def guards(server: Server) -> Iterator[Case]:
    evil = "evil.example"
    h2 = "--http2-prior-knowledge"
    yield "a foreign Host is refused", lambda: status(server, 403, CARD, header("Host", evil))
    yield "a foreign authority is refused", lambda: status(server, 403, CARD, h2, header("Host", evil))
    yield "a foreign Origin is refused", lambda: status(server, 403, CARD, header("Origin", f"https://{evil}"))
    yield "a preflight of a local page is answered", lambda: preflight(server)
    yield "a local page may read the status of a call", lambda: exposed(server)
    yield "a preflight of a foreign page gets no leave", lambda: foreign_preflight(server)


def ask(server: Server, origin: str) -> Answer:
    return curl(
        f"{server.url}/lf.a2a.v1.A2AService/GetExtendedAgentCard",
        "-XOPTIONS",
        header("Origin", origin),
        header("Access-Control-Request-Method", "POST"),
        header("Access-Control-Request-Headers", ",".join(SENT)),
    )


def preflight(server: Server) -> None:
    answer = ask(server, PAGE)
    expect("the status", answer.status, 200)
    expect("the origin", answer.header("access-control-allow-origin"), PAGE)
    expect_in("the methods", "POST", answer.header("access-control-allow-methods"))
    for name in SENT:
        expect_in("the headers", name, answer.header("access-control-allow-headers"))


def exposed(server: Server) -> None:
    """A refusal, as this is where a page needs the status most."""
    options = [header("Origin", PAGE), header("Content-Type", "application/grpc-web+proto")]
    answer = curl(f"{server.url}/lf.a2a.v1.A2AService/GetExtendedAgentCard", *options, body=EMPTY)
    expect("the origin", answer.header("access-control-allow-origin"), PAGE)
    expect("the status of the call", answer.header("grpc-status"), "16")
    for name in READ:
        expect_in("the exposed headers", name, answer.header("access-control-expose-headers"))


def foreign_preflight(server: Server) -> None:
    answer = ask(server, "https://evil.example")
    expect("the origin", answer.header("access-control-allow-origin"), "")
