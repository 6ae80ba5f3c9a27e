"""OpenAI's SDK and its Responses API over a model of Google's.

    python responses_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import openai
import pydantic

from kit import (
    PIXEL,
    SIGNED,
    SILENCE,
    USAGE,
    WEATHER,
    Bench,
    Cases,
    Fake,
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
from openai_cases import connect

case = Cases()
TOOL: Any = {"type": "function", "name": "weather", "description": "The weather", "parameters": WEATHER, "strict": False}
ENDED = ("completed", "failed", "cancelled", "incomplete")


def respond(bench: Bench, fake: Fake, input: Any, **more: Any) -> Any:
    return connect(bench).responses.create(model=fake.model, input=input, **more)


@case("a conversation is kept by the server")
def conversation(bench: Bench) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    first = respond(bench, fake, "My name is Alice.", instructions="Be brief.")
    expect("the first answer", (first.status, first.output_text), ("completed", "Hello Alice."))
    second = respond(bench, fake, "What is my name?", previous_response_id=first.id)
    expect("the answer", (second.output_text, second.previous_response_id), ("Your name is Alice.", first.id))
    one, two = fake.asked(2)
    expect("who spoke", roles(two), ["user", "model", "user"])
    expect("the instructions", said(one["systemInstruction"]), "Be brief.")
    expect("whether they are carried over", "systemInstruction" in two, False)


@case("a conversation is sent whole")
def stateless(bench: Bench) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    items: list[Any] = [{"role": "user", "content": "My name is Alice."}]
    first = respond(bench, fake, items, store=False)
    items += [*first.output, {"role": "user", "content": "What is my name?"}]
    expect("the answer", respond(bench, fake, items, store=False).output_text, "Your name is Alice.")
    with connect(bench) as client:
        error_of(openai.NotFoundError, lambda: client.responses.retrieve(first.id))


@case("a response can be read again, with what was asked, until it is deleted")
def kept(bench: Bench) -> None:
    fake = bench.model(says("Hello."))
    made = respond(bench, fake, "Hi there", metadata={"team": "tools"})
    with connect(bench) as client:
        again = client.responses.retrieve(made.id)
        expect("it", (again.output_text, again.metadata), ("Hello.", {"team": "tools"}))
        [item] = list(client.responses.input_items.list(made.id))
        expect("the input", (item.role, item.content[0].text), ("user", "Hi there"))
        client.responses.delete(made.id)
        error_of(openai.NotFoundError, lambda: client.responses.retrieve(made.id))
        lost = lambda: respond(bench, fake, "And?", previous_response_id=made.id)  # noqa: E731
        expect("the field", error_of(openai.BadRequestError, lost).param, "previous_response_id")


@case("settings reach the model")
def settings(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    respond(bench, fake, "Hi", temperature=0.5, top_p=0.9, max_output_tokens=99)
    config = fake.asked()[0]["generationConfig"]
    found = [config.get(name) for name in ("temperature", "topP", "maxOutputTokens")]
    expect("the settings", found, [0.5, 0.9, 99])


def answers(items: list[Any]) -> list[Any]:
    found = {"Paris": '{"degrees": 21}', "Rome": "warm"}
    calls = [(one.call_id, json.loads(one.arguments)["city"]) for one in items if one.type == "function_call"]
    return [{"type": "function_call_output", "call_id": id, "output": found[city]} for id, city in reversed(calls)]


def check_tools(fake: Fake) -> None:
    first, second = fake.asked(2)
    [declared] = first["tools"][0]["functionDeclarations"]
    expect("the declaration", (declared["name"], declared["parametersJsonSchema"]), ("weather", WEATHER))
    asked, answered = second["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    expect("the text beside them", said(asked), "Let me look. ")
    told = [(name, response) for _, name, response in responses(answered)]
    expect("the answers", told, [("weather", {"degrees": 21}), ("weather", {"output": "warm"})])


@case("parallel calls of tools, and the text beside them")
def tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    first = respond(bench, fake, "Where is it warmer?", tools=[TOOL])
    expect("the kinds", [one.type for one in first.output if one.type != "reasoning"], ["message", "function_call", "function_call"])
    second = respond(bench, fake, answers(first.output), tools=[TOOL], previous_response_id=first.id)
    expect("the answer", second.output_text, "Rome is warmer.")
    check_tools(fake)


@case("parallel calls of tools in a stream, and nothing kept by the server")
def streamed_tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))
    items: list[Any] = [{"role": "user", "content": "Where is it warmer?"}]
    options: Any = {"model": fake.model, "tools": [TOOL], "store": False, "include": ["reasoning.encrypted_content"]}
    with connect(bench) as client:
        with client.responses.stream(input=items, **options) as stream:
            done = [event for event in stream if event.type == "response.function_call_arguments.done"]
            first = stream.get_final_response()
        expect("the calls", [json.loads(one.arguments)["city"] for one in done], ["Paris", "Rome"])
        items += [*first.output, *answers(first.output)]
        with client.responses.stream(input=items, **options) as stream:
            expect("the answer", stream.get_final_response().output_text, "Rome is warmer.")
    check_tools(fake)


@case("the events of a stream are in order")
def events(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(thought("Hm.")), chunk(text("Blue")), chunk(text(", of course."), finish="STOP")]})
    stream = list(respond(bench, fake, "Why?", stream=True, reasoning={"effort": "high", "summary": "auto"}))
    kinds = [one.type for one in stream]
    expect("the beginning", kinds[:2], ["response.created", "response.in_progress"])
    expect("the end", kinds[-1], "response.completed")
    expect("the numbers", [one.sequence_number for one in stream], list(range(len(stream))))
    deltas = [one.delta for one in stream if one.type == "response.output_text.delta"]
    expect("the text", deltas, ["Blue", ", of course."])
    summary = [one.delta for one in stream if one.type == "response.reasoning_summary_text.delta"]
    expect("the thoughts", "".join(summary), "Hm.")
    added = [one.output_index for one in stream if one.type == "response.output_item.added"]
    ended = [one.output_index for one in stream if one.type == "response.output_item.done"]
    expect("the items", (added, ended), ([0, 1], [0, 1]))
    expect("the whole", stream[-1].response.output_text, "Blue, of course.")


@case("a picture")
def picture(bench: Bench) -> None:
    fake = bench.model(says("A dot."))
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
    respond(bench, fake, [{"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, image]}])
    parts = fake.asked()[0]["contents"][0]["parts"]
    expect("the parts", parts[0], {"text": "What is it?"})
    expect("the picture", parts[1]["inlineData"], {"mimeType": "image/png", "data": PIXEL})


@case("a picture of 5 MB")
def large_picture(bench: Bench) -> None:
    fake = bench.model(says("Large."))
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{five_megabytes()}"}
    respond(bench, fake, [{"role": "user", "content": [image]}], store=False)
    reached = fake.asked()[0]["contents"][0]["parts"][0]["inlineData"]["data"]
    expect("whether it is whole", reached == five_megabytes(), True)


class City(pydantic.BaseModel):
    name: str
    inhabitants: int


@case("an answer as the caller's own type")
def structured(bench: Bench) -> None:
    fake = bench.model(says('{"name": "Oslo", ', '"inhabitants": 717710}'))
    with connect(bench) as client:
        answer = client.responses.parse(model=fake.model, input="Oslo?", text_format=City)
        with client.responses.stream(model=fake.model, input="Oslo?", text_format=City) as stream:
            streamed = stream.get_final_response()
    for parsed in (answer.output_parsed, streamed.output_parsed):
        expect("what was parsed", parsed, City(name="Oslo", inhabitants=717710))
    config = fake.asked(2)[0]["generationConfig"]
    expect("the kind", config["responseMimeType"], "application/json")
    expect("the properties", set(config["responseJsonSchema"]["properties"]), {"name", "inhabitants"})


@case("thoughts are a summary, and their signature comes back")
def thinking(bench: Bench) -> None:
    signed = {"text": "Blue.", "thoughtSignature": SIGNED}
    fake = bench.model({"chunks": [chunk(thought("Rayleigh.")), chunk(signed, finish="STOP")]}, says("Sure."))
    items: list[Any] = [{"role": "user", "content": "Why is the sky blue?"}]
    options: Any = {"reasoning": {"effort": "high", "summary": "auto"}, "include": ["reasoning.encrypted_content"], "store": False}
    first = respond(bench, fake, items, **options)
    reasoning = [one for one in first.output if one.type == "reasoning"]
    expect("the summary", [part.text for one in reasoning for part in one.summary], ["Rayleigh."])
    expect("whether it is signed", any(one.encrypted_content for one in reasoning), True)
    respond(bench, fake, [*items, *first.output, {"role": "user", "content": "Sure?"}], **options)
    one, two = fake.asked(2)
    config = one["generationConfig"]["thinkingConfig"]
    expect("how it thinks", (config["thinkingLevel"].upper(), config["includeThoughts"]), ("HIGH", True))
    signatures = [part["thoughtSignature"] for part in two["contents"][1]["parts"] if "thoughtSignature" in part]
    expect("the signatures", signatures, [SIGNED])


@case("usage with cached and thinking tokens")
def usage(bench: Bench) -> None:
    fake = bench.model(says("Yes", ".", usage=USAGE))
    streamed = list(respond(bench, fake, "Hi", stream=True))[-1].response
    for told in (respond(bench, fake, "Hi").usage, streamed.usage):
        whole = (told.input_tokens, told.output_tokens, told.total_tokens)
        details = (told.input_tokens_details.cached_tokens, told.output_tokens_details.reasoning_tokens)
        expect("the tokens", (*whole, *details), (100, 12, 112, 40, 5))


@case("why an answer ended early")
def finish(bench: Bench) -> None:
    for reason, told in (("MAX_TOKENS", "max_output_tokens"), ("SAFETY", "content_filter")):
        fake = bench.model({"chunks": [chunk(text("Once upon"), finish=reason)]})
        made = respond(bench, fake, "Tell")
        expect(f"what became of {reason}", (made.status, made.incomplete_details.reason), ("incomplete", told))
        expect("the last event", list(respond(bench, fake, "Tell", stream=True))[-1].type, "response.incomplete")


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
            error = error_of(kind, lambda: respond(bench, fake, "Hi", stream=stream))
            expect(f"the status {status}", error.status_code, told)
            expect_in("the message", "so it was told", error.message)


@case("an internal error of the model is one of ours")
def internal_error(bench: Bench) -> None:
    fake = bench.model(fails(500, "INTERNAL"))
    expect("the status", error_of(openai.InternalServerError, lambda: respond(bench, fake, "Hi")).status_code, 500)


@case("a stream that breaks off ends in response.failed")
def broken_stream(bench: Bench) -> None:
    problem = {"code": 503, "status": "UNAVAILABLE", "message": "so it was told"}
    for then in (problem, "reset"):
        fake = bench.model({"chunks": [chunk(text("Half"))], "then": then})
        stream = list(respond(bench, fake, "Hi", stream=True))
        heard = "".join(one.delta for one in stream if one.type == "response.output_text.delta")
        expect("what was heard", (heard, stream[-1].type), ("Half", "response.failed"))
        expect("whether it says why", bool(stream[-1].response.error.message), True)


@case("who leaves a stream leaves the model too")
def canceled_stream(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    with connect(bench) as client, client.responses.create(model=fake.model, input="Hi", stream=True) as stream:
        heard = next(one for one in stream if one.type == "response.output_text.delta")
    expect("the first piece", heard.delta, "First")
    fake.was_left()


@case("a response in the background goes on by itself")
def background(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": 0.5})
    made = respond(bench, fake, "Hi", background=True)
    expect("whether it goes on", made.status in ("queued", "in_progress"), True)
    end = time.monotonic() + 10
    with connect(bench) as client:
        while made.status not in ENDED and time.monotonic() < end:
            time.sleep(0.1)
            made = client.responses.retrieve(made.id)
    expect("the end", (made.status, made.output_text), ("completed", "Well now."))


@case("a response in the background is canceled, and the model left")
def canceled(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    made = respond(bench, fake, "Hi", background=True)
    fake.asked()
    with connect(bench) as client:
        expect("the status", client.responses.cancel(made.id).status, "cancelled")
        expect("the status later", client.responses.retrieve(made.id).status, "cancelled")
    fake.was_left()


@case("a long silence is no end")
def silence(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    with connect(bench) as client, client.responses.stream(model=fake.model, input="Hi") as stream:
        expect("the answer", stream.get_final_response().output_text, "Well now.")


@case("characters that are split over the network")
def unicode_text(bench: Bench) -> None:
    words = ["Grüße, ", "世界 ", "👩‍👩‍👧‍👦!"]
    fake = bench.model(says(*words) | {"split": 1})
    stream = respond(bench, fake, "Hällo 🌍", stream=True)
    expect("the pieces", [one.delta for one in stream if one.type == "response.output_text.delta"], words)
    expect("what was asked", said(fake.asked()[0]["contents"][0]), "Hällo 🌍")


@case("input tokens are counted")
def counted(bench: Bench) -> None:
    fake = bench.model()
    with connect(bench) as client:
        made = client.responses.input_tokens.count(model=fake.model, input="one two three")
    expect("the tokens", made.input_tokens, 3)


@case("a conversion can be looked at")
def preview(bench: Bench) -> None:
    fake = bench.model(says("never"))
    wanted = {"model": fake.model, "input": "Hi", "user": "me"}
    with bench.plain("POST", "/v1/responses:preview", wanted) as answer:
        shown = json.load(answer)
    expect("the contents", shown["request"]["contents"], [{"role": "user", "parts": [{"text": "Hi"}]}])
    expect("the changes", [one["field"] for one in shown["changes"]], ["user"])
    fake.asked(0)


@case("what a conversion changes is told in a header")
def conversion(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    with connect(bench) as client:
        answer = client.responses.with_raw_response.create(model=fake.model, input="Hi", user="me")
    expect_in("the report", 'field="user"', answer.headers["x-agena-conversion"])


if __name__ == "__main__":
    sys.exit(run(case))
