"""JSON to read, as a client may send it. Tables; corpus.py runs them."""

from collections.abc import Iterable

Case = tuple[str, str, bytes]

KINDS = "agena.probe.v1.Kinds"
TASK = "lf.a2a.v1.Task"

SIGNED_32 = ["i32", "s32", "sf32", "maybeI32"]
UNSIGNED_32 = ["u32", "f32", "u32Box"]
SIGNED_64 = ["i64", "s64", "sf64", "i64Box", "pickedI64"]
UNSIGNED_64 = ["u64", "f64"]

INTEGERS = """0 1 "5" 5.0 1e3 "1e3" "5.0" 5.5 "5.5" 1e400 "" "x" " 5" "5 " "+5" "1_000" "0x10" "NaN" true null [] {}"""
LIMITS_32 = """2147483647 "2147483647" 2147483648 -2147483648 -2147483649 4294967295 "4294967295" 4294967296 -1 "-1"
    -0"""
LIMITS_64 = """
    9007199254740993 "9007199254740993" 9223372036854775807 "9223372036854775807" 9223372036854775808
    "9223372036854775808" -9223372036854775808 "-9223372036854775808" -9223372036854775809 "-9223372036854775809"
    18446744073709551615 "18446744073709551615" 18446744073709551616 "18446744073709551616" 1e19 1e18 "1e18" -1 "-1"
    -9223372036854775808.0
"""
FLOATS = """
    0 -0 -0.0 1 -1.5 0.1 1e3 1E+3 "1.5" "1e3" "NaN" "Infinity" "-Infinity" "nan" "inf" "infinity" "+Infinity" "-NaN"
    3.4028234e38 3.5e38 -3.5e38 "3.5e38" 1e-50 1e308 1e309 "1e309" -1e309 "" "x" " 1" "1 " "1_0" "0x1p3" true null [] {}
    1. .5 "1." ".5" 9007199254740993 18446744073709551616
"""
BYTES = """
    "" "YQ==" "YWI=" "YWJj" "YQ" "YWI" "-_-_" "+/+/" "-_8=" "+/8=" "-_8" "+/8" "-/-/" "Y" "YQ=" "Y=Q=" "YR==" "YWJ=="
    "!!!!" "Y Q==" "YQ==\\n" "\\u0059Q==" 5 true null [] {}
"""
STRINGS = """
    "" "x" "\\u00fc" "\\ud83d\\ude00" "\\ud83d" "\\ude00" "\\ude00\\ud83d" "\\u0000" "\\u001f" "\\/" "\\x41" "\\u12"
    "\t" 'x' 5 1.5 true null [] {} ["x"]
"""
BOOLS = """true false "true" "false" "True" 0 1 "1" null [] {} TRUE"""
ENUMS = """
    "COLOR_RED" 1 "1" 0 2 -1 "COLOR_NEGATIVE" 77 -2 "77" "COLOR_PURPLE" "color_red" "RED" "" 1.0 1.5 1e0 2147483648
    2147483647 4294967297 true null [] {} ["COLOR_RED"]
"""
INNERS = """
    {} {"label":"a"} {"odd_name":"o"} {"@odd":"o"} {"oddName":"o"} {"label":null,"size":null,"child":null}
    {"child":{"child":{"size":"7"}}} {"label":5} {"size":"x"} {"child":{"child":{"size":[]}}} {"child":[]}
    {"un":{"known":[1]}}
    {"label":"a","label":"b"} {"un":1,"un":2} {"un":{"a":1,"a":2}} null [] "x" 5
"""
LISTS: dict[str, str] = {
    "texts": """[] ["a","","b"] [null] ["a",null] [5] "a" {} null [["a"]] ["a",]""",
    "i64s": """[] [1,"2",3.0] [null] [1,null] ["x"] [1.5] 1 {} null""",
    "colors": """[] ["COLOR_RED",2,-1,77] [null] ["COLOR_PURPLE"] ["COLOR_RED","COLOR_PURPLE"] [1.5] "COLOR_RED"
    null""",
    "inners": """[] [{}] [{"label":"a"},{"un":1}] [null] [{},null] [[]] [{"size":"x"}] {} null""",
    "raws": """[] ["YQ==","YQ","-_8"] [null] ["!"] [5] null""",
    "flags": """[] [true,false] [null] ["true"] [1] null""",
    "times": """[] ["2026-01-31T12:00:00Z"] [null] ["x"] null""",
    "values": """[] [null,1,"x",[],{}] null {}""",
}
MAPS: dict[str, str] = {
    "byName": """{} {"a":"1","b":""} {"":"x"} {"snake_case":"x"} {"a":null} {"a":5} {"a":"1","a":"2"} null [] "x"
        {"a":["x"]}""",
    "byNumber": """{} {"1":{}} {"-5":{"label":"x"}} {"9223372036854775807":{}} {"9223372036854775808":{}} {"x":{}}
        {"":{}} {"1.0":{}}
        {"1e0":{}} {"1.5":{}} {" 1":{}} {"+1":{}} {"01":{}} {"1":null} {"1":{"un":1}} {"1":{"size":"x"}}
        {"1":{},"1":{}} {"1":{},"01":{}}""",
    "byFlag": """{} {"true":"COLOR_RED"} {"false":2} {"True":1} {"1":1} {"":1} {"true":77} {"true":null}
        {"true":"COLOR_PURPLE"}
        {"true":1,"false":"COLOR_PURPLE"}""",
    "byValue": """{} {"a":null} {"a":[null]} {"a":{"b":null}} {"a":1,"a":2} null""",
}
TIMES = """
    "2026-01-31T12:00:00Z" "2026-01-31T12:00:00.5Z" "2026-01-31T12:00:00.123Z" "2026-01-31T12:00:00.123456Z"
    "2026-01-31T12:00:00.123456789Z" "2026-01-31T12:00:00.1234567891Z" "2026-01-31T12:00:00.Z" "2026-01-31T12:00:00,5Z"
    "2026-01-31T12:00:00+00:00" "2026-01-31T12:00:00-00:00" "2026-01-31T12:00:00+05:30" "2026-01-31T12:00:00-23:59"
    "2026-01-31T12:00:00+24:00" "2026-01-31T12:00:00+05:60" "2026-01-31T12:00:00+0530" "2026-01-31T12:00:00+05"
    "2026-01-31t12:00:00Z" "2026-01-31T12:00:00z" "2026-01-31_12:00:00Z" "2026-01-31T12:00:00" "2026-01-31T12:00Z"
    "2026-01-31" "2026-02-30T12:00:00Z" "2026-13-01T12:00:00Z" "2024-02-29T12:00:00Z" "2025-02-29T12:00:00Z"
    "2026-01-31T24:00:00Z" "2026-01-31T25:00:00Z" "2026-01-31T12:60:00Z" "2016-12-31T23:59:60Z" "2026-01-31T12:00:60Z"
    "2026-01-31T12:00:61Z" "0001-01-01T00:00:00Z" "9999-12-31T23:59:59.999999999Z" "0000-12-31T23:59:59Z"
    "0001-01-01T00:00:00+00:01" "9999-12-31T23:59:59-00:01" "10000-01-01T00:00:00Z" "-001-01-01T00:00:00Z"
    "+2026-01-31T12:00:00Z" "1969-12-31T23:59:59.5Z" "1970-01-01T00:00:00Z" "26-01-31T12:00:00Z" "2026-1-31T12:00:00Z"
    "2026-01-31T12:0:00Z" "20260131T120000Z" "2026-01-31T12:00:00ZZ" "\\u0032026-01-31T12:00:00Z" "" "x" 0 1767225600
    true null [] {}
"""
SPANS = """
    "0s" "1s" "-1s" "1.5s" "1.500s" "1.000001s" "1.000000001s" "1.0000000001s" "-0.5s" "-0s" "0.5s" ".5s" "1.s" "+1s"
    "1S" "1" "1 s"
    " 1s" "1e3s" "s" "" "-s" "x" "--1s" "--9223372036854775808s" "315576000000s" "-315576000000s" "315576000001s"
    "-315576000001s"
    "315576000000.5s" "9223372036854775807s" "9223372036854775808s" "1m" "1.-5s" "1.+5s" "1_0s" 1 1.5 true null [] {}
"""
MASKS = """"" "a" "a,b" "fooBar,bazQux" "a.b.c" "fooBar.bazQux" "foo_bar" "a,,b" "," "a," " a" "a, b" "A" "fooB"
    "a1B" "\\u00dc" "*" 5 null [] {}"""
VALUES = """
    null true false 0 -0 5 1.5 1e3 9007199254740991.0 123456789.123456789 2.2250738585072011e-308
    1.7976931348623157e308 1e400 -1e400 9007199254740993 18446744073709551616 0.1 "" "x" "\\ud83d" "NaN" [] {} [null]
    [[],[[]]] {"a":null} {"a":{"b":[1,{"c":"d"}]}} {"a":1,"a":2} {"":1} {"snake_case":1,"@type":"x"} [1,] {"a":1,}
    NaN Infinity
    -Infinity nan undefined
"""
OBJECTS = """{} {"a":null} {"a":[1,"b",null,{}]} {"fields":{"a":1}} {"a":1,"a":2} {"a":"\\ud83d"} null [] "x" 5"""
ARRAYS = """[] [null] [1,"b",null,{},[]] {"values":[1]} {} null "x" 5"""
EMPTIES = """{} {"un":1} null [] "x" 5"""
BOXES: dict[str, str] = {
    "textBox": """"" "x" 5 null {} {"value":"x"}""",
    "flagBox": """true false "true" 1 null {"value":true}""",
    "rawBox": """"" "YQ" "-_8" "!" 5 null""",
    "realBox": """0 1.5 "1.5" "NaN" "Infinity" "x" 1e309 null {"value":1}""",
}

# Whole documents, without their braces.
PICKS = """
    {"pickedText":""} {"picked_text":"x"} {"pickedText":null} {"pickedText":"x","pickedI64":null}
    {"pickedI64":null,"pickedText":"x"}
    {"pickedText":"x","pickedI64":5} {"pickedText":"x","pickedValue":null} {"pickedValue":null}
    {"pickedValue":null,"pickedText":"x"}
    {"pickedText":"x","picked_text":"y"} {"pickedInner":{}} {"pickedInner":{"un":1}} {"pickedInner":null}
    {"pickedFlag":false}
    {"pickedFlag":"true"} {"pickedText":null,"pickedI64":null} {"pickedValue":1} {"pickedText":5}
    {"pickedInner":{"size":"x"}}
"""
SPELLINGS = """
    {"maybe_text":"a"} {"maybeText":"a"} {"maybetext":"a"} {"MaybeText":"a"} {"maybeText":"a","maybe_text":"b"}
    {"by_name":{},"byName":{}} {"texts":["a"],"texts":["b"]} {"i64s":[1],"i64s":[2]} {"i64_box":"5"}
    {"text":"a","text":"a"}
    {"i32":1,"i32":null} {"text":null,"text":"a"} {"inner":{"child":{}},"inner":{}} {"un":1} {"un":null}
    {"un":[1,{"a":[]}]}
    {"un":{"i32":"x"}} {"un":1,"un":1} {"un":1e400} {"un":"\\ud83d"} {"un":"\\ud83d","i32":"1e3"} {"":1} {"[x.y]":1}
    {"$schema":"x"}
    {"\\u0074ext":"a"} {"\\ud83d":1} {"by_name":{"a":"1"},"un":{"a":1,"a":2}} {"@type":"x"}
    {"type":"a","self":"b","async":"c"}
    {"i32":"1e3","empty":{"un":1}} {"color":77,"empty":{"un":1}} {"color":77,"object":{"a":1.0}}
    {"color":77,"value":null}
    {"color":77,"un":1} {"color":77,"inner":{"un":1}} {"color":77,"mask":"a,,b"}
    {"color":77,"span":"1s","time":"2026-01-31T12:00:00Z"}
    {"color":77,"byNumber":{"1":{"un":1}}} {"color":77,"inners":[{"un":1}]} {"color":77,"maybeText":"","maybeI32":0}
    {"color":77,"raw":"YQ","rawBox":"-_8"} {"color":77,"pickedValue":null} {"color":77,"values":[null]}
    {"color":77,"by_value":{"a":null}}
    {"color":77,"realBox":"NaN","single":"NaN"} {"color":77,"i64Box":null} {"color":77,"@odd":1}
    {"color":77,"inner":{"@odd":"x"}}
"""
NUMBERS = ["01", "+1", "-", "1.", ".5", "0x1", "1e", "1e+", "--1", "1_0", "1 2", "00", "-01", "1e5.5", "Infinity",
    "NaN", "-NaN"]

# What is not JSON, or hardly.
DOCUMENTS: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b" \t\r\n",
    "blanks around": b" \t\r\n{ \"i32\" : 5 } \n",
    "a form feed": b"\x0c{}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "null": b"null",
    "an array": b"[]",
    "an array with an object": b"[{}]",
    "a string": b'"x"',
    "a number": b"5",
    "true": b"true",
    "an open brace": b"{",
    "an open object": b'{"i32":1',
    "an open string": b'{"text":"a',
    "a closed brace": b"}",
    "two documents": b"{}{}",
    "rubbish behind": b"{}x",
    "a comma behind": b"{},",
    "a trailing comma": b'{"i32":1,}',
    "a leading comma": b'{,"i32":1}',
    "no comma": b'{"i32":1 "i64":2}',
    "no colon": b'{"i32" 1}',
    "a bare key": b"{i32:1}",
    "a number as key": b"{1:1}",
    "single quotes": b"{'i32':1}",
    "a line comment": b'{"i32":1} // one',
    "a block comment": b'{/* one */"i32":1}',
    "a hash comment": b'# one\n{"i32":1}',
    "invalid UTF-8": b'{"text":"\xff"}',
    "an overlong slash": b'{"text":"\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"text":"\xed\xa0\xbd"}',
    "half a character": b'{"text":"\xe2\x82"}',
    "invalid UTF-8 in a key": b'{"\xff":1}',
    "invalid UTF-8 in an unknown member": b'{"un":"\xff"}',
    "invalid UTF-8 outside of strings": b"{}\xff",
    "UTF-16": '{"i32":1}'.encode("utf-16"),
    "a NUL behind": b"{}\x00",
    "a raw newline in a string": b'{"text":"a\nb"}',
    "a raw DEL in a string": b'{"text":"\x7f"}',
    "UTF-8": '{"text":"grüße 😀\u2028"}'.encode(),
}

# How deep it goes on each side of every limit in play.
DEPTHS = [10, 27, 28, 29, 41, 42, 43, 48, 49, 50, 60, 90, 98, 99, 100, 101, 126, 127, 128, 150, 1000]


def literals(table: str) -> list[str]:
    """No literal here holds a blank but within quotes."""
    found, current, quoted = [], "", False
    for index, char in enumerate(table):
        if char == '"' and table[index - 1] != "\\":
            quoted = not quoted
        if char.isspace() and not quoted:
            found, current = (found + [current] if current else found), ""
        else:
            current += char
    return found + [current] if current else found


def cases() -> Iterable[Case]:
    for field, table in fields():
        for literal in literals(table):
            yield f"kinds {field}: {literal}", KINDS, f'{{"{field}":{literal}}}'.encode()
    for document in literals(PICKS + SPELLINGS):
        yield f"kinds {document}", KINDS, document.encode()
    for number in NUMBERS:
        for field in ["i32", "real", "value", "un"]:
            yield f"kinds {field} as bare {number}", KINDS, f'{{"{field}":{number}}}'.encode()
    for name, text in DOCUMENTS.items():
        yield f"document: {name}", KINDS, text
    for depth in DEPTHS:
        yield from nested(depth)


def fields() -> Iterable[tuple[str, str]]:
    for names, table in [
        (SIGNED_32 + UNSIGNED_32, INTEGERS + LIMITS_32),
        (SIGNED_64 + UNSIGNED_64, INTEGERS + LIMITS_64),
        (["single", "real"], FLOATS),
        (["raw", "maybeRaw"], BYTES),
        (["text", "maybeText"], STRINGS),
        (["flag", "maybeFlag"], BOOLS),
        (["color", "maybeColor"], ENUMS),
        (["inner"], INNERS),
        (["time"], TIMES),
        (["span"], SPANS),
        (["mask"], MASKS),
        (["value"], VALUES),
        (["object"], OBJECTS),
        (["list"], ARRAYS),
        (["empty"], EMPTIES),
    ]:
        for name in names:
            yield name, table
    for group in [LISTS, MAPS, BOXES]:
        yield from group.items()


def nested(depth: int) -> Iterable[Case]:
    shapes = {
        "objects in value": ('{"value":' + '{"a":' * depth, "1", "}" * depth + "}"),
        "arrays in value": ('{"value":' + "[" * depth, "1", "]" * depth + "}"),
        "objects in object": ('{"object":' + '{"a":' * depth, "1", "}" * depth + "}"),
        "arrays in list": ('{"list":' + "[" * depth, "1", "]" * depth + "}"),
        "messages": ('{"inner":' + '{"child":' * (depth - 1), "{}", "}" * depth),
        "arrays in an unknown member": ('{"un":' + "[" * depth, "1", "]" * depth + "}"),
        "arrays where text belongs": ('{"text":' + "[" * depth, "1", "]" * depth + "}"),
        "open arrays": ('{"value":' + "[" * depth, "", ""),
    }
    for shape, (before, within, after) in shapes.items():
        yield f"nested: {depth} {shape}", KINDS, (before + within + after).encode()
    part = '{"id":"t","status":{"message":{"parts":[{"data":' + "[" * depth + "]" * depth + "}]}}}"
    yield f"nested: {depth} arrays in a part of a task", TASK, part.encode()
