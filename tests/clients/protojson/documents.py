"""Real messages, as JSON: read, and printed again. Tables; corpus.py runs them."""

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]
Case = tuple[str, str, Json]

A2A = "lf.a2a.v1."
DEVTOOL = "agena.devtool.v1."

METADATA: Json = {
    "https://example.org/ext": {"seq": 7, "ratio": 0.25, "none": None, "list": [1, "two", False, {}]},
    "snake_case": True,
}
PARTS: list[Json] = [
    {"text": "Hello, wörld"},
    {"text": ""},
    {"raw": "/+8=", "filename": "a.bin", "mediaType": "application/octet-stream"},
    {"url": "https://example.org/a?b=c&d", "mediaType": "text/html"},
    {"data": {"kind": "tool_call", "n": 1, "deep": [[None]]}, "metadata": METADATA},
    {"data": None},
    {"data": [1, 2, 3]},
    {"data": "text"},
    {"data": 0},
    {},
]
MESSAGE: Json = {
    "messageId": "m-1",
    "contextId": "c-1",
    "taskId": "t-1",
    "role": "ROLE_USER",
    "parts": PARTS,
    "metadata": METADATA,
    "extensions": ["https://example.org/ext"],
    "referenceTaskIds": ["t-0"],
}
STATUS: Json = {
    "state": "TASK_STATE_INPUT_REQUIRED",
    "message": {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}]},
    "timestamp": "2026-01-31T12:00:00.123Z",
}
ARTIFACT: Json = {
    "artifactId": "a-1",
    "name": "patch",
    "description": "What changed",
    "parts": [PARTS[4]],
    "metadata": {},
    "extensions": ["https://example.org/ext"],
}
TASK: Json = {
    "id": "t-1",
    "contextId": "c-1",
    "status": STATUS,
    "artifacts": [ARTIFACT, {"artifactId": "a-2", "parts": []}],
    "history": [MESSAGE, {"messageId": "m-2", "role": 2, "parts": [{"text": "Which one?"}]}],
    "metadata": METADATA,
}
STATUS_UPDATE: Json = {"taskId": "t-1", "contextId": "c-1", "status": STATUS, "metadata": METADATA}
ARTIFACT_UPDATE: Json = {"taskId": "t-1", "contextId": "c-1", "artifact": ARTIFACT, "append": True, "lastChunk": True}
PUSH: Json = {
    "id": "p-1",
    "taskId": "t-1",
    "url": "https://example.org/hook",
    "token": "secret",
    "authentication": {"scheme": "Bearer", "credentials": "x"},
}
SEND: Json = {
    "tenant": "acme",
    "message": MESSAGE,
    "configuration": {
        "acceptedOutputModes": ["text/plain"],
        "taskPushNotificationConfig": PUSH,
        "historyLength": 0,
        "returnImmediately": True,
    },
    "metadata": METADATA,
}

SCOPES: Json = {"read": "Read", "write": ""}
FLOWS: dict[str, Json] = {
    "authorizationCode": {
        "authorizationUrl": "https://a",
        "tokenUrl": "https://t",
        "refreshUrl": "https://r",
        "scopes": SCOPES,
        "pkceRequired": True,
    },
    "clientCredentials": {"tokenUrl": "https://t", "scopes": SCOPES},
    "implicit": {"authorizationUrl": "https://a", "scopes": {}},
    "password": {"tokenUrl": "https://t"},
    "deviceCode": {"deviceAuthorizationUrl": "https://d", "tokenUrl": "https://t", "scopes": SCOPES},
}
SCHEMES: dict[str, Json] = {
    "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key", "description": "A key"}},
    "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
    "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://o/.well-known/openid-configuration"}},
    "mtls": {"mtlsSecurityScheme": {}},
    **{
        f"oauth-{flow}": {"oauth2SecurityScheme": {"flows": {flow: value}, "oauth2MetadataUrl": "https://m"}}
        for flow, value in FLOWS.items()
    },
}
CARD: Json = {
    "name": "Agena",
    "description": "An agent",
    "supportedInterfaces": [
        {"url": "https://example.org", "protocolBinding": "HTTP+JSON", "tenant": "acme", "protocolVersion": "1.0"},
        {"url": "example.org:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
    ],
    "provider": {"url": "https://example.org", "organization": "Example"},
    "version": "0.1.0",
    "documentationUrl": "",
    "capabilities": {
        "streaming": True,
        "pushNotifications": False,
        "extensions": [{"uri": "https://example.org/ext", "description": "x", "required": True, "params": METADATA}],
        "extendedAgentCard": False,
    },
    "securitySchemes": SCHEMES,
    "securityRequirements": [{"schemes": {"bearer": {}, "oauth-implicit": {"list": ["read"]}}}, {"schemes": {}}, {}],
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain", "application/json"],
    "skills": [
        {
            "id": "s",
            "name": "S",
            "description": "Does it",
            "tags": ["a"],
            "examples": ["Do it"],
            "inputModes": ["text/plain"],
            "outputModes": ["text/plain"],
            "securityRequirements": [{"schemes": {"key": {"list": []}}}],
        }
    ],
    "signatures": [{"protected": "e30", "signature": "c2ln", "header": {"kid": "1"}}],
    "iconUrl": "https://example.org/icon.png",
}

DIFF: Json = {"file_name": "a.rs", "file_path": "/w/a.rs", "old_content": "", "new_content": "x\n", "formatted_diff": "+x"}
OPTIONS: list[Json] = [
    {"id": "proceed_once", "name": "Yes", "kind": "ALLOW_ONCE"},
    {"id": "proceed_always", "name": "Always", "description": "", "kind": 2},
    {"id": "cancel", "name": "No", "kind": "REJECT_ONCE"},
]
DETAILS: dict[str, Json] = {
    "execute_details": {"command": "rm -rf target", "working_directory": "/w"},
    "file_edit_details": DIFF,
    "mcp_details": {"server_name": "s", "tool_name": "t"},
    "generic_details": {"description": "Anything else"},
}
RESULTS: dict[str, Json] = {
    "text": {"output": {"text": ""}},
    "diff": {"output": {"diff": DIFF}},
    "data": {"output": {"structured_data": METADATA}},
    "error": {"error": {"message": "no", "type": "interrupted", "status_code": 0}},
}
CALL: Json = {
    "tool_call_id": "call-1",
    "status": "PENDING",
    "tool_name": "run_shell_command",
    "description": "Removes what was built",
    "input_parameters": {"command": "rm -rf target", "timeout": 30, "env": {"A": None}},
    "live_content": "",
}
UPDATES: dict[str, Any] = {
    "text": "",
    "thought": {"subject": "s", "description": "d"},
    "tool_call": CALL,
    "live_output": {"tool_call_id": "call-1", "offset": "18446744073709551615", "text": "x"},
    "usage": {"model": "m", "input_tokens": 9007199254740993, "output_tokens": "2", "cached_tokens": -1},
}
COMMAND: Json = {
    "name": "memory",
    "description": "Remembers",
    "arguments": [{"name": "what", "is_required": True}],
    "sub_commands": [{"name": "add", "sub_commands": [{}]}],
}


def cases() -> Iterable[Case]:
    yield from a2a_cases()
    yield from devtool_cases()
    detail: Json = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "R", "metadata": {"a": "b"}}
    yield "rpc status", "google.rpc.Status", {"code": 5, "message": "gone", "details": [detail]}
    yield "rpc status, newer", "google.rpc.Status", {"code": 5, "details": [detail | {"un": {"known": 1}}], "un": 1}


def a2a_cases() -> Iterable[Case]:
    yield "a2a message", A2A + "Message", MESSAGE
    yield "a2a task", A2A + "Task", TASK
    yield "a2a card", A2A + "AgentCard", CARD
    yield "a2a send", A2A + "SendMessageRequest", SEND
    yield "a2a send answered by a task", A2A + "SendMessageResponse", {"task": TASK}
    yield "a2a send answered by a message", A2A + "SendMessageResponse", {"message": MESSAGE}
    yield "a2a push config", A2A + "TaskPushNotificationConfig", PUSH
    yield "a2a get", A2A + "GetTaskRequest", {"tenant": "", "id": "t", "historyLength": 5}
    window = {"contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 0, "includeArtifacts": False}
    yield "a2a list", A2A + "ListTasksRequest", window | {"statusTimestampAfter": "2026-01-31T12:00:00+01:00"}
    yield "a2a list, empty", A2A + "ListTasksResponse", {}
    yield "a2a list, one page", A2A + "ListTasksResponse", {"tasks": [TASK], "nextPageToken": "n", "pageSize": 1}
    for index, part in enumerate(PARTS):
        yield f"a2a part {index}", A2A + "Part", part
    events = {"task": TASK, "message": MESSAGE, "statusUpdate": STATUS_UPDATE, "artifactUpdate": ARTIFACT_UPDATE}
    for name, event in events.items():
        yield f"a2a stream of {name}", A2A + "StreamResponse", {name: event}
        yield f"a2a stream of an empty {name}", A2A + "StreamResponse", {name: {}}
    yield "a2a task, newer", A2A + "Task", TASK | {"un": 1, "status": STATUS | {"un": {"state": 1}}}
    yield "a2a task, older", A2A + "Task", TASK | {"kind": "task", "status": {"state": "completed"}}


def devtool_cases() -> Iterable[Case]:
    yield "devtool call", DEVTOOL + "ToolCall", CALL
    yield "devtool call in camelCase", DEVTOOL + "ToolCall", {"toolCallId": "c", "inputParameters": {"a_b": 1}}
    for name, result in RESULTS.items():
        yield f"devtool call with {name}", DEVTOOL + "ToolCall", CALL | {"status": "FAILED"} | result
    for name, detail in DETAILS.items():
        request = {"options": OPTIONS, name: detail}
        yield f"devtool confirmation with {name}", DEVTOOL + "ConfirmationRequest", request
        yield f"devtool call with {name}", DEVTOOL + "ToolCall", CALL | {"confirmation_request": request}
    decision = {"selected_option_id": "cancel", "decided_by": "u", "modified": False, "reject_reason": ""}
    yield "devtool call with a decision", DEVTOOL + "ToolCall", CALL | {"decision": decision}
    answer = {"tool_call_id": "c", "selected_option_id": "cancel", "file_details": {"new_content": ""}}
    yield "devtool answer", DEVTOOL + "ToolCallConfirmation", answer | {"reject_reason": "no"}
    for name, update in UPDATES.items():
        head = {"task_id": "t", "sequence": "18446744073709551615", "time": "2026-01-31T12:00:00Z"}
        yield f"devtool update with {name}", DEVTOOL + "TaskUpdate", head | {name: update}
    yield "devtool start", DEVTOOL + "StartTaskRequest", {"prompt": "p", "settings": {"workspace_path": "/w"}}
    yield "devtool event", DEVTOOL + "DevelopmentToolEvent", {"kind": "THOUGHT", "model": "m", "user_tier": ""}
    yield "devtool commands", DEVTOOL + "GetAllSlashCommandsResponse", {"commands": [COMMAND]}
    yield "devtool command", DEVTOOL + "ExecuteSlashCommandRequest", {"command_path": ["memory", "add"], "args": "x"}
    started = {"execution_id": "e", "status": "AWAITING_SHELL_CONFIRMATION"}
    yield "devtool command started", DEVTOOL + "ExecuteSlashCommandResponse", started
    rule = {"rule_id": "r", "subject": "s", "kind": "ALLOW_ALWAYS", "create_time": "2026-01-31T12:00:00Z"}
    yield "devtool rules", DEVTOOL + "ListRulesResponse", {"rules": [rule, {}]}
