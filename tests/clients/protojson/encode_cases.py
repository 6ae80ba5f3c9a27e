"""Messages to print, in protobuf's text format. A table; corpus.py runs it."""

from collections.abc import Iterable

Case = tuple[str, str, str]

KINDS = "agena.probe.v1.Kinds"

INTEGERS: dict[str, tuple[int, int]] = {
    "i32": (-(2**31), 2**31 - 1),
    "s32": (-(2**31), 2**31 - 1),
    "sf32": (-(2**31), 2**31 - 1),
    "u32": (0, 2**32 - 1),
    "f32": (0, 2**32 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "s64": (-(2**63), 2**63 - 1),
    "sf64": (-(2**63), 2**63 - 1),
    "u64": (0, 2**64 - 1),
    "f64": (0, 2**64 - 1),
}

# Every line is the whole text of a message.
TEXTS: list[str] = [
    "",
    'text: "plain"',
    'text: ""',
    'text: "\\"quoted\\" \\\\ / \\n\\t\\r"',
    'text: "\\001\\177"',
    'text: "gr\\303\\274\\303\\237e \\360\\237\\230\\200 \\342\\200\\250"',
    'text: "<script>&\'"',
    'raw: ""',
    'raw: "a"',
    'raw: "ab"',
    'raw: "abc"',
    'raw: "\\373\\377\\376"',
    "flag: true",
    "flag: false",
    'type: "t" self: "s" async: "a"',
    # Explicit presence at the default, and away from it.
    'maybe_text: ""',
    'maybe_text: "x"',
    "maybe_i32: 0",
    "maybe_i32: -1",
    "maybe_flag: false",
    "maybe_flag: true",
    "maybe_color: COLOR_UNSPECIFIED",
    "maybe_color: COLOR_GREEN",
    "maybe_color: 77",
    'maybe_raw: ""',
    'maybe_raw: "\\000"',
    # Enums.
    "color: COLOR_UNSPECIFIED",
    "color: COLOR_RED",
    "color: COLOR_NEGATIVE",
    "color: 77",
    "color: -2",
    "colors: [COLOR_UNSPECIFIED, COLOR_RED, COLOR_NEGATIVE]",
    "colors: [COLOR_RED, 77]",
    "by_flag { key: true value: COLOR_RED } by_flag { key: false value: COLOR_UNSPECIFIED }",
    "by_flag { key: true value: 77 }",
    # Messages.
    "inner {}",
    'inner { label: "a" size: 9007199254740993 }',
    'inner { child { child { child { label: "deep" } } } }',
    'inner { odd_name: "odd" }',
    # Lists.
    'texts: ["", "a", ""]',
    "i64s: [0, -1, 9223372036854775807, -9223372036854775808]",
    'inners: [{}, {label: "b"}]',
    'raws: ["", "\\373\\377", "abc"]',
    "flags: [true, false]",
    # Maps.
    'by_name { key: "" value: "" }',
    'by_name { key: "b" value: "1" } by_name { key: "a" value: "2" } by_name { key: "snake_case" value: "3" }',
    'by_name { key: "\\n\\"" value: "\\342\\202\\254" }',
    "by_number { key: 0 value {} }",
    'by_number { key: -9223372036854775808 value { label: "min" } }',
    'by_number { key: 9223372036854775807 value { label: "max" } }',
    'by_value { key: "null" value { null_value: NULL_VALUE } }',
    'by_value { key: "none" value {} }',
    'by_value { key: "n" value { number_value: 1.5 } }',
    # The oneof, each member at its default too.
    'picked_text: ""',
    'picked_text: "x"',
    "picked_i64: 0",
    "picked_i64: -5",
    "picked_inner {}",
    'picked_inner { label: "x" }',
    "picked_value {}",
    "picked_value { null_value: NULL_VALUE }",
    'picked_value { string_value: "" }',
    "picked_flag: false",
    "picked_flag: true",
    # Boxes.
    "text_box {}",
    'text_box { value: "x" }',
    "i64_box {}",
    "i64_box { value: -9223372036854775808 }",
    "flag_box {}",
    "flag_box { value: true }",
    "raw_box {}",
    'raw_box { value: "\\373\\377" }',
    "real_box {}",
    "real_box { value: 0.1 }",
    "real_box { value: nan }",
    "real_box { value: inf }",
    "u32_box {}",
    "u32_box { value: 4294967295 }",
    "empty {}",
]

FLOATS: list[str] = ["1", "-1.5", "0.1", "1e10", "1e-7", "3.4028234e+38", "1e-45", "-0.0", "nan", "inf", "-inf"]
DOUBLES: list[str] = [*FLOATS, "1e21", "1.7976931348623157e308", "5e-324", "123456789.123456789", "9007199254740993"]

# (seconds, nanos)
TIMES: list[tuple[int, int]] = [
    (0, 0),
    (1767225600, 0),
    (1767225600, 500000000),
    (1767225600, 1000000),
    (1767225600, 1000),
    (1767225600, 1),
    (1767225600, 123456789),
    (1767225600, 999999999),
    (-1, 0),
    (-1, 500000000),
    (-62135596800, 0),
    (253402300799, 999999999),
    (-62135596801, 0),
    (253402300800, 0),
    (0, -1),
    (0, 1000000000),
]

SPANS: list[tuple[int, int]] = [
    (0, 0),
    (1, 0),
    (-1, 0),
    (1, 500000000),
    (1, 10000),
    (0, 1),
    (0, -1),
    (-1, -500000000),
    (315576000000, 0),
    (-315576000000, 0),
    (315576000000, 999999999),
    (1, -1),
    (-1, 1),
    (315576000001, 0),
    (0, 1000000000),
]

MASKS: list[str] = ["", "'a'", "'a', 'b'", "'a_b.c_d'", "'a.b.c'", "''", "'camelCase'", "'a__b'", "'a_'", "'a_1'", "'a1'"]

# The text of a google.protobuf.Value.
VALUES: list[str] = [
    "",
    "null_value: NULL_VALUE",
    "bool_value: true",
    "bool_value: false",
    "number_value: 0",
    "number_value: -0.0",
    "number_value: 5",
    "number_value: -5",
    "number_value: 1.5",
    "number_value: 1e10",
    "number_value: 1e21",
    "number_value: 1e300",
    "number_value: 5e-324",
    "number_value: 9007199254740991",
    "number_value: 9007199254740992",
    "number_value: 9007199254740994",
    "number_value: nan",
    "number_value: inf",
    "number_value: -inf",
    'string_value: ""',
    'string_value: "\\360\\237\\230\\200"',
    "struct_value {}",
    'struct_value { fields { key: "b" value { number_value: 1 } } fields { key: "a" value { null_value: NULL_VALUE } } }',
    "list_value {}",
    "list_value { values {} values { null_value: NULL_VALUE } values { list_value { values { bool_value: true } } } }",
]


def cases() -> Iterable[Case]:
    for text in TEXTS:
        yield f"kinds {{{text}}}", KINDS, text
    for field, (low, high) in INTEGERS.items():
        for number in sorted({low, 0, 1, high}):
            yield f"kinds {{{field}: {number}}}", KINDS, f"{field}: {number}"
    for field, numbers in {"single": FLOATS, "real": DOUBLES}.items():
        for text in numbers:
            yield f"kinds {{{field}: {text}}}", KINDS, f"{field}: {text}"
    for field, moments in {"time": TIMES, "span": SPANS}.items():
        for seconds, nanos in moments:
            text = f"{field} {{ seconds: {seconds} nanos: {nanos} }}"
            yield f"kinds {{{text}}}", KINDS, text
    for paths in MASKS:
        yield f"kinds {{mask: [{paths}]}}", KINDS, f"mask {{ paths: [{paths}] }}"
    for value in VALUES:
        yield from value_cases(value)
    yield from other_cases()


def value_cases(value: str) -> Iterable[Case]:
    shapes = {
        "value": f"value {{ {value} }}",
        "values": f"values {{ {value} }} values {{ {value} }}",
        "object": f'object {{ fields {{ key: "k" value {{ {value} }} }} }}',
        "list": f"list {{ values {{ {value} }} }}",
    }
    for shape, text in shapes.items():
        yield f"kinds {shape} {{{value}}}", KINDS, text


def other_cases() -> Iterable[Case]:
    """What a client that is newer than the server may have sent by gRPC, and what errors carry."""
    newer = 'id: "t" status { state: 99 }'
    yield "a2a task in a state from the future", "lf.a2a.v1.Task", newer
    yield "a2a tasks in a state from the future", "lf.a2a.v1.ListTasksResponse", f"tasks {{ {newer} }}"
    yield "a2a tasks, none", "lf.a2a.v1.ListTasksResponse", ""
    yield "a2a part without content", "lf.a2a.v1.Part", 'media_type: "text/plain"'
    yield "devtool call in a status from the future", "agena.devtool.v1.ToolCall", 'tool_call_id: "c" status: 99'
    update = 'task_id: "t" sequence: 3 status { state: %s message { message_id: "m" role: ROLE_AGENT } }'
    yield "devtool update with a status", "agena.devtool.v1.TaskUpdate", update % "TASK_STATE_WORKING"
    yield "devtool update with a state from the future", "agena.devtool.v1.TaskUpdate", update % "99"
    details = {
        "ErrorInfo": 'reason: "R" domain: "d" metadata { key: "task_id" value: "t" }',
        "BadRequest": 'field_violations { field: "a.b" description: "is required" reason: "REQUIRED" }',
        "RetryInfo": "retry_delay { seconds: 2 nanos: 500000000 }",
    }
    for name, text in details.items():
        packed = f"code: 3 message: \"m\" details {{ [type.googleapis.com/google.rpc.{name}] {{ {text} }} }}"
        yield f"rpc status with {name}", "google.rpc.Status", packed
    for url in ["type.googleapis.com/un.known", ""]:
        text = f'details {{ type_url: "{url}" value: "\\n\\001x" }}'
        yield f"rpc status with a detail of type {url!r}", "google.rpc.Status", text
    yield "rpc status with an empty detail", "google.rpc.Status", "details {}"
    wrapped = "details { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } }"
    yield "rpc status with a well-known detail", "google.rpc.Status", wrapped
