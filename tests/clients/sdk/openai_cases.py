"""OpenAI's SDK and its chat completions, with its embeddings and models, over a model of Google's.

    python openai_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import openai
import pydantic
from openai import OpenAI

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
TOOL: Any = {"type": "function", "function": {"name": "weather", "description": "The weather", "parameters": WEATHER}}


def connect(bench: Bench, key: str = "", retries: int = 0) -> OpenAI:
    base = f"{bench.url}/v1"
    return OpenAI(base_url=base, api_key=key or bench.token, max_retries=retries, timeout=SECONDS)


def user(content: object) -> Any:
    return {"role": "user", "content": content}


def complete(bench: Bench, fake: Fake, messages: list[Any], **more: Any) -> Any:
    return connect(bench).chat.completions.create(model=fake.model, messages=messages, **more)


@case("a conversation is sent whole")
def conversation(bench: Bench) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    messages = [user("My name is Alice.")]
    first = complete(bench, fake, messages)
    expect("the first answer", (first.object, first.model), ("chat.completion", fake.model))
    messages += [first.choices[0].message, user("What is my name?")]
    second = complete(bench, fake, messages).choices[0]
    expect("the answer", (second.message.content, second.finish_reason), ("Your name is Alice.", "stop"))
    expect("who spoke", roles(fake.asked(2)[1]), ["user", "model", "user"])


@case("a streamed conversation is sent whole")
def streamed_conversation(bench: Bench) -> None:
    fake = bench.model(says("Hello", " Alice."), {"recall": r"My name is (\w+)"})
    messages = [user("My name is Alice.")]
    stream = list(complete(bench, fake, messages, stream=True))
    pieces = [one.choices[0].delta.content or "" for one in stream]
    expect("the pieces", [piece for piece in pieces if piece], ["Hello", " Alice."])
    expect("the ids", len({(one.id, one.created, one.model) for one in stream}), 1)
    reasons = [one.choices[0].finish_reason for one in stream]
    expect("the one end", reasons, [None] * (len(stream) - 1) + ["stop"])
    messages += [{"role": "assistant", "content": "".join(pieces)}, user("What is my name?")]
    again = complete(bench, fake, messages, stream=True)
    expect("the answer", "".join(one.choices[0].delta.content or "" for one in again), "Your name is Alice.")


@case("system, developer and settings reach the model")
def settings(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    system = [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Be kind."}]
    complete(bench, fake, [*system, user("Hi")], temperature=0.5, top_p=0.9, max_completion_tokens=99, stop="END", seed=7)
    [asked] = fake.asked()
    expect("the instructions", [part["text"] for part in asked["systemInstruction"]["parts"]], ["Be brief.", "Be kind."])
    expect("who spoke", roles(asked), ["user"])
    config = asked["generationConfig"]
    found = [config.get(name) for name in ("temperature", "topP", "maxOutputTokens", "stopSequences", "seed")]
    expect("the settings", found, [0.5, 0.9, 99, ["END"], 7])


@case("a system message in the middle stays where it is")
def late_system(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    middle = [{"role": "assistant", "content": "Hello."}, {"role": "system", "content": "Now in French."}]
    complete(bench, fake, [user("Hi"), *middle, user("Go on")])
    [asked] = fake.asked()
    expect("whether it went to the front", "systemInstruction" in asked, False)
    texts = " / ".join(map(said, asked["contents"]))
    expect_in("the conversation", "Now in French.", texts.partition("Hello.")[2].partition("Go on")[0])


def answers(calls: list[Any]) -> list[Any]:
    """Of the tools, the last one first: their order must not matter."""
    found = {"Paris": '{"degrees": 21}', "Rome": "warm"}
    made = [(one.id, json.loads(one.function.arguments)["city"]) for one in calls]
    return [{"role": "tool", "tool_call_id": id, "content": found[city]} for id, city in reversed(made)]


def check_tools(fake: Fake, said_beside: bool = True) -> None:
    first, second = fake.asked(2)
    [declared] = first["tools"][0]["functionDeclarations"]
    expect("the declaration", (declared["name"], declared["parametersJsonSchema"]), ("weather", WEATHER))
    asked, answered = second["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    if said_beside:
        expect("the text beside them", said(asked), "Let me look. ")
    told = [(name, response) for _, name, response in responses(answered)]
    expect("the answers", told, [("weather", {"degrees": 21}), ("weather", {"output": "warm"})])


@case("parallel calls of tools, and the text beside them")
def tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    messages = [user("Where is it warmer?")]
    [choice] = complete(bench, fake, messages, tools=[TOOL]).choices
    expect("the end", (choice.finish_reason, choice.message.content), ("tool_calls", "Let me look. "))
    cities = [json.loads(one.function.arguments)["city"] for one in choice.message.tool_calls]
    expect("the cities", cities, ["Paris", "Rome"])
    messages += [choice.message, *answers(choice.message.tool_calls)]
    second = complete(bench, fake, messages, tools=[TOOL])
    expect("the answer", second.choices[0].message.content, "Rome is warmer.")
    check_tools(fake)


@case("parallel calls of tools in a stream")
def streamed_tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))
    messages = [user("Where is it warmer?")]
    with connect(bench) as client:
        with client.chat.completions.stream(model=fake.model, messages=messages, tools=[TOOL]) as stream:
            done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
            [choice] = stream.get_final_completion().choices
        expect("the calls", [(one.index, json.loads(one.arguments)["city"]) for one in done], [(0, "Paris"), (1, "Rome")])
        expect("the end", (choice.finish_reason, choice.message.content), ("tool_calls", "Let me look. "))
        messages += [choice.message, *answers(choice.message.tool_calls)]
        with client.chat.completions.stream(model=fake.model, messages=messages, tools=[TOOL]) as stream:
            expect("the answer", stream.get_final_completion().choices[0].message.content, "Rome is warmer.")
    check_tools(fake)


@case("a signature comes back, though the client keeps nothing but ids")
def forgetful(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    messages = [user("Where is it warmer?")]
    calls = complete(bench, fake, messages, tools=[TOOL]).choices[0].message.tool_calls
    kept = [
        {"id": one.id, "type": "function", "function": {"name": one.function.name, "arguments": one.function.arguments}}
        for one in calls
    ]
    messages += [{"role": "assistant", "content": None, "tool_calls": kept}, *answers(calls)]
    complete(bench, fake, messages, tools=[TOOL])
    check_tools(fake, said_beside=False)


@case("which tool has to be called")
def tool_choice(bench: Bench) -> None:
    calls = {"chunks": [chunk(call("weather", {"city": "Oslo"}, SIGNED), finish="STOP")]}
    wanted = {
        "none": {"mode": "NONE"},
        "auto": {"mode": "AUTO"},
        "required": {"mode": "ANY"},
        "weather": {"mode": "ANY", "allowedFunctionNames": ["weather"]},
    }
    for choice, reached in wanted.items():
        fake = bench.model(calls)
        named = {"type": "function", "function": {"name": choice}}
        complete(bench, fake, [user("Oslo?")], tools=[TOOL], tool_choice=named if choice == "weather" else choice)
        config = fake.asked()[0].get("toolConfig", {}).get("functionCallingConfig", {"mode": "AUTO"})
        expect(f"what became of {choice}", config, reached)


@case("a picture")
def picture(bench: Bench) -> None:
    fake = bench.model(says("A dot."))
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    complete(bench, fake, [user([{"type": "text", "text": "What is it?"}, image])])
    parts = fake.asked()[0]["contents"][0]["parts"]
    expect("the parts", parts[0], {"text": "What is it?"})
    expect("the picture", parts[1]["inlineData"], {"mimeType": "image/png", "data": PIXEL})


@case("a picture of 5 MB")
def large_picture(bench: Bench) -> None:
    fake = bench.model(says("Large."))
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{five_megabytes()}"}}
    complete(bench, fake, [user([image])])
    reached = fake.asked()[0]["contents"][0]["parts"][0]["inlineData"]["data"]
    expect("whether it is whole", reached == five_megabytes(), True)


class City(pydantic.BaseModel):
    name: str
    inhabitants: int


def check_schema(fake: Fake) -> None:
    config = fake.asked()[0]["generationConfig"]
    expect("the kind", config["responseMimeType"], "application/json")
    expect("the properties", set(config["responseJsonSchema"]["properties"]), {"name", "inhabitants"})


@case("an answer as the caller's own type")
def structured(bench: Bench) -> None:
    fake = bench.model(says('{"name": "Oslo", ', '"inhabitants": 717710}'))
    with connect(bench) as client:
        ask = client.chat.completions.parse
        answer = ask(model=fake.model, messages=[user("Oslo?")], response_format=City)
    expect("what was parsed", answer.choices[0].message.parsed, City(name="Oslo", inhabitants=717710))
    check_schema(fake)


@case("an answer as the caller's own type in a stream")
def streamed_structured(bench: Bench) -> None:
    fake = bench.model(says('{"name": "Oslo", ', '"inhabitants": 717710}'))
    with connect(bench) as client:
        ask = client.chat.completions.stream
        with ask(model=fake.model, messages=[user("Oslo?")], response_format=City) as stream:
            [done] = [event for event in stream if event.type == "content.done"]
    expect("what was parsed", done.parsed, City(name="Oslo", inhabitants=717710))
    check_schema(fake)


@case("thoughts are apart from the answer")
def thinking(bench: Bench) -> None:
    parts = [chunk(thought("Rayleigh.")), chunk(text("Blue."), finish="STOP")]
    fake = bench.model({"chunks": parts})
    message = complete(bench, fake, [user("Why?")], reasoning_effort="high").choices[0].message
    expect("the answer", (message.content, message.reasoning_content), ("Blue.", "Rayleigh."))
    stream = list(complete(bench, fake, [user("Why?")], reasoning_effort="high", stream=True))
    deltas = [one.choices[0].delta for one in stream]
    expect("the answer in pieces", "".join(one.content or "" for one in deltas), "Blue.")
    expect("the thoughts in pieces", "".join(getattr(one, "reasoning_content", "") or "" for one in deltas), "Rayleigh.")
    for asked in fake.asked(2):
        expect("how it thinks", asked["generationConfig"]["thinkingConfig"]["thinkingLevel"].upper(), "HIGH")


def counts(usage: Any) -> tuple[int, ...]:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    whole = (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
    return (*whole, prompt.cached_tokens, completion.reasoning_tokens)


@case("usage with cached and thinking tokens")
def usage(bench: Bench) -> None:
    fake = bench.model(says("Yes", ".", usage=USAGE))
    expect("the tokens", counts(complete(bench, fake, [user("Hi")]).usage), (100, 12, 112, 40, 5))
    stream = list(complete(bench, fake, [user("Hi")], stream=True, stream_options={"include_usage": True}))
    expect("the last chunk", (stream[-1].choices, counts(stream[-1].usage)), ([], (100, 12, 112, 40, 5)))
    expect("the usage of others", {one.usage for one in stream[:-1]}, {None})
    unasked = list(complete(bench, fake, [user("Hi")], stream=True))
    expect("usage that nobody wants", {one.usage for one in unasked}, {None})


@case("why an answer ended early")
def finish(bench: Bench) -> None:
    for reason, told in (("MAX_TOKENS", "length"), ("SAFETY", "content_filter")):
        fake = bench.model({"chunks": [chunk(text("Once upon"), finish=reason)]})
        expect(f"what became of {reason}", complete(bench, fake, [user("Tell")]).choices[0].finish_reason, told)
    fake = bench.model({"chunks": [{"promptFeedback": {"blockReason": "SAFETY"}}]})
    blocked = complete(bench, fake, [user("Tell")]).choices[0]
    expect("a prompt that is not allowed", blocked.finish_reason, "content_filter")


ERRORS = (
    (400, "INVALID_ARGUMENT", openai.BadRequestError, 400),
    (403, "PERMISSION_DENIED", openai.PermissionDeniedError, 403),
    (404, "NOT_FOUND", openai.NotFoundError, 404),
    (429, "RESOURCE_EXHAUSTED", openai.RateLimitError, 429),
    (503, "UNAVAILABLE", openai.InternalServerError, 503),
)


@case("each error of the model is one of the SDK, streamed or not")
def upstream_errors(bench: Bench) -> None:
    for status, name, kind, told in ERRORS:
        fake = bench.model(fails(status, name))
        for stream in (False, True):
            error = error_of(kind, lambda: complete(bench, fake, [user("Hi")], stream=stream))
            expect(f"the status {status}", error.status_code, told)
            expect_in("the message", "so it was told", error.message)
            expect("whether it has a type", bool(error.type), True)


@case("an internal error of the model is one of ours")
def internal_error(bench: Bench) -> None:
    fake = bench.model(fails(500, "INTERNAL"))
    expect("the status", error_of(openai.InternalServerError, lambda: complete(bench, fake, [user("Hi")])).status_code, 500)


@case("a wrong request is refused with the name of the field")
def bad_request(bench: Bench) -> None:
    fake = bench.model(says("never"))
    wrong: Any = [{"role": "nobody", "content": "Hi"}]
    error = error_of(openai.BadRequestError, lambda: complete(bench, fake, wrong))
    expect("the field", (error.param, error.type), ("messages[0].role", "invalid_request_error"))
    fake.asked(0)


@case("a wrong key is 401")
def wrong_key(bench: Bench) -> None:
    fake = bench.model(says("never"))
    with connect(bench, key="wrong") as client:
        ask = lambda: client.chat.completions.create(model=fake.model, messages=[user("Hi")])  # noqa: E731
        expect("the code", error_of(openai.AuthenticationError, ask).code, "invalid_api_key")
    fake.asked(0)


@case("a rate limit tells how long to wait, and the SDK does")
def retried(bench: Bench) -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}
    limited = fails(429, "RESOURCE_EXHAUSTED", details=[wait])
    error = error_of(openai.RateLimitError, lambda: complete(bench, bench.model(limited), [user("Hi")]))
    expect("the header", error.response.headers["retry-after"], "2")
    fake = bench.model(limited, says("Now."))
    begin = time.monotonic()
    with connect(bench, retries=1) as client:
        answer = client.chat.completions.create(model=fake.model, messages=[user("Hi")])
    expect("the answer", answer.choices[0].message.content, "Now.")
    expect("whether it waited", time.monotonic() - begin >= 1.9, True)
    fake.asked(2)


@case("an error within a stream is raised")
def broken_stream(bench: Bench) -> None:
    problem = {"code": 503, "status": "UNAVAILABLE", "message": "so it was told"}
    for then in (problem, "reset"):
        fake = bench.model({"chunks": [chunk(text("Half"))], "then": then})
        heard = []

        def listen(fake: Fake = fake, heard: list[str] = heard) -> None:
            for one in complete(bench, fake, [user("Hi")], stream=True):
                heard.append(one.choices[0].delta.content or "")

        error_of(openai.APIError, listen)
        expect("what was heard", "".join(heard), "Half")


@case("who leaves a stream leaves the model too")
def canceled(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    with connect(bench) as client:
        with client.chat.completions.create(model=fake.model, messages=[user("Hi")], stream=True) as stream:
            heard = next(one for one in stream if one.choices[0].delta.content)
    expect("the first piece", heard.choices[0].delta.content, "First")
    fake.was_left()


@case("who leaves without an answer leaves the model too")
def impatient(bench: Bench) -> None:
    fake = bench.model({"chunks": [], "then": "hang"})
    with connect(bench) as client:
        ask = client.with_options(timeout=1).chat.completions.create
        error_of(openai.APITimeoutError, lambda: ask(model=fake.model, messages=[user("Hi")]))
    fake.was_left()


@case("a long silence is no end")
def silence(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    stream = complete(bench, fake, [user("Hi")], stream=True)
    expect("the answer", "".join(one.choices[0].delta.content or "" for one in stream), "Well now.")


@case("characters that are split over the network")
def unicode_text(bench: Bench) -> None:
    words = ["Grüße, ", "世界 ", "👩‍👩‍👧‍👦!"]
    fake = bench.model(says(*words) | {"split": 1})
    stream = complete(bench, fake, [user("Hällo 🌍")], stream=True)
    pieces = [one.choices[0].delta.content or "" for one in stream]
    expect("the pieces", [piece for piece in pieces if piece], words)
    expect("what was asked", said(fake.asked()[0]["contents"][0]), "Hällo 🌍")


@case("embeddings, as numbers and as base64")
def embeddings(bench: Bench) -> None:
    fake = bench.model(name="gemini-embedding-001")
    with connect(bench) as client:
        # The SDK asks for base64 unless it is told.
        for options in ({}, {"encoding_format": "float"}):
            made = client.embeddings.create(model=fake.model, input=["four", "longer"], dimensions=2, **options)
            vectors = [(one.index, one.embedding) for one in made.data]
            expect("the vectors", vectors, [(0, [4.0, 0.5]), (1, [6.0, 0.5])])


@case("the models are listed, and each is told")
def models(bench: Bench) -> None:
    with connect(bench) as client:
        listed = {model.id: model.object for model in client.models.list()}
        expect("one of them", listed.get("gemini-4-argon"), "model")
        expect("the same", client.models.retrieve("gemini-4-argon").id, "gemini-4-argon")
        error_of(openai.NotFoundError, lambda: client.models.retrieve("nobody"))


@case("a name of OpenAI's is answered by the model of the settings")
def foreign_name(bench: Bench) -> None:
    fake = Fake(bench.fake, "gemini-3.8-flash").script(says("It is me."))
    with connect(bench) as client:
        answer = client.chat.completions.create(model="gpt-5", messages=[user("Who is it?")])
    expect("the answer", (answer.choices[0].message.content, answer.model), ("It is me.", "gpt-5"))
    expect("whether it was asked", len(fake.requests()) > 0, True)


@case("what a conversion changes is told in a header, and refused where it is strict")
def conversion(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    with connect(bench) as client:
        ask = client.chat.completions.with_raw_response.create
        wanted: Json = {"model": fake.model, "messages": [user("Hi")], "parallel_tool_calls": False, "tools": [TOOL]}
        answer = ask(**wanted, user="me")
        told = answer.headers["x-agena-conversion"]
        expect_in("the report", 'field="user"', told)
        expect_in("who was asked", f"/{fake.model}", answer.headers["x-agena-upstream"])
        strict = {"x-agena-strict": "true"}
        expect("what changes nothing", ask(model=fake.model, messages=[user("Hi")], extra_headers=strict).status_code, 200)
        fake.asked(2)
        error = error_of(openai.BadRequestError, lambda: ask(**wanted, extra_headers=strict))
        expect("the field", error.param, "parallel_tool_calls")
    fake.asked(2)


@case("a conversion can be looked at")
def preview(bench: Bench) -> None:
    fake = bench.model(says("never"))
    wanted = {"model": fake.model, "messages": [user("Hi")], "user": "me"}
    with bench.plain("POST", "/v1/chat/completions:preview", wanted) as answer:
        shown = json.load(answer)
    expect("the contents", shown["request"]["contents"], [{"role": "user", "parts": [{"text": "Hi"}]}])
    expect("the changes", [one["field"] for one in shown["changes"]], ["user"])
    fake.asked(0)


@case("silence is filled with comments, and the end is [DONE]")
def heartbeat(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    wanted = {"model": fake.model, "messages": [user("Hi")], "stream": True}
    with bench.plain("POST", "/v1/chat/completions", wanted) as answer:
        lines = [line.decode().strip() for line in answer]
    expect("the comments", [line for line in lines if line and not line.startswith("data: ")], [":"])
    expect("the last line", [line for line in lines if line][-1], "data: [DONE]")


if __name__ == "__main__":
    sys.exit(run(case))
