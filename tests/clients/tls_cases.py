"""TLS with a certificate of our own: curl with both versions of HTTP by ALPN; grpcio is run by run.py."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from curl import curl
from http_cases import CARD, header
from report import Case, expect
from server import Server


@dataclass(frozen=True)
class Certificate:
    cert: Path
    key: Path

    def options(self) -> list[str]:
        return ["--tls-cert", str(self.cert), "--tls-key", str(self.key)]


def make_certificate(root: Path) -> Certificate:
    made = Certificate(root / "cert.pem", root / "key.pem")
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(made.key), "-out", str(made.cert)]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return made


def cases(server: Server, certificate: Certificate) -> Iterator[Case]:
    trust = ("--cacert", str(certificate.cert))
    yield "curl over TLS, ALPN http/1.1", lambda: over_tls(server, "HTTP/1.1", *trust, "--http1.1")
    yield "curl over TLS, ALPN h2", lambda: over_tls(server, "HTTP/2", *trust, "--http2")
    yield "curl does not trust a certificate that it does not know", lambda: distrusted(server)
    yield "the card announces https", lambda: announced(server, *trust)


def over_tls(server: Server, version: str, *options: str) -> None:
    answer = curl(server.url + CARD, header("Authorization", f"Bearer {server.token}"), *options)
    expect("the version", answer.version, version)
    expect("the status", answer.status, 200)


def distrusted(server: Server) -> None:
    try:
        curl(server.url + CARD)
    except AssertionError:
        return
    raise AssertionError("the certificate was not looked at")


def announced(server: Server, *options: str) -> None:
    answer = curl(f"{server.url}/.well-known/agent-card.json", *options)
    urls = {one["url"] for one in answer.json["supportedInterfaces"] if one["protocolBinding"] == "HTTP+JSON"}
    expect("the address", urls, {server.url})
    expect("the scheme", server.url.split(":")[0], "https")
