"""The facades as services of gRPC, by clients that grpcio made of proto/: a chat with tools, streamed, through each.

    python -m grpc_tools.protoc -I proto --python_out GEN --grpc_python_out GEN proto/agena/{facade,gemini,openai,anthropic}/v1/*.proto
    PYTHONPATH=GEN python grpc_cases.py URL TOKEN FAKE

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import grpc
from agena.anthropic.v1 import block_pb2, message_pb2, service_pb2_grpc as anthropic_grpc
from agena.gemini.v1 import content_pb2, generate_pb2, models_pb2, service_pb2_grpc as gemini_grpc
from agena.openai.v1 import chat_pb2, responses_pb2, responses_pb2_grpc, service_pb2
from agena.openai.v1 import message_pb2 as openai_pb2, service_pb2_grpc as openai_grpc

from kit import (
    SECONDS,
    SIGNED,
    WEATHER,
    Bench,
    Cases,
    Fake,
    chunk,
    expect,
    expect_in,
    fails,
    responses,
    run,
    says,
    text,
    wants_weather,
)

case = Cases()
SCHEMA = json.dumps(WEATHER)
QUESTION = "Where is it warmer?"
FOUND = {"Paris": '{"degrees": 21}', "Rome": '{"degrees": 28}'}


class Line:
    """A channel with a deadline and the key on every call."""

    def __init__(self, bench: Bench, key: str = "") -> None:
        authority = bench.url.removeprefix("http://")
        self._channel = grpc.insecure_channel(authority, [("grpc.max_receive_message_length", 16 << 20)])
        self._metadata = [("authorization", f"Bearer {key or bench.token}")]

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def of(self, stub: Callable[[grpc.Channel], Any]) -> Callable[..., Any]:
        """`line.of(Stub)("Method", request)`."""
        made = stub(self._channel)
        return lambda method, request: getattr(made, method)(request, timeout=SECONDS, metadata=self._metadata)


def asked_for_weather(bench: Bench) -> Fake:
    return bench.model({"chunks": wants_weather()}, says("Rome is", " warmer."))


def check_tools(fake: Fake) -> None:
    first, second = fake.asked(2)
    [declared] = first["tools"][0]["functionDeclarations"]
    expect("the declaration", (declared["name"], declared["parametersJsonSchema"]), ("weather", WEATHER))
    asked, answered = second["contents"][1:]
    calls = [part for part in asked["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    told = [(name, response) for _, name, response in responses(answered)]
    expect("the answers", told, [("weather", {"degrees": 21}), ("weather", {"degrees": 28})])


@case("agena.openai.v1.ChatService: parallel calls of tools in a stream")
def chat(bench: Bench) -> None:
    fake = asked_for_weather(bench)
    user = openai_pb2.Message(role="user", content=openai_pb2.Content(text=QUESTION))
    tool = openai_pb2.Tool(function=openai_pb2.FunctionDefinition(name="weather", parameters=SCHEMA))
    request = chat_pb2.ChatCompletionRequest(model=fake.model, messages=[user], tools=[tool])
    with Line(bench) as line:
        call = line.of(openai_grpc.ChatServiceStub)
        choices = [choice for one in call("StreamChatCompletion", request) for choice in one.choices]
        deltas = [delta for choice in choices for delta in choice.delta.tool_calls]
        expect("the end", choices[-1].finish_reason, "tool_calls")
        expect("the places", sorted({delta.index for delta in deltas}), [0, 1])
        made = []
        for place in (0, 1):
            of_call = [delta for delta in deltas if delta.index == place]
            arguments = "".join(delta.function.arguments for delta in of_call)
            function = openai_pb2.FunctionCall(name="weather", arguments=arguments)
            made.append(openai_pb2.ToolCall(id=of_call[0].id, function=function))
        request.messages.append(openai_pb2.Message(role="assistant", tool_calls=made))
        for one in made:
            content = openai_pb2.Content(text=FOUND[json.loads(one.function.arguments)["city"]])
            request.messages.append(openai_pb2.Message(role="tool", tool_call_id=one.id, content=content))
        answer = call("CreateChatCompletion", request)
    expect("the answer", answer.choices[0].message.content.text, "Rome is warmer.")
    check_tools(fake)


@case("agena.openai.v1.ResponsesService: parallel calls of tools in a stream")
def responding(bench: Bench) -> None:
    fake = asked_for_weather(bench)
    tool = responses_pb2.ResponseTool(function=responses_pb2.ResponseFunctionTool(name="weather", parameters=SCHEMA))
    request = responses_pb2.CreateResponseRequest(model=fake.model, tools=[tool])
    request.input.text = QUESTION
    with Line(bench) as line:
        call = line.of(responses_pb2_grpc.ResponsesServiceStub)
        events = list(call("StreamResponse", request))
        expect("the numbers", [event.sequence_number for event in events], list(range(len(events))))
        expect("the end", events[-1].WhichOneof("event"), "completed")
        first = events[-1].completed.response
        calls = [item.function_call for item in first.output if item.WhichOneof("item") == "function_call"]
        request.previous_response_id = first.id
        request.input.items.SetInParent()
        for one in calls:
            output = responses_pb2.ItemContent(text=FOUND[json.loads(one.arguments)["city"]])
            item = responses_pb2.CallOutputItem(call_id=one.call_id, output=output)
            request.input.items.items.append(responses_pb2.Item(function_call_output=item))
        answer = call("CreateResponse", request)
    said = [part.output_text.text for item in answer.output for part in item.message.content.parts.parts]
    expect("the answer", said, ["Rome is warmer."])
    check_tools(fake)


@case("agena.anthropic.v1.MessagesService: parallel calls of tools in a stream")
def messages(bench: Bench) -> None:
    fake = asked_for_weather(bench)
    user = message_pb2.InputMessage(role="user", content=block_pb2.Content(text=QUESTION))
    tool = message_pb2.Tool(name="weather", input_schema=SCHEMA)
    request = message_pb2.CreateMessageRequest(model=fake.model, max_tokens=1000, messages=[user], tools=[tool])
    with Line(bench) as line:
        call = line.of(anthropic_grpc.MessagesServiceStub)
        blocks: list[Any] = []
        for event in call("StreamMessage", request):
            last = event.WhichOneof("event")
            if last == "content_block_start":
                blocks.append(event.content_block_start.content_block)
            elif last == "content_block_delta":
                delta, block = event.content_block_delta.delta, blocks[-1]
                if delta.HasField("input_json_delta"):
                    # It begins with an empty object.
                    before = block.tool_use.input.removeprefix("{}")
                    block.tool_use.input = before + delta.input_json_delta.partial_json
                elif delta.HasField("text_delta"):
                    block.text.text += delta.text_delta.text
            elif last == "message_delta":
                expect("why it ends", event.message_delta.delta.stop_reason, "tool_use")
        expect("the end", last, "message_stop")
        assistant = message_pb2.InputMessage(role="assistant", content=block_pb2.Content(blocks=block_pb2.Blocks(blocks=blocks)))
        results = block_pb2.Blocks()
        for use in (block.tool_use for block in blocks if block.HasField("tool_use")):
            content = block_pb2.ResultContent(text=FOUND[json.loads(use.input)["city"]])
            result = block_pb2.ToolResultBlock(tool_use_id=use.id, content=content)
            results.blocks.append(block_pb2.Block(tool_result=result))
        answered = message_pb2.InputMessage(role="user", content=block_pb2.Content(blocks=results))
        request.messages.extend([assistant, answered])
        answer = call("CreateMessage", request)
    expect("the answer", [block.text.text for block in answer.content], ["Rome is warmer."])
    second = fake.asked(2)[1]["contents"]
    calls = [part for part in second[1]["parts"] if "functionCall" in part]
    expect("the signatures", [part.get("thoughtSignature") for part in calls], [SIGNED, None])
    told = [name for _, name, _ in responses(second[2])]
    expect("the answers", told, ["weather", "weather"])


@case("agena.gemini.v1.GenerativeService: parallel calls of tools in a stream")
def generative(bench: Bench) -> None:
    fake = asked_for_weather(bench)
    declared = generate_pb2.FunctionDeclaration(name="weather", parameters_json_schema=SCHEMA)
    user = content_pb2.Content(role="user", parts=[content_pb2.Part(text=QUESTION)])
    tools = [generate_pb2.Tool(function_declarations=[declared])]
    request = generate_pb2.GenerateContentRequest(model=fake.model, contents=[user], tools=tools)
    with Line(bench) as line:
        call = line.of(gemini_grpc.GenerativeServiceStub)
        candidates = [one.candidates[0] for one in call("StreamGenerateContent", request)]
        expect("the end", candidates[-1].finish_reason, "STOP")
        parts = [part for candidate in candidates for part in candidate.content.parts if part.text or part.function_call.name]
        request.contents.append(content_pb2.Content(role="model", parts=parts))
        answers = [
            content_pb2.FunctionResponse(id=one.id, name=one.name, response=FOUND[json.loads(one.args)["city"]])
            for one in (part.function_call for part in parts if part.HasField("function_call"))
        ]
        answered = [content_pb2.Part(function_response=one) for one in answers]
        request.contents.append(content_pb2.Content(role="user", parts=answered))
        answer = call("GenerateContent", request)
    expect("the answer", answer.candidates[0].content.parts[0].text, "Rome is warmer.")
    check_tools(fake)


def simple(fake: Fake) -> chat_pb2.ChatCompletionRequest:
    user = openai_pb2.Message(role="user", content=openai_pb2.Content(text="Hi"))
    return chat_pb2.ChatCompletionRequest(model=fake.model, messages=[user], user="me")


@case("errors of the model are codes of gRPC, streamed or not")
def errors(bench: Bench) -> None:
    wanted = (
        (400, "INVALID_ARGUMENT", grpc.StatusCode.INVALID_ARGUMENT),
        (403, "PERMISSION_DENIED", grpc.StatusCode.PERMISSION_DENIED),
        (404, "NOT_FOUND", grpc.StatusCode.NOT_FOUND),
        (429, "RESOURCE_EXHAUSTED", grpc.StatusCode.RESOURCE_EXHAUSTED),
        (503, "UNAVAILABLE", grpc.StatusCode.UNAVAILABLE),
    )
    with Line(bench) as line:
        call = line.of(openai_grpc.ChatServiceStub)
        for status, name, code in wanted:
            fake = bench.model(fails(status, name))
            asks = (
                lambda: call("CreateChatCompletion", simple(fake)),
                lambda: list(call("StreamChatCompletion", simple(fake))),
            )
            for ask in asks:
                try:
                    expect("the answer", ask(), "an error")
                except grpc.RpcError as error:
                    expect(f"the code of {status}", error.code(), code)
                    expect_in("the message", "so it was told", error.details())


@case("a wrong key is UNAUTHENTICATED")
def wrong_key(bench: Bench) -> None:
    fake = bench.model(says("never"))
    with Line(bench, key="wrong") as line:
        try:
            expect("the answer", line.of(openai_grpc.ChatServiceStub)("CreateChatCompletion", simple(fake)), "an error")
        except grpc.RpcError as error:
            expect("the code", error.code(), grpc.StatusCode.UNAUTHENTICATED)
    fake.asked(0)


@case("who cancels a stream leaves the model too")
def canceled(bench: Bench) -> None:
    fake = bench.model({"chunks": [chunk(text("First"))], "then": "hang"})
    with Line(bench) as line:
        stream = line.of(openai_grpc.ChatServiceStub)("StreamChatCompletion", simple(fake))
        heard = next(one for one in stream if one.choices[0].delta.content.text)
        expect("the first piece", heard.choices[0].delta.content.text, "First")
        stream.cancel()
        fake.was_left()


@case("what a conversion changes is told in metadata, and can be looked at")
def conversion(bench: Bench) -> None:
    fake = bench.model(says("Yes."))
    with Line(bench) as line:
        call = line.of(openai_grpc.ChatServiceStub)
        stream = call("StreamChatCompletion", simple(fake))
        told = dict(stream.initial_metadata())
        list(stream)
        expect_in("the report", 'field="user"', told["x-agena-conversion"])
        shown = call("PreviewChatCompletion", simple(fake))
    expect("the changes", [(one.field, one.how) for one in shown.changes], [("user", "ignored")])
    expect("the contents", shown.request.contents[0].parts[0].text, "Hi")
    fake.asked(1)


@case("tokens, embeddings and models")
def besides(bench: Bench) -> None:
    fake, embedding = bench.model(), bench.model(name="gemini-embedding-001")
    counted = message_pb2.CountTokensRequest(model=fake.model)
    counted.messages.add(role="user", content=block_pb2.Content(text="one two three"))
    with Line(bench) as line:
        tokens = line.of(anthropic_grpc.MessagesServiceStub)("CountTokens", counted)
        expect("the tokens", tokens.input_tokens, 3)
        listed = line.of(openai_grpc.ModelsServiceStub)("ListModels", service_pb2.ListModelsRequest())
        expect("whether it is there", "gemini-4-argon" in [one.id for one in listed.data], True)
        one = models_pb2.EmbedContentRequest(model=embedding.model)
        one.content.parts.add(text="four")
        made = line.of(gemini_grpc.GenerativeServiceStub)("EmbedContent", one)
        expect("the vector", list(made.embedding.values)[:2], [4.0, 0.5])


if __name__ == "__main__":
    sys.exit(run(case))
