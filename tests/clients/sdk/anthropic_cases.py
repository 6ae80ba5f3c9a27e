"""Anthropic's SDK over a model of Google's.

    python anthropic_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import anthropic
import pydantic
from anthropic import Anthropic

from kit import (
    PIXEL,
    SECONDS,
    SIGNED,
    SILENCE,
    USAGE,
    WEATHER,
    Bench,
    Cases,
    Fake,
    Json,
    call,
    chunk,
    error_of,
    expect,
    expect_in,
    fails,
    five_megabytes,
    responses,
    roles,
    run,
    said,
    says,
    text,
    thought,
    wants_weather,
)

case = Cases()
TOOL: Any = {"name": "weather", "description": "The weather", "input_schema": WEATHER}


def connect(bench: Bench, key: str = "", retries: int = 0) -> Anthropic:
    return Anthropic(base_url=bench.url, api_key=key or bench.token, max_retries=retries, timeout=SECONDS)


def user(content: object) -> Any:
    return {"role": "user", "content": content}


def create(bench: Bench, fake: Fake, messages: list[Any], **more: Any) -> Any:
    return connect(bench).messages.create(model=fake.model, max_tokens=1000, messages=messages, **more)


def stream(client: Anthropic, fake: Fake, messages: list[Any], **more: Any) -> Any:
    return client.messages.stream(model=fake.model, max_tokens=1000, messages=messages, **more)


def words(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@case("a conversation is sent whole")
def conversation(bench: Bench) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    messages = [user("My name is Alice.")]
    first = create(bench, fake, messages)
    expect("the first answer", (first.type, first.role, first.model), ("message", "assistant", fake.model))
    messages += [{"role": "assistant", "content": first.content}, user("What is my name?")]
    second = create(bench, fake, messages)
    expect("the answer", (words(second), second.stop_reason), ("Your name is Alice.", "end_turn"))
    expect("who spoke", roles(fake.asked(2)[1]), ["user", "model", "user"])


@case("a streamed conversation is sent whole")
def streamed_conversation(bench: Bench) -> None:
    fake = bench.model(says("Hello", " Alice."), {"recall": r"My name is (\w+)"})
    messages = [user("My name is Alice.")]
    with connect(bench) as client:
        with stream(client, fake, messages) as first:
            expect("the pieces", list(first.text_stream), ["Hello", " Alice."])
        messages += [{"role": "assistant", "content": first.get_final_message().content}, user("What is my name?")]
        with stream(client, fake, messages) as second:
            expect("the answer", second.get_final_text(), "Your name is Alice.")


@case("the events of a stream are in order")
def events(bench: Bench) -> None:
    parts = [chunk(thought("Hm.")), chunk(text("Blue")), chunk(text("."), finish="STOP", usage=USAGE)]
    fake = bench.model({"chunks": parts})
    thinking = {"type": "enabled", "budget_tokens": 1024}
    heard = list(create(bench, fake, [user("Why?")], stream=True, thinking=thinking))
    kinds = [one.type for one in heard]
    block = lambda deltas: ["content_block_start", *["content_block_delta"] * deltas, "content_block_stop"]  # noqa: E731
    # The thinking block ends with its signature.
    expect("the events", kinds, ["message_start", *block(2), *block(2), "message_delta", "message_stop"])
    deltas = [one.delta.type for one in heard if one.type == "content_block_delta"]
    expect("the deltas", deltas, ["thinking_delta", "signature_delta", "text_delta", "text_delta"])
    [end] = [one for one in heard if one.type == "message_delta"]
    expect("the end", (end.delta.stop_reason, end.usage.input_tokens, end.usage.output_tokens), ("end_turn", 60, 12))


@case("system and settings reach the model")
def settings(bench: Bench) -> None:
    # One that can do without thinking, and so needs no room for it.
    fake = bench.model(says("Yes."), name="gemini-2.5-flash")
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Be kind."}]
    create(bench, fake, [user("Hi")], system=system, stop_sequences=["END"])
    [asked] = fake.asked()
    expect("the instructions", [part["text"] for part in asked["systemInstruction"]["parts"]], ["Be brief.", "Be kind."])
    config = asked["generationConfig"]
    expect("the settings", (config["maxOutputTokens"], config["stopSequences"]), (1000, ["END"]))


@case("samplers are taken from clients of the old version alone")
def samplers(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    wanted: Json = {"extra_body": {"temperature": 0.5, "top_p": 0.9, "top_k": 3}}
    create(bench, fake, [user("Hi")], **wanted, extra_headers={"anthropic-version": "2023-06-01"})
    config = fake.asked()[0]["generationConfig"]
    expect("the settings", (config["temperature"], config["topP"], config["topK"]), (0.5, 0.9, 3))
    new = {"anthropic-version": "2026-10-21"}
    error = error_of(anthropic.BadRequestError, lambda: create(bench, fake, [user("Hi")], **wanted, extra_headers=new))
    expect_in("the message", "temperature", error.message)


def answers(blocks: list[Any]) -> Any:
    """Of the tools, the last one first: their order must not matter."""
    found = {"Paris": "21 degrees", "Rome": [{"type": "text", "text": "no idea"}]}
    made = [
        {"type": "tool_result", "tool_use_id": one.id, "content": found[one.input["city"]], "is_error": one.input["city"] == "Rome"}
        for one in blocks
        if one.type == "tool_use"
    ]
    return user([*reversed(made), {"type": "text", "text": "And?"}])


def check_tools(fake: Fake) -> None:
    first, second = fake.asked(2)
    [declared] = first["tools"][0]["functionDeclarations"]
    expect("the declaration", (declared["name"], declared["parametersJsonSchema"]), ("weather", WEATHER))
    asked, answered, more = second["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    expect("the text beside them", said(asked), "Let me look. ")
    told = [(name, response) for _, name, response in responses(answered)]
    expect("the answers", told, [("weather", {"output": "21 degrees"}), ("weather", {"error": "no idea"})])
    expect("what else was said", said(more), "And?")


@case("parallel calls of tools, and the text beside them")
def tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    messages = [user("Where is it warmer?")]
    first = create(bench, fake, messages, tools=[TOOL])
    expect("the end", (first.stop_reason, words(first)), ("tool_use", "Let me look. "))
    uses = [one for one in first.content if one.type == "tool_use"]
    expect("the inputs", [one.input for one in uses], [{"city": "Paris"}, {"city": "Rome", "unit": "c"}])
    messages += [{"role": "assistant", "content": first.content}, answers(first.content)]
    expect("the answer", words(create(bench, fake, messages, tools=[TOOL])), "Rome is warmer.")
    check_tools(fake)


@case("parallel calls of tools in a stream")
def streamed_tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))
    messages = [user("Where is it warmer?")]
    with connect(bench) as client:
        with stream(client, fake, messages, tools=[TOOL]) as heard:
            stops = [event.content_block for event in heard if event.type == "content_block_stop"]
            first = heard.get_final_message()
        uses = [block.input for block in stops if block.type == "tool_use"]
        expect("the inputs", uses, [{"city": "Paris"}, {"city": "Rome", "unit": "c"}])
        expect("the end", (first.stop_reason, words(first)), ("tool_use", "Let me look. "))
        messages += [{"role": "assistant", "content": first.content}, answers(first.content)]
        with stream(client, fake, messages, tools=[TOOL]) as second:
            expect("the answer", second.get_final_text(), "Rome is warmer.")
    check_tools(fake)


@case("a signature comes back, though the client keeps nothing but ids")
def forgetful(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    messages = [user("Where is it warmer?")]
    first = create(bench, fake, messages, tools=[TOOL])
    kept = [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": one.input}
        if one.type == "tool_use"
        else {"type": "text", "text": one.text}
        for one in first.content
        if one.type in ("tool_use", "text")
    ]
    messages += [{"role": "assistant", "content": kept}, answers(first.content)]
    create(bench, fake, messages, tools=[TOOL])
    check_tools(fake)


@case("which tool has to be called")
def tool_choice(bench: Bench) -> None:
    calls = {"chunks": [chunk(call("weather", {"city": "Oslo"}, SIGNED), finish="STOP")]}
    wanted = (
        ({"type": "none"}, {"mode": "NONE"}),
        ({"type": "auto"}, {"mode": "AUTO"}),
        ({"type": "any"}, {"mode": "ANY"}),
        ({"type": "tool", "name": "weather"}, {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    )
    for choice, reached in wanted:
        fake = bench.model(calls)
        create(bench, fake, [user("Oslo?")], tools=[TOOL], tool_choice=choice)
        config = fake.asked()[0].get("toolConfig", {}).get("functionCallingConfig", {"mode": "AUTO"})
        expect(f"what became of {choice}", config, reached)


def image(data: str) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


@case("a picture")
def picture(bench: Bench) -> None:
    fake = bench.model(says("A dot."))
    create(bench, fake, [user([image(PIXEL), {"type": "text", "text": "What is it?"}])])
    parts = fake.asked()[0]["contents"][0]["parts"]
    expect("the picture", parts[0]["inlineData"], {"mimeType": "image/png", "data": PIXEL})
    expect("the text", parts[1], {"text": "What is it?"})


@case("a picture of 5 MB")
def large_picture(bench: Bench) -> None:
    fake = bench.model(says("Large."))
    create(bench, fake, [user([image(five_megabytes())])])
    reached = fake.asked()[0]["contents"][0]["parts"][0]["inlineData"]["data"]
    expect("whether it is whole", reached == five_megabytes(), True)


@case("a picture that a tool made")
def tool_picture(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(call("look", {}, SIGNED, "c1"), finish="STOP")]}, says("A dot."))
    tool: Any = {"name": "look", "input_schema": {"type": "object"}}
    messages = [user("Look!")]
    first = create(bench, fake, messages, tools=[tool])
    [use] = [one for one in first.content if one.type == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": use.id, "content": [image(PIXEL)]}
    messages += [{"role": "assistant", "content": first.content}, user([result])]
    create(bench, fake, messages, tools=[tool])
    expect_in("what reached the model", PIXEL, json.dumps(fake.asked(2)[1]["contents"][2:]))


class City(pydantic.BaseModel):
    name: str
    inhabitants: int


@case("an answer as the caller's own type")
def structured(bench: Bench) -> None:
    fake = bench.model(says('{"name": "Oslo", ', '"inhabitants": 717710}'))
    with connect(bench) as client:
        answer = client.messages.parse(model=fake.model, max_tokens=1000, messages=[user("Oslo?")], output_format=City)
        expect("what was parsed", answer.parsed_output, City(name="Oslo", inhabitants=717710))
        with stream(client, fake, [user("Oslo?")], output_format=City) as heard:
            streamed = heard.get_final_message().parsed_output
    expect("what was parsed of a stream", streamed, City(name="Oslo", inhabitants=717710))
    config = fake.asked(2)[0]["generationConfig"]
    expect("the kind", config["responseMimeType"], "application/json")
    expect("the properties", set(config["responseJsonSchema"]["properties"]), {"name", "inhabitants"})


@case("thoughts are shown, and their signature comes back")
def thinking(bench: Bench) -> None:
    signed = {"text": "Blue.", "thoughtSignature": SIGNED}
    fake = bench.model({"chunks": [chunk(thought("Rayleigh.")), chunk(signed, finish="STOP")]}, says("Sure."))
    messages = [user("Why is the sky blue?")]
    wanted = {"type": "enabled", "budget_tokens": 2048}
    first = create(bench, fake, messages, thinking=wanted)
    shown, answer = first.content[0], words(first)
    expect("the blocks", (shown.type, shown.thinking, answer), ("thinking", "Rayleigh.", "Blue."))
    expect("whether it is signed", bool(shown.signature), True)
    messages += [{"role": "assistant", "content": first.content}, user("Sure?")]
    create(bench, fake, messages, thinking=wanted)
    one, two = fake.asked(2)
    config = one["generationConfig"]["thinkingConfig"]
    expect("whether it thinks", bool(config.get("thinkingBudget") or config.get("thinkingLevel")), True)
    expect("whether it shows it", config["includeThoughts"], True)
    signatures = [part["thoughtSignature"] for part in two["contents"][1]["parts"] if "thoughtSignature" in part]
    expect("the signatures", signatures, [SIGNED])


@case("an effort is a level of thinking")
def effort(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    create(bench, fake, [user("Hi")], thinking={"type": "adaptive"}, output_config={"effort": "low"})
    expect("the level", fake.asked()[0]["generationConfig"]["thinkingConfig"]["thinkingLevel"].upper(), "LOW")


@case("usage with cached and thinking tokens")
def usage(bench: Bench) -> None:
    fake = bench.model(says("Yes", ".", usage=USAGE))
    with connect(bench) as client, stream(client, fake, [user("Hi")]) as heard:
        streamed = heard.get_final_message().usage
    for told in (create(bench, fake, [user("Hi")]).usage, streamed):
        expect("the tokens", (told.input_tokens, told.cache_read_input_tokens, told.output_tokens), (60, 40, 12))
        expect("the thoughts", told.output_tokens_details.thinking_tokens, 5)


@case("why an answer ended early")
def finish(bench: Bench) -> None:
    for reason, told in (("MAX_TOKENS", "max_tokens"), ("SAFETY", "refusal")):
        fake = bench.model({"chunks": [chunk(text("Once upon"), finish=reason)]})
        expect(f"what became of {reason}", create(bench, fake, [user("Tell")]).stop_reason, told)


ERRORS = (
    (400, "INVALID_ARGUMENT", anthropic.BadRequestError, 400, "invalid_request_error"),
    (403, "PERMISSION_DENIED", anthropic.PermissionDeniedError, 403, "permission_error"),
    (404, "NOT_FOUND", anthropic.NotFoundError, 404, "not_found_error"),
    (429, "RESOURCE_EXHAUSTED", anthropic.RateLimitError, 429, "rate_limit_error"),
    # Claude's own word for it.
    (503, "UNAVAILABLE", anthropic.OverloadedError, 529, "overloaded_error"),
)


@case("each error of the model is one of the SDK, streamed or not")
def upstream_errors(bench: Bench) -> None:
    for status, name, kind, told, word in ERRORS:
        fake = bench.model(fails(status, name))
        for streams in (False, True):
            error = error_of(kind, lambda: create(bench, fake, [user("Hi")], stream=streams))
            expect(f"the status {status}", error.status_code, told)
            expect("its type", error.body["error"]["type"], word)
            expect_in("the message", "so it was told", error.body["error"]["message"])


@case("an internal error of the model is one of ours")
def internal_error(bench: Bench) -> None:
    fake = bench.model(fails(500, "INTERNAL"))
    expect("the status", error_of(anthropic.InternalServerError, lambda: create(bench, fake, [user("Hi")])).status_code, 500)


@case("a wrong request is refused with the name of the field")
def bad_request(bench: Bench) -> None:
    fake = bench.model(says("never"))
    wrong: Any = [user([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "no!"}}])]
    error = error_of(anthropic.BadRequestError, lambda: create(bench, fake, wrong))
    expect_in("the message", "messages[0].content[0].source", error.body["error"]["message"])
    expect("whether it has a name", bool(error.request_id), True)
    fake.asked(0)


@case("a wrong key is 401")
def wrong_key(bench: Bench) -> None:
    fake = bench.model(says("never"))
    with connect(bench, key="wrong") as client:
        ask = lambda: client.messages.create(model=fake.model, max_tokens=9, messages=[user("Hi")])  # noqa: E731
        error = error_of(anthropic.AuthenticationError, ask)
    expect("its type", error.body["error"]["type"], "authentication_error")
    fake.asked(0)


@case("a rate limit tells how long to wait, and the SDK does")
def retried(bench: Bench) -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}
    limited = fails(429, "RESOURCE_EXHAUSTED", details=[wait])
    error = error_of(anthropic.RateLimitError, lambda: create(bench, bench.model(limited), [user("Hi")]))
    expect("the header", error.response.headers["retry-after"], "2")
    fake = bench.model(limited, says("Now."))
    begin = time.monotonic()
    with connect(bench, retries=1) as client:
        answer = client.messages.create(model=fake.model, max_tokens=9, messages=[user("Hi")])
    expect("the answer", words(answer), "Now.")
    expect("whether it waited", time.monotonic() - begin >= 1.9, True)
    fake.asked(2)


@case("an error within a stream is raised")
def broken_stream(bench: Bench) -> None:
    problem = {"code": 503, "status": "UNAVAILABLE", "message": "so it was told"}
    for then in (problem, "reset"):
        fake = bench.model({"chunks": [chunk(text("Half"))], "then": then})
        with connect(bench) as client, stream(client, fake, [user("Hi")]) as heard:
            pieces = iter(heard.text_stream)
            expect("the first piece", next(pieces), "Half")
            try:
                rest = list(pieces)
            except anthropic.APIStatusError as error:
                expect("whether it is the service's fault", error.body["error"]["type"] in ("overloaded_error", "api_error"), True)
            else:
                raise AssertionError(f"no error but {rest!r}")


@case("who leaves a stream leaves the model too")
def canceled(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    with connect(bench) as client, stream(client, fake, [user("Hi")]) as heard:
        expect("the first piece", next(iter(heard.text_stream)), "First")
    fake.was_left()


@case("a long silence is no end")
def silence(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    with connect(bench) as client, stream(client, fake, [user("Hi")]) as heard:
        expect("the answer", heard.get_final_text(), "Well now.")


@case("silence is filled with pings")
def heartbeat(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    wanted = {"model": fake.model, "max_tokens": 9, "messages": [user("Hi")], "stream": True}
    with bench.plain("POST", "/v1/messages", wanted, anthropic_version="2023-06-01") as answer:
        lines = [line.decode().strip() for line in answer]
    # One is at the beginning of every stream.
    expect("the pings", lines.count("event: ping"), 2)
    expect("the comments", [line for line in lines if line.startswith(":")], [])
    expect("the last event", [line for line in lines if line.startswith("event: ")][-1], "event: message_stop")


@case("characters that are split over the network")
def unicode_text(bench: Bench) -> None:
    spoken = ["Grüße, ", "世界 ", "👩‍👩‍👧‍👦!"]
    fake = bench.model(says(*spoken) | {"split": 1})
    with connect(bench) as client, stream(client, fake, [user("Hällo 🌍")]) as heard:
        expect("the pieces", list(heard.text_stream), spoken)
    expect("what was asked", said(fake.asked()[0]["contents"][0]), "Hällo 🌍")


@case("tokens are counted, with the system and the tools")
def counted(bench: Bench) -> None:
    fake = bench.model()
    with connect(bench) as client:
        ask = client.messages.count_tokens
        made = ask(model=fake.model, messages=[user("one two three")], system="four five", tools=[TOOL])
    expect("the tokens", made.input_tokens, 5)
    asked = fake.asked()[0]["generateContentRequest"]
    expect("the tools", asked["tools"][0]["functionDeclarations"][0]["name"], "weather")


@case("the models are listed, and each is told")
def models(bench: Bench) -> None:
    with connect(bench) as client:
        listed = {model.id: model for model in client.models.list()}
        one = listed["gemini-4-argon"]
        expect("it", (one.type, one.max_input_tokens, one.max_tokens), ("model", 1_048_576, 65_536))
        expect("the same", client.models.retrieve("gemini-4-argon").id, "gemini-4-argon")
        error_of(anthropic.NotFoundError, lambda: client.models.retrieve("nobody"))


@case("what a conversion changes is told in a header, and refused where it is strict")
def conversion(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    with connect(bench) as client:
        ask = client.messages.with_raw_response.create
        wanted: Json = {"model": fake.model, "max_tokens": 9, "messages": [user("Hi")], "tools": [TOOL]}
        told = ask(**wanted, tool_choice=choice, metadata={"user_id": "me"}).headers["x-agena-conversion"]
        expect_in("the report", "disable_parallel_tool_use", told)
        strict = {"x-agena-strict": "true"}
        expect("what changes nothing", ask(**wanted, extra_headers=strict).status_code, 200)
        fake.asked(2)
        error = error_of(anthropic.BadRequestError, lambda: ask(**wanted, tool_choice=choice, extra_headers=strict))
        expect_in("the message", "disable_parallel_tool_use", error.body["error"]["message"])
    fake.asked(2)


@case("a conversion can be looked at")
def preview(bench: Bench) -> None:
    fake = bench.model(says("never"))
    wanted = {"model": fake.model, "max_tokens": 9, "messages": [user("Hi")]}
    with bench.plain("POST", "/v1/messages:preview", wanted, anthropic_version="2023-06-01") as answer:
        shown = json.load(answer)
    expect("the contents", shown["request"]["contents"], [{"role": "user", "parts": [{"text": "Hi"}]}])
    fake.asked(0)


if __name__ == "__main__":
    sys.exit(run(case))
