"""An MCP server for tests, and a bad one if it is told so: `fake.py [MODE]` on standard streams, `fake.py http [MODE]` over HTTP.

The mode says how it behaves before anything is called, the name of a tool what a call of it does. It knows no library, so
that it can break every rule.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTTP = sys.argv[1:2] == ["http"]
MODE = (sys.argv[2:] if HTTP else sys.argv[1:] or [""])[:1]
MODE = MODE[0] if MODE else ""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE = {"type": "object", "properties": {}}
NAMES = ["echo", "slow", "picture", "big", "fail", "die", "hang", "garbage", "chatter", "grow", "shrink", "variables", "weird", "ask", "parent"]
tools = [{"name": name, "description": name, "inputSchema": TEXT if name == "echo" else NONE} for name in NAMES]
lock = threading.Lock()


def out(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def notice(method, **params):
    out({"jsonrpc": "2.0", "method": method, "params": params})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def listed(params):
    if MODE == "stumbles" and len(tools) > len(NAMES) and not os.path.exists("stumbled"):
        open("stumbled", "w").close()
        return {"tools": "none"}
    if MODE == "endless":
        return {"tools": [], "nextCursor": str(time.time_ns())}
    if MODE == "unfolds":
        twice = lambda n: {"allOf": [{"$ref": f"#/$defs/d{n}"}] * 2}
        chain = {f"d{n}": twice(n + 1) for n in range(40)} | {"d40": {}}
        return {"tools": [tools[0], {"name": "bomb", "inputSchema": {"type": "object", "$ref": "#/$defs/d0", "$defs": chain}}]}
    if MODE == "thousands":
        return {"tools": [{"name": f"t{n}", "inputSchema": NONE} for n in range(5000)]}
    if MODE == "liar":
        return {"tools": [
            tools[0], tools[0],
            {"name": "an array", "inputSchema": {"type": "array"}},
            {"name": "no/such\nname", "inputSchema": NONE},
        ]}
    return {"tools": tools}


def call(params, token):
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text(arguments["text"])
    if name == "slow":
        for step in range(1, 4):
            notice("notifications/progress", progressToken=token, progress=step, total=3, message=f"step {step}")
        return None
    if name == "picture":
        return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "text", "text": "seen"}]}
    if name == "big":
        return text("x" * 3_000_000)
    if name == "fail":
        return text("it is not my day", isError=True)
    if name == "die":
        print("out of ideas", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        return None
    if name == "garbage":
        for line in ("not json", "{\"jsonrpc\": \"1.0\"}", "[]", "{"):
            sys.stdout.write(line + "\n")
        return text("after garbage")
    if name == "chatter":
        for number in range(1500):
            notice("notifications/message", level="info", data=f"{number}")
            notice("notifications/progress", progressToken="nobody's", progress=number)
        return text("after chatter")
    if name == "grow":
        tools.append({"name": "late", "inputSchema": NONE})
        notice("notifications/tools/list_changed")
        return text("grown")
    if name == "shrink":
        tools[:] = [tool for tool in tools if tool["name"] != "echo"]
        notice("notifications/tools/list_changed")
        return text("shrunk")
    if name == "variables":
        return text(" ".join(sorted(os.environ)))
    if name == "ask":
        out({"jsonrpc": "2.0", "id": "p-1", "method": "ping"})
        out({"jsonrpc": "2.0", "id": "p-2", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        return text("asked")
    if name == "parent":
        return text(str(os.getppid()))
    if name == "weird":
        return {"surprise": True}
    if name == "late":
        return text("better late")
    return text(f"no tool {name}", isError=True)


def answer(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": "fake", "version": "1"},
            "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "resources": {}},
        }
    if method == "tools/list":
        return listed(params)
    if method == "tools/call":
        return call(params, (params.get("_meta") or {}).get("progressToken"))
    if method == "prompts/list" and MODE == "secretive":
        return None
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "description": "Greets", "arguments": [{"name": "who", "required": True}]}]}
    if method == "prompts/get":
        words = f"Greet {params['arguments']['who']}."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
    if method == "resources/list" and MODE == "secretive":
        return None
    if method == "resources/list":
        return {"resources": [{"uri": "buffer:1", "name": "main.py", "description": "An open buffer"}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "print('unsaved')"}]}
    return {}


def heard(message):
    """The answer to a message, if it needs one."""
    if message.get("method") == "notifications/cancelled":
        with open("cancelled", "w") as file:
            file.write(str(message["params"].get("reason")))
    if "id" in message and "method" not in message:
        with open("answers", "a") as file:
            file.write(json.dumps(message) + "\n")
    if "id" not in message or "method" not in message:
        return None
    result = answer(message)
    return None if result is None else {"jsonrpc": "2.0", "id": message["id"], "result": result}


def stdio():
    if MODE == "mute":
        time.sleep(600)
    if MODE == "gone":
        sys.exit("nothing to do here")
    if MODE == "nonsense":
        while True:
            print("lorem ipsum", flush=True)
    if MODE == "line":
        while True:
            sys.stdout.write("x" * 1_000_000)
    if MODE == "stderr":
        for _ in range(300):
            sys.stderr.write("complaint " * 10_000)
    with open("starts", "a") as file:
        file.write("started\n")
    for line in sys.stdin:
        reply = heard(json.loads(line))
        if reply is not None:
            out(reply)
        while MODE == "deaf" and "tools" in (reply or {}).get("result", {}):
            out({"jsonrpc": "2.0", "id": time.time_ns(), "method": "ping", "params": {"_meta": {"x": "y" * 2000}}})


class Http(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body=b"", kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if MODE != "flood":
            return self.send(405)
        self.stream()
        while True:
            self.wfile.write(b"data: lorem ipsum\n\n")

    def do_DELETE(self):
        self.send(200)

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers.get("authorization") != "Bearer letmein" or self.headers.get("x-extra") != "yes":
            return self.send(401)
        if MODE == "elsewhere":
            self.send_response(307)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/other")
            self.send_header("content-length", "0")
            return self.end_headers()
        if MODE == "page":
            return self.send(200, b"<html>", "text/html")
        if MODE == "returns" and message["method"] == "tools/call":
            self.stream()
            notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "y" * 60_000}}
            for event in [notice] * 300 + [heard(message)]:
                self.wfile.write(b"event: message\r\ndata: " + json.dumps(event).encode() + b"\r\n\r\n")
            return None
        if message.get("params", {}).get("name") == "big":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("connection", "close")
            self.end_headers()
            while True:
                self.wfile.write(b" " * 1_000_000)
        reply = heard(message)
        return self.send(202) if reply is None else self.send(200, json.dumps(reply).encode())

    def end_headers(self):
        if MODE == "flood":
            self.send_header("mcp-session-id", "s")
        super().end_headers()


if HTTP:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Http)
    print(server.server_port, flush=True)
    server.serve_forever()
else:
    stdio()
