"""Google's own SDK for Gemini, pointed at Agena instead of Google.

    python genai_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import sys
from base64 import b64decode

import pydantic
from google import genai
from google.genai import errors, types

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


def connect(bench: Bench, key: str = "", attempts: int = 1, **headers: str) -> genai.Client:
    retry = types.HttpRetryOptions(attempts=attempts, initial_delay=0.1, max_delay=0.2)
    options = types.HttpOptions(
        base_url=bench.url, timeout=int(SECONDS * 1000), retry_options=retry, headers=headers
    )
    return genai.Client(api_key=key or bench.token, http_options=options)


def generate(bench: Bench, fake: Fake, contents: object, **config: object) -> types.GenerateContentResponse:
    with connect(bench) as client:
        return client.models.generate_content(model=fake.model, contents=contents, config=config or None)


def tool() -> types.Tool:
    declared = types.FunctionDeclaration(name="weather", description="The weather", parameters_json_schema=WEATHER)
    return types.Tool(function_declarations=[declared])


@case("a chat remembers what was said")
def chat(bench: Bench) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    with connect(bench) as client:
        talk = client.chats.create(model=fake.model)
        talk.send_message("My name is Alice.")
        expect("the answer", talk.send_message("What is my name?").text, "Your name is Alice.")
    expect("who spoke", roles(fake.asked(2)[1]), ["user", "model", "user"])


@case("a streamed chat remembers what was said")
def streamed_chat(bench: Bench) -> None:
    fake = bench.model(says("Hello", " Alice."), {"recall": r"My name is (\w+)"})
    with connect(bench) as client:
        talk = client.chats.create(model=fake.model)
        pieces = [piece.text for piece in talk.send_message_stream("My name is Alice.")]
        expect("the pieces", pieces, ["Hello", " Alice."])
        again = "".join(piece.text or "" for piece in talk.send_message_stream("What is my name?"))
    expect("the answer", again, "Your name is Alice.")
    had_said = fake.asked(2)[1]["contents"][1:-1]
    expect("what the model had said", "".join(map(said, had_said)), "Hello Alice.")


@case("a system instruction and the settings reach the model")
def settings(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    generate(
        bench, fake, "Hi", system_instruction="Be brief.", temperature=0.5, max_output_tokens=99, stop_sequences=["END"]
    )
    [asked] = fake.asked()
    expect("the system instruction", said(asked["systemInstruction"]), "Be brief.")
    config = asked["generationConfig"]
    expect("the settings", (config["temperature"], config["maxOutputTokens"], config["stopSequences"]), (0.5, 99, ["END"]))


def answered_tools(calls: list[types.FunctionCall]) -> types.Content:
    found = {"Paris": 21, "Rome": 28}
    parts = [
        types.Part(
            function_response=types.FunctionResponse(
                id=one.id, name=one.name, response={"degrees": found[(one.args or {})["city"]]}
            )
        )
        for one in calls
    ]
    return types.Content(role="user", parts=parts)


def check_tools(fake: Fake) -> None:
    first, second = fake.asked(2)
    [declared] = first["tools"][0]["functionDeclarations"]
    expect("the declaration", (declared["name"], declared["parametersJsonSchema"]), ("weather", WEATHER))
    asked, answered = second["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    expect("the text beside them", said(asked), "Let me look. ")
    wanted = [("c1", "weather", {"degrees": 21}), ("c2", "weather", {"degrees": 28})]
    expect("the answers", responses(answered), wanted)


@case("parallel calls of tools, and the text beside them")
def tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is warmer."))
    with connect(bench) as client:
        history = [types.Content(role="user", parts=[types.Part(text="Where is it warmer?")])]
        config = types.GenerateContentConfig(tools=[tool()])
        first = client.models.generate_content(model=fake.model, contents=history, config=config)
        expect("the cities", [(one.args or {})["city"] for one in first.function_calls or []], ["Paris", "Rome"])
        content = first.candidates[0].content
        history += [content, answered_tools(first.function_calls or [])]
        second = client.models.generate_content(model=fake.model, contents=history, config=config)
    expect("the answer", second.text, "Rome is warmer.")
    check_tools(fake)


@case("parallel calls of tools in a stream")
def streamed_tools(bench: Bench) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))
    with connect(bench) as client:
        history = [types.Content(role="user", parts=[types.Part(text="Where is it warmer?")])]
        config = types.GenerateContentConfig(tools=[tool()])
        chunks = list(client.models.generate_content_stream(model=fake.model, contents=history, config=config))
        parts = [part for one in chunks for part in one.candidates[0].content.parts or [] if part.text != ""]
        calls = [part.function_call for part in parts if part.function_call]
        expect("the end", chunks[-1].candidates[0].finish_reason, types.FinishReason.STOP)
        history += [types.Content(role="model", parts=parts), answered_tools(calls)]
        second = client.models.generate_content_stream(model=fake.model, contents=history, config=config)
        expect("the answer", "".join(one.text or "" for one in second), "Rome is warmer.")
    check_tools(fake)


@case("a function of Python's is called by the SDK itself")
def automatic(bench: Bench) -> None:
    def weather(city: str) -> str:
        """The weather."""
        return f"sunny in {city}"

    calls = [chunk({"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": SIGNED}, finish="STOP")]
    fake = bench.model({"chunks": calls}, says("Sunny."))
    expect("the answer", generate(bench, fake, "How is Oslo?", tools=[weather]).text, "Sunny.")
    _, second = fake.asked(2)
    expect("what it said", responses(second["contents"][-1])[0][2], {"result": "sunny in Oslo"})


@case("a picture")
def picture(bench: Bench) -> None:
    fake = bench.model(says("A dot."))
    image = types.Part.from_bytes(data=b64decode(PIXEL), mime_type="image/png")
    expect("the answer", generate(bench, fake, ["What is it?", image]).text, "A dot.")
    reached = fake.asked()[0]["contents"][0]["parts"][1]["inlineData"]
    expect("the kind", reached["mimeType"], "image/png")
    expect("the bytes", b64decode(reached["data"].translate(str.maketrans("-_", "+/"))), b64decode(PIXEL))


@case("a picture of 5 MB")
def large_picture(bench: Bench) -> None:
    fake = bench.model(says("Large."))
    data = b64decode(five_megabytes())
    generate(bench, fake, [types.Part.from_bytes(data=data, mime_type="image/png"), "What is it?"])
    reached = fake.asked()[0]["contents"][0]["parts"][0]["inlineData"]["data"]
    expect("whether it is whole", b64decode(reached.translate(str.maketrans("-_", "+/"))) == data, True)


class City(pydantic.BaseModel):
    name: str
    inhabitants: int


@case("an answer as the caller's own type")
def structured(bench: Bench) -> None:
    fake = bench.model(says('{"name": "Oslo", ', '"inhabitants": 717710}'))
    answer = generate(bench, fake, "Oslo?", response_mime_type="application/json", response_schema=City)
    expect("what was parsed", answer.parsed, City(name="Oslo", inhabitants=717710))
    config = fake.asked()[0]["generationConfig"]
    expect("the kind", config["responseMimeType"], "application/json")
    schema = config.get("responseSchema") or config["responseJsonSchema"]
    expect("the properties", set(schema["properties"]), {"name", "inhabitants"})


@case("thoughts are shown, and their signature comes back")
def thinking(bench: Bench) -> None:
    signed = {"text": "Blue.", "thoughtSignature": SIGNED}
    fake = bench.model({"chunks": [chunk(thought("Rayleigh.")), chunk(signed, finish="STOP")]}, says("Sure."))
    wanted = types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.HIGH)
    with connect(bench) as client:
        talk = client.chats.create(model=fake.model, config=types.GenerateContentConfig(thinking_config=wanted))
        parts = talk.send_message("Why is the sky blue?").candidates[0].content.parts
        expect("the parts", [(part.text, bool(part.thought)) for part in parts], [("Rayleigh.", True), ("Blue.", False)])
        talk.send_message("Sure?")
    first, second = fake.asked(2)
    expect("how it thinks", first["generationConfig"]["thinkingConfig"], {"includeThoughts": True, "thinkingLevel": "HIGH"})
    again = [part for part in second["contents"][1]["parts"] if part.get("thoughtSignature")]
    expect("the signature", [part["thoughtSignature"] for part in again], [SIGNED])


@case("usage with cached and thinking tokens")
def usage(bench: Bench) -> None:
    fake = bench.model(says("Yes.", usage=USAGE))
    told = generate(bench, fake, "Hi").usage_metadata
    counts = (told.prompt_token_count, told.cached_content_token_count, told.candidates_token_count)
    expect("the tokens", counts, (100, 40, 7))
    expect("the thoughts and all", (told.thoughts_token_count, told.total_token_count), (5, 112))


@case("why an answer ended early")
def finish(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("Once upon"), finish="MAX_TOKENS")]})
    answer = generate(bench, fake, "Tell")
    expect("the reason", answer.candidates[0].finish_reason, types.FinishReason.MAX_TOKENS)


ERRORS = (
    (400, "INVALID_ARGUMENT", errors.ClientError),
    (403, "PERMISSION_DENIED", errors.ClientError),
    (404, "NOT_FOUND", errors.ClientError),
    (429, "RESOURCE_EXHAUSTED", errors.ClientError),
    (500, "INTERNAL", errors.ServerError),
    (503, "UNAVAILABLE", errors.ServerError),
)


@case("each error of the model is one of the SDK, streamed or not")
def upstream_errors(bench: Bench) -> None:
    for status, name, kind in ERRORS:
        fake = bench.model(fails(status, name))
        unary = error_of(kind, lambda: generate(bench, fake, "Hi"))
        with connect(bench) as client:
            stream = lambda: list(client.models.generate_content_stream(model=fake.model, contents="Hi"))  # noqa: E731
            streamed = error_of(kind, stream)
        for error in (unary, streamed):
            expect(f"the error {status}", (error.code, error.status), (status, name))
            expect_in("the message", "so it was told", error.message)


@case("a wrong key is 401")
def wrong_key(bench: Bench) -> None:
    fake = bench.model(says("never"))
    with connect(bench, key="wrong") as client:
        ask = lambda: client.models.generate_content(model=fake.model, contents="Hi")  # noqa: E731
        expect("the code", error_of(errors.ClientError, ask).code, 401)
    fake.asked(0)


@case("a model that asks for patience is asked again by the SDK")
def retried(bench: Bench) -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"}
    fake = bench.model(fails(429, "RESOURCE_EXHAUSTED", details=[wait]), says("Now."))
    with connect(bench, attempts=3) as client:
        expect("the answer", client.models.generate_content(model=fake.model, contents="Hi").text, "Now.")
    fake.asked(2)


@case("an error within a stream is raised")
def broken_stream(bench: Bench) -> None:
    problem = {"code": 503, "status": "UNAVAILABLE", "message": "so it was told"}
    fake = bench.model({"chunks": [chunk(text("Half"))], "then": problem})
    with connect(bench) as client:
        stream = iter(client.models.generate_content_stream(model=fake.model, contents="Hi"))
        expect("the first piece", next(stream).text, "Half")
        error = error_of(errors.ServerError, lambda: next(stream))
    expect("the error", (error.code, error.status), (503, "UNAVAILABLE"))


@case("who leaves a stream leaves the model too")
def canceled(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    with connect(bench) as client:
        stream = client.models.generate_content_stream(model=fake.model, contents="Hi")
        expect("the first piece", next(stream).text, "First")
        stream.close()
    fake.was_left()


@case("a long silence is no end")
def silence(bench: Bench) -> None:
    fake = bench.model(says("Well", " now.") | {"pause": SILENCE})
    with connect(bench) as client:
        stream = client.models.generate_content_stream(model=fake.model, contents="Hi")
        expect("the answer", "".join(one.text or "" for one in stream), "Well now.")


@case("characters that are split over the network")
def unicode_text(bench: Bench) -> None:
    words = ("Grüße, ", "世界 ", "👩‍👩‍👧‍👦!")
    fake = bench.model(says(*words) | {"split": 1})
    with connect(bench) as client:
        stream = client.models.generate_content_stream(model=fake.model, contents="Hällo 🌍")
        expect("the pieces", tuple(one.text for one in stream), words)
    expect("what was asked", said(fake.asked()[0]["contents"][0]), "Hällo 🌍")


@case("embeddings")
def embeddings(bench: Bench) -> None:
    fake = bench.model(name="gemini-embedding-001")
    with connect(bench) as client:
        config = types.EmbedContentConfig(output_dimensionality=2)
        made = client.models.embed_content(model=fake.model, contents=["four", "longer"], config=config)
    expect("the vectors", [one.values for one in made.embeddings or []], [[4.0, 0.5], [6.0, 0.5]])


@case("tokens are counted")
def counted(bench: Bench) -> None:
    fake = bench.model()
    with connect(bench) as client:
        expect("the tokens", client.models.count_tokens(model=fake.model, contents="one two three").total_tokens, 3)


@case("the models are listed, and each is told")
def models(bench: Bench) -> None:
    with connect(bench) as client:
        listed = {model.name: model for model in client.models.list()}
        expect("whether it is there", "models/gemini-4-argon" in listed, True)
        one = client.models.get(model="gemini-4-argon")
        expect("it", (one.name, one.input_token_limit, one.output_token_limit), ("models/gemini-4-argon", 1_048_576, 65_536))
        expect("one that is not there", error_of(errors.ClientError, lambda: client.models.get(model="nobody")).code, 404)


if __name__ == "__main__":
    sys.exit(run(case))
