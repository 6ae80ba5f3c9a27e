"""What Google refuses about the form of a request, as far as its users have told: the fake refuses the same."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

TOP = {
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "labels",
    "serviceTier",
    "store",
    "continuationToken",
}
DATA = {
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
}
CONFIG = set(
    "temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty "
    "frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities mediaResolution "
    "speechConfig thinkingConfig imageConfig responseFormat".split()
)
# For history that came from elsewhere.
DUMMY = "skip_thought_signature_validator"


class Refusal(Exception):
    """Why, in words."""


def refuse_if(wrong: bool, why: str) -> None:
    if wrong:
        raise Refusal(why)


def check(model: str, body: Json, signatures: set[str]) -> None:
    unknown = set(body) - TOP
    refuse_if(bool(unknown), f"unknown names {sorted(unknown)}")
    contents = body.get("contents") or []
    refuse_if(not contents, "contents is empty")
    for content in contents:
        whole_content(content)
    turns(contents)
    signed(model, contents, signatures)
    configured(body.get("generationConfig", {}))
    for declared in declarations(body):
        both = {"parameters", "parametersJsonSchema"} <= set(declared)
        refuse_if(both, f"{declared['name']} has parameters and parametersJsonSchema")


def whole_content(content: Json) -> None:
    refuse_if(content.get("role") not in ("user", "model"), f"role {content.get('role')!r}")
    refuse_if(not content.get("parts"), "a content without parts")
    for part in content["parts"]:
        refuse_if(len(DATA & set(part)) != 1, f"a part with the data {sorted(DATA & set(part))}")
        refuse_if(part.get("text") == "" and "thoughtSignature" not in part, "an empty text")
        refuse_if(not_base64(part.get("inlineData", {}).get("data", "")), "data that is not base64")


def not_base64(data: str) -> bool:
    """Google takes either alphabet."""
    try:
        base64.b64decode(data.translate(str.maketrans("-_", "+/")), validate=True)
    except binascii.Error:
        return True
    return False


def calls(content: Json, kind: str = "functionCall") -> list[Json]:
    return [part[kind] for part in content["parts"] if kind in part]


def turns(contents: list[Json]) -> None:
    refuse_if(contents[0]["role"] != "user", "the first content is not the user's")
    refuse_if(contents[-1]["role"] != "user", "the last content is not the user's")
    refuse_if(bool(calls(contents[0], "functionResponse")), "a functionResponse without its call")
    for before, content in pairwise(contents):
        asked, answered = calls(before), calls(content, "functionResponse")
        refuse_if(
            len(asked) != len(answered), f"{len(answered)} functionResponse parts for {len(asked)} functionCall parts"
        )
        refuse_if([one["name"] for one in asked] != [one["name"] for one in answered], "names of calls and responses")
        ids = [one.get("id") for one in asked], [one.get("id") for one in answered]
        refuse_if(ids[0] != ids[1], f"ids of calls {ids[0]} and responses {ids[1]}")
        refuse_if(len(answered) not in (0, len(content["parts"])), "a functionResponse beside other parts")


def signed(model: str, contents: list[Json], known: set[str]) -> None:
    """The first call of each step of the current turn, which began with the user's last own words."""
    if model.startswith("gemini-2"):
        return
    own = [at for at, content in enumerate(contents) if content["role"] == "user" and not calls(content, "functionResponse")]
    for content in contents[own[-1] :]:
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is None:
            continue
        signature = first.get("thoughtSignature")
        refuse_if(signature is None, f"{first['functionCall']['name']} misses its thought signature")
        refuse_if(signature not in known | {DUMMY}, f"an invalid thought signature {signature!r}")


def configured(config: Json) -> None:
    unknown = set(config) - CONFIG
    refuse_if(bool(unknown), f"unknown names {sorted(unknown)} in generationConfig")
    thinking = config.get("thinkingConfig", {})
    refuse_if({"thinkingBudget", "thinkingLevel"} <= set(thinking), "a budget and a level of thinking")
    schema = {"responseSchema", "responseJsonSchema"} & set(config)
    refuse_if(bool(schema) and "responseMimeType" not in config, "a schema without its responseMimeType")


def declarations(body: Json) -> Iterator[Json]:
    for tool in body.get("tools", []):
        yield from tool.get("functionDeclarations", [])
