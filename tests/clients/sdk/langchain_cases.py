"""LangChain's chat models of the three vendors, each pointed at Agena. They keep less of an answer than the SDKs do.

    python langchain_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pydantic
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from kit import (
    PIXEL,
    SECONDS,
    SIGNED,
    USAGE,
    Bench,
    Cases,
    Fake,
    chunk,
    expect,
    responses,
    roles,
    run,
    said,
    says,
    text,
    wants_weather,
)

case = Cases()
Connect = Callable[[Bench, Fake], BaseChatModel]


def chat_openai(bench: Bench, fake: Fake, **more: Any) -> ChatOpenAI:
    base = f"{bench.url}/v1"
    return ChatOpenAI(model=fake.model, base_url=base, api_key=bench.token, max_retries=0, timeout=SECONDS, **more)


def responses_openai(bench: Bench, fake: Fake) -> ChatOpenAI:
    return chat_openai(bench, fake, use_responses_api=True)


def chat_anthropic(bench: Bench, fake: Fake) -> ChatAnthropic:
    given: Any = {"model": fake.model, "base_url": bench.url, "api_key": bench.token}
    return ChatAnthropic(**given, max_retries=0, timeout=SECONDS, max_tokens=1000)


def chat_google(bench: Bench, fake: Fake) -> ChatGoogleGenerativeAI:
    given: Any = {"model": fake.model, "base_url": bench.url, "api_key": bench.token}
    return ChatGoogleGenerativeAI(**given, max_retries=1, timeout=SECONDS)


MODELS: dict[str, Connect] = {
    "ChatOpenAI": chat_openai,
    "ChatOpenAI with Responses": responses_openai,
    "ChatAnthropic": chat_anthropic,
    "ChatGoogleGenerativeAI": chat_google,
}


def each(name: str) -> Callable[[Callable[[Bench, Connect], None]], None]:
    """A case for each of the models."""

    def keep(check: Callable[[Bench, Connect], None]) -> None:
        for model, connect in MODELS.items():
            case(f"{model}: {name}")(lambda bench, connect=connect: check(bench, connect))

    return keep


@tool
def weather(city: str) -> str:
    """The weather."""
    return {"Paris": "21 degrees", "Rome": "28 degrees"}[city]


@each("a conversation with a system message")
def conversation(bench: Bench, connect: Connect) -> None:
    fake = bench.model(says("Hello Alice."), {"recall": r"My name is (\w+)"})
    model = connect(bench, fake)
    messages: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("My name is Alice.")]
    messages += [model.invoke(messages), HumanMessage("What is my name?")]
    expect("the answer", model.invoke(messages).text, "Your name is Alice.")
    second = fake.asked(2)[1]
    expect("who spoke", roles(second), ["user", "model", "user"])
    expect("the instruction", said(second["systemInstruction"]), "Be brief.")


def use_tools(bench: Bench, connect: Connect, ask: Callable[[Any, list[BaseMessage]], AIMessage]) -> None:
    fake = bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))
    model = connect(bench, fake).bind_tools([weather])
    messages: list[BaseMessage] = [HumanMessage("Where is it warmer?")]
    first = ask(model, messages)
    expect("the cities", [one["args"]["city"] for one in first.tool_calls], ["Paris", "Rome"])
    messages += [first, *(weather.invoke(one) for one in first.tool_calls)]
    expect("what tools say", [type(one) for one in messages[2:]], [ToolMessage, ToolMessage])
    expect("the answer", ask(model, messages).text, "Rome is warmer.")
    asked, answered = fake.asked(2)[1]["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    told = [next(iter(response.values())) for _, _, response in responses(answered)]
    expect("the answers", told, ["21 degrees", "28 degrees"])


@each("parallel calls of tools")
def tools(bench: Bench, connect: Connect) -> None:
    use_tools(bench, connect, lambda model, messages: model.invoke(messages))


@each("parallel calls of tools in a stream")
def streamed_tools(bench: Bench, connect: Connect) -> None:
    def gather(model: Any, messages: list[BaseMessage]) -> Any:
        first, *rest = model.stream(messages)
        return sum(rest, first)

    use_tools(bench, connect, gather)


@each("a picture")
def picture(bench: Bench, connect: Connect) -> None:
    fake = bench.model(says("A dot."))
    image = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}
    connect(bench, fake).invoke([HumanMessage([{"type": "text", "text": "What is it?"}, image])])
    [reached] = [part["inlineData"] for part in fake.asked()[0]["contents"][0]["parts"] if "inlineData" in part]
    expect("the picture", (reached["mimeType"], reached["data"].translate(str.maketrans("-_", "+/"))), ("image/png", PIXEL))


class City(pydantic.BaseModel):
    """A city."""

    name: str
    inhabitants: int


@each("an answer as the caller's own type")
def structured(bench: Bench, connect: Connect) -> None:
    fake = bench.model({"chunks": [chunk(text('{"name": "Oslo", "inhabitants": 717710}'), finish="STOP")]})
    model = connect(bench, fake).with_structured_output(City, method="json_schema")
    expect("what was parsed", model.invoke("Oslo?"), City(name="Oslo", inhabitants=717710))
    expect("the kind", fake.asked()[0]["generationConfig"]["responseMimeType"], "application/json")


@each("usage, streamed or not")
def usage(bench: Bench, connect: Connect) -> None:
    fake = bench.model(says("Yes", ".", usage=USAGE))
    model = connect(bench, fake)
    first, *rest = model.stream("Hi", **({"stream_usage": True} if connect is chat_openai else {}))
    for message in (model.invoke("Hi"), sum(rest, first)):
        told: Any = message.usage_metadata
        expect("the tokens", (told["input_tokens"], told["output_tokens"], told["total_tokens"]), (100, 12, 112))
        expect("those of the cache", told["input_token_details"]["cache_read"], 40)


@case("OpenAIEmbeddings")
def embeddings(bench: Bench) -> None:
    fake = bench.model(name="gemini-embedding-001")
    base = f"{bench.url}/v1"
    given: Any = {"model": fake.model, "base_url": base, "api_key": bench.token, "check_embedding_ctx_length": False}
    made = OpenAIEmbeddings(**given, max_retries=0).embed_documents(["four", "longer"])
    expect("the vectors", [one[:2] for one in made], [[4.0, 0.5], [6.0, 0.5]])


if __name__ == "__main__":
    sys.exit(run(case))
