"""Runs every client against the built server: grpcio, connect-web, the clients of the documentation, the SDKs of A2A and of
the vendors of models, MCP servers behind the agent, curl, and the commands of the README.

    python run.py path/to/agena path/to/clients

The second is a directory that scripts/test makes: `node` with the .mjs files, their packages and the generated
schema, `example` with the built client of docs/write-a-client, `a2a10` and `a2a03` with the two SDKs for Python, `sdk`,
`sdk-node` and `langchain` with those of the vendors, `mcp` with that of MCP.
With AGENA_CLIENTS_PREVIOUS=1 the major versions before run as well, from `sdk-previous` and `sdk-previous-node`.
Prints a line per case, then the counts; exits 1 if a case failed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import example_cases
import http_cases
import link_cases
import mcp_cases
import start_cases
import tls_cases
from report import Report, expect
from server import Place, Server

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "sdk"))
from fake_gemini import FakeGemini  # noqa: E402 - it lies beside its cases

# The webhooks of the clients lie here, which is refused unless it is allowed.
A2A_OPTIONS = ("--rehearsal", str(HERE / "a2a.yaml"), "--set", 'push.allow_hosts=["127.0.0.1"]')


def heading(text: str) -> None:
    print(f"\n{text}", flush=True)


def stop(report: Report, server: Server) -> None:
    report.run([("SIGTERM ends it with exit code 0", lambda: expect("the exit code", server.stop(), 0))])


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, str(HERE / program), *arguments]


def plain(report: Report, place: Place, node: Path) -> None:
    heading("Plain, on a free port")
    with Server(place) as server:
        report.program("grpcio", python("python/card.py", server.authority, server.token))
        report.program("connect-web", ["node", str(node / "card.mjs"), server.url, server.token])
        report.run(http_cases.cases(server))
        stop(report, server)


def a2a(report: Report, place: Place, clients: Path) -> None:
    heading("The SDKs of A2A")
    with Server(place, [*start_cases.ANY_PORT, *A2A_OPTIONS]) as server:
        for name, command in [
            ("a2a-sdk 1.0", [str(clients / "a2a10/bin/python"), str(HERE / "python10/a2a_client.py")]),
            ("a2a-sdk 0.3", [str(clients / "a2a03/bin/python"), str(HERE / "python03/a2a_client.py")]),
            ("@a2a-js/sdk", ["node", str(clients / "node/a2a.mjs")]),
        ]:
            report.program(name, [*command, server.url, server.token])
        stop(report, server)


def typed(report: Report, place: Place, clients: Path) -> None:
    heading("Clients made of the schema, on the typed service")
    with Server(place) as server:
        generated = ["env", f"PYTHONPATH={clients / 'sdk-gen'}", str(clients / "sdk/bin/python")]
        program = [*generated, str(HERE / "python/devtool.py"), server.authority, server.token]
        report.program("grpcio, typed", program)
        report.program("connect-web, typed", ["node", str(clients / "node/devtool.mjs"), server.url, server.token])
        stop(report, server)


def documented(report: Report, place: Place, clients: Path) -> None:
    heading("The clients of the documentation, and its links")
    report.run(link_cases.cases())
    example_cases.run(report, place, clients)


def vendors(clients: Path, suffix: str, name: str) -> list[tuple[str, list[str]]]:
    """The same cases for each generation of the SDKs."""
    python, node = clients / f"sdk{suffix}/bin/python", clients / f"sdk{suffix}-node"
    # Some need a newer Node than most people have; then one lies beside them.
    own = node / "node_modules/.bin/node"
    made = [
        (f"{title}{name}", [str(python), str(HERE / f"sdk/{program}.py")])
        for title, program in (
            ("openai", "openai_cases"),
            ("openai responses", "responses_cases"),
            ("anthropic", "anthropic_cases"),
            ("google-genai", "genai_cases"),
        )
    ]
    scripts = (("openai for Node", "openai"), ("@anthropic-ai/sdk", "anthropic"), ("@google/genai", "genai"))
    executable = str(own if own.exists() else "node")
    return made + [(f"{title}{name}", [executable, str(node / f"{script}.mjs")]) for title, script in scripts]


def facades(report: Report, place: Place, clients: Path) -> None:
    heading("The SDKs of the vendors, over a model of Google's")
    sdk = str(clients / "sdk/bin/python")
    commands = vendors(clients, "", "")
    commands += [
        ("langchain", [str(clients / "langchain/bin/python"), str(HERE / "sdk/langchain_cases.py")]),
        ("grpcio", ["env", f"PYTHONPATH={clients / 'sdk-gen'}", sdk, str(HERE / "sdk/grpc_cases.py")]),
    ]
    if os.environ.get("AGENA_CLIENTS_PREVIOUS") == "1":
        commands += vendors(clients, "-previous", " before")
    with FakeGemini() as fake:
        google = {"GEMINI_API_KEY": "google's", "GOOGLE_GEMINI_BASE_URL": fake.url, "DEFAULT_MODEL": "gemini-3.8-flash"}
        with Server(place, start_cases.ANY_PORT, **google) as server:
            told = [server.url, server.token, fake.url]
            # They mostly wait, but there are few cores.
            report.programs([(name, [*command, *told]) for name, command in commands], wide=4)
            stop(report, server)
    heading("The SDKs of the vendors, over the rehearsal")
    with Server(place) as server:
        report.program("rehearsal", [sdk, str(HERE / "sdk/rehearsal_cases.py"), server.url, server.token, "-"])


def servers(report: Report, place: Place, clients: Path) -> None:
    heading("Real MCP servers")
    mcp_cases.run(report, place, clients / "node", clients / "mcp/bin/python")


def encrypted(report: Report, place: Place) -> None:
    heading("TLS")
    certificate = tls_cases.make_certificate(place.root)
    with Server(place, [*start_cases.ANY_PORT, *certificate.options()]) as server:
        trusted = python("python/card.py", server.authority, server.token, "--ca", str(certificate.cert))
        report.program("grpcio over TLS", trusted)
        report.run(tls_cases.cases(server, certificate))
        stop(report, server)


def command(report: Report, place: Place) -> None:
    heading("The command")
    report.run(start_cases.cases(place))


def readme(report: Report, place: Place) -> None:
    heading("The README, as printed but for the port")
    with Server(place) as server:
        told = [str(place.binary), str(place.data_dir), server.authority]
        report.program("README", python("readme.py", *told), timeout=200)
        stop(report, server)


def main() -> int:
    binary, clients = (Path(argument).resolve() for argument in sys.argv[1:])
    # Some machines send every call through a proxy; these stay here.
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    # npx asks the registry each time, unless told that what it has will do.
    os.environ["npm_config_prefer_offline"] = "true"
    report = Report()
    with tempfile.TemporaryDirectory(prefix="agena-clients-") as directory:
        place = Place(binary, Path(directory))
        parts = (
            lambda: plain(report, place, clients / "node"),
            lambda: a2a(report, place, clients),
            lambda: typed(report, place, clients),
            lambda: documented(report, place, clients),
            lambda: facades(report, place, clients),
            lambda: servers(report, place, clients),
            lambda: encrypted(report, place),
            lambda: command(report, place),
            lambda: readme(report, place),
        )
        for part in parts:
            try:
                part()
            except Exception as error:  # noqa: BLE001 - a part that cannot begin does not hide the others
                report.failed += 1
                print(f"FAIL  {type(error).__name__}: {error}", flush=True)
    print(f"\n{report.passed} passed, {report.failed} failed", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
