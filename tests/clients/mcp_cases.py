"""Real MCP servers behind the agent: listed, asked for, called, followed and cancelled through A2A.

    python mcp_cases.py path/to/agena path/to/node path/to/python

The second holds the packages of the servers, the third is a Python with the protocol's library, for the editor of the
documents. The rehearsal calls their tools by a script in the prompt.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from report import Case, Report, expect, expect_in
from server import Place, Server

URI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
FENCE = "```"
SECONDS = 40


def script(*steps: str) -> str:
    lines = "\n".join(f"      - {step}" for step in steps)
    return f"{FENCE}rehearsal\nrules:\n  - do:\n{lines}\n{FENCE}"


class Client:
    """Speaks A2A 0.3 with the extension."""

    def __init__(self, server: Server) -> None:
        self.server, self.number = server, 0

    def post(self, method: str, params: object) -> urllib.request.Request:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.server.token}", "X-A2A-Extensions": URI}
        return urllib.request.Request(f"{self.server.url}/", body, headers)

    def stream(self, message: dict, enough: Callable[[str], bool] = lambda _: False) -> list[dict]:
        self.number += 1
        message |= {"kind": "message", "role": "user", "messageId": f"m-{self.number}-{time.time_ns()}"}
        heard = []
        with urllib.request.urlopen(self.post("message/stream", {"message": message}), timeout=SECONDS) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    heard.append(event.get("result", event))
                    if enough(line.decode()):
                        break
        return heard

    def ask(self, text: str, **settings: object) -> list[dict]:
        return self.stream({"parts": [{"kind": "text", "text": text}], "metadata": {URI: settings} if settings else {}})

    def command(self, name: str, args: str) -> dict:
        params = {"command_path": [name], "args": args}
        with urllib.request.urlopen(self.post("command/execute", params), timeout=SECONDS) as answer:
            return json.load(answer)["result"]

    def commands(self) -> list[str]:
        with urllib.request.urlopen(self.post("commands/get", {}), timeout=SECONDS) as answer:
            return [command["name"] for command in json.load(answer)["result"]["commands"]]

    def decide(self, asked: list[dict], option: str, enough: Callable[[str], bool] = lambda _: False) -> list[dict]:
        call = pending(asked)
        data = {"tool_call_id": call["tool_call_id"], "selected_option_id": option}
        message = {"taskId": asked[0].get("id") or asked[0]["taskId"], "parts": [{"kind": "data", "data": data}]}
        return self.stream(message, enough)

    def cancel(self, task: str) -> str:
        with urllib.request.urlopen(self.post("tasks/cancel", {"id": task}), timeout=SECONDS) as answer:
            return json.load(answer)["result"]["status"]["state"]


def calls(events: list[dict]) -> list[dict]:
    parts = [part for event in events for part in (event.get("status", {}).get("message") or {}).get("parts", [])]
    return [part["data"] for part in parts if part["kind"] == "data" and "tool_call_id" in part["data"]]


def pending(events: list[dict]) -> dict:
    found = [call for call in calls(events) if call.get("confirmation_request")]
    if not found:
        raise AssertionError(f"nothing is asked for: {json.dumps(events[-1])[:600]}")
    return found[-1]


def state(events: list[dict]) -> str:
    return events[-1]["status"]["state"]


def cases(client: Client, files: Path) -> Iterator[Case]:
    def listing() -> None:
        asked = client.ask(script('call: {tool: mcp_files_list_directory, with: {path: "%s"}}' % files, 'say: "{result}"'))
        expect("the details", pending(asked)["confirmation_request"]["mcp_details"], {"server_name": "files", "tool_name": "list_directory"})
        options = [option["id"] for option in pending(asked)["confirmation_request"]["options"]]
        expect("the options", options, ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"])
        ended = client.decide(asked, "proceed_once")
        expect("the state", state(ended), "completed")
        expect_in("the output", "[FILE] hello.txt", calls(ended)[-1]["output"]["text"])

    def outside() -> None:
        asked = client.ask(script('call: {tool: mcp_files_list_directory, with: {path: "/etc"}}', 'say: "{result}"'))
        failed = calls(client.decide(asked, "proceed_once"))[-1]
        expect("the type", failed["error"]["type"], "mcp_tool_error")

    def rejected() -> None:
        asked = client.ask(script('call: {tool: mcp_every_echo, with: {message: "no"}}', 'say: "{result}"'))
        expect("the call", calls(client.decide(asked, "cancel"))[0]["status"], "CANCELLED")

    def echo(server: str) -> None:
        asked = client.ask(script('call: {tool: mcp_%s_echo, with: {message: "over there"}}' % server, 'say: "{result}"'))
        ended = client.decide(asked, "proceed_once")
        expect_in("the output", "over there", calls(ended)[-1]["output"]["text"])

    def always() -> None:
        twice = ['call: {tool: mcp_every_echo, with: {message: "%s"}}' % word for word in ("one", "two")]
        ended = client.decide(client.ask(script(*twice, 'say: "done"')), "proceed_always_server")
        expect("the state", state(ended), "completed")
        texts = [call["output"]["text"] for call in calls(ended) if call.get("output")]
        expect("both ran", len(texts), 2)

    def wrong() -> None:
        ended = client.ask(script('call: {tool: mcp_every_echo, with: {message: 5}}', 'say: "{result}"'))
        expect("the type", calls(ended)[-1]["error"]["type"], "invalid_tool_params")

    def progress(server: str) -> None:
        long = "call: {tool: mcp_%s_trigger-long-running-operation, with: {duration: 2, steps: 4}}" % server
        ended = client.decide(client.ask(script(long, 'say: "done"')), "proceed_once")
        lives = [call.get("live_content") or "" for call in calls(ended)]
        expect_in("the progress", "of 4]", "".join(lives))
        expect("the state", state(ended), "completed")

    def cancel() -> None:
        long = "call: {tool: mcp_every_trigger-long-running-operation, with: {duration: 60, steps: 60}}"
        asked = client.ask(script(long, 'say: "done"'))
        client.decide(asked, "proceed_once", lambda line: "of 60]" in line)
        began = time.monotonic()
        expect("the state", client.cancel(asked[0]["id"]), "canceled")
        expect("at once", time.monotonic() - began < 5, True)

    def picture() -> None:
        asked = client.ask(script("call: {tool: mcp_every_get-tiny-image, with: {}}", 'say: "done"'))
        expect_in("the output", "[image/png, attached]", calls(client.decide(asked, "proceed_once"))[-1]["output"]["text"])

    def resources() -> None:
        ended = client.ask(script("call: {tool: list_mcp_resources, with: {server: every}}", 'say: "{result}"'))
        expect_in("the list", "every: ", calls(ended)[-1]["output"]["text"])

    def prompts() -> None:
        # Two servers have it, so each is called by its own.
        expect("it is listed", "every.args-prompt" in client.commands(), True)
        expect("with its arguments", client.command("every.args-prompt", '--city="Rome"')["status"], "STARTED")
        expect("without", client.command("every.args-prompt", "")["status"], "FAILED_TO_START")

    yield "server-filesystem lists a directory after a confirmation", listing
    yield "what the server refuses is the error of that call", outside
    yield "a rejected call does not run", rejected
    yield "server-everything echoes over standard streams", lambda: echo("every")
    yield "server-everything echoes over streamable HTTP", lambda: echo("web")
    yield "always for the server holds for the conversation", always
    yield "wrong arguments never reach the server", wrong
    yield "progress is live output over standard streams", lambda: progress("every")
    yield "progress is live output over streamable HTTP", lambda: progress("web")
    yield "a running call is cancelled at once", cancel
    yield "a picture comes back", picture
    yield "resources are listed unasked", resources
    yield "prompts are commands", prompts


def document(number: int, language: str) -> str:
    """A block of docs/clients/editor.md."""
    text = (Path(__file__).resolve().parents[2] / "docs/clients/editor.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[number]


def editor_cases(client: Client) -> Iterator[Case]:
    """What the document says, with its own settings."""

    def buffers() -> None:
        settings = json.loads(document(0, "json"))["message"]["metadata"][URI]
        named = settings["mcp_servers"][0]["name"]
        steps = ["call: {tool: connect_mcp_server, with: {server: %s}}" % named, "call: {tool: mcp_%s_open_buffers, with: {}}" % named]
        asked = client.ask(script(*steps, 'say: "{result}"'), mcp_servers=settings["mcp_servers"])
        shown = pending(asked)["confirmation_request"]["generic_details"]["description"]
        expect_in("the question", "Connect to the MCP server editor: http://127.0.0.1:7777/mcp", shown)
        asked = client.decide(asked, "proceed_once")
        ended = client.decide(asked, "proceed_always_server")
        expect_in("the buffers", "main.py", calls(ended)[-1]["output"]["text"])

    yield "an editor offers its buffers, as the document says", buffers


def editor(report: Report, place: Place, python: Path) -> None:
    program, config = place.root / "editor.py", place.root / "editor.toml"
    program.write_text(document(0, "python"))
    config.write_text(document(0, "toml"))
    with (place.root / "editor.log").open("w") as log:
        running = subprocess.Popen([str(python), str(program)], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 20
        while not answers(7777) and running.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        with Server(place, ["--listen", "127.0.0.1:0", "--config", str(config)]) as server:
            report.run(editor_cases(Client(server)))
    finally:
        running.kill()
        running.wait()


def settings(node: Path, files: Path, port: int) -> str:
    package = node / "node_modules/@modelcontextprotocol"
    every, filesystem = (str(package / name / "dist/index.js") for name in ("server-everything", "server-filesystem"))
    return f"""
[mcp.servers.files]
command = "node"
args = [{json.dumps(filesystem)}, {json.dumps(str(files))}]
[mcp.servers.every]
command = "node"
args = [{json.dumps(every)}, "stdio"]
[mcp.servers.web]
url = "http://127.0.0.1:{port}/mcp"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run(report: Report, place: Place, node: Path, python: Path) -> None:
    files = place.root / "mcp-files"
    files.mkdir()
    (files / "hello.txt").write_text("hello\n")
    port = free_port()
    config = place.root / "mcp.toml"
    config.write_text(settings(node, files, port))
    every = node / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    web = subprocess.Popen(
        ["node", str(every), "streamableHttp"],
        env={**place.environment(), "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 20
        while not answers(port) and time.monotonic() < until:
            time.sleep(0.05)
        with Server(place, ["--listen", "127.0.0.1:0", "--config", str(config)]) as server:
            report.run(cases(Client(server), files))
            log = server.log
            report.run([("the log says who is connected", lambda: expect_in("the log", "an MCP server is connected", log))])
    finally:
        web.kill()
        web.wait()
    editor(report, place, python)


if __name__ == "__main__":
    binary, packages = (Path(argument).resolve() for argument in sys.argv[1:3])
    counted = Report()
    with tempfile.TemporaryDirectory() as directory:
        run(counted, Place(binary, Path(directory)), packages, Path(sys.argv[3]).absolute())
    sys.exit(1 if counted.failed else 0)
