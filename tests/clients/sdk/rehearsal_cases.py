"""Each vendor's SDK against a server that has no model at all, only its rehearsal: what a person sees at first.

    python rehearsal_cases.py URL TOKEN -

Prints a line per case and exits 1 if one fails.
"""

from __future__ import annotations

import sys

import anthropic_cases
import genai_cases
import openai_cases
from kit import Bench, Cases, expect, run

case = Cases()
# As somebody would name it who only changed the address.
HELLO = "Hello"


def check(said: str | None, streamed: str) -> None:
    expect("whether it says something", bool(said), True)
    expect("the same in a stream", streamed, said)


@case("openai: chat completions")
def chat(bench: Bench) -> None:
    create = openai_cases.connect(bench).chat.completions.create
    messages = [openai_cases.user(HELLO)]
    whole = create(model="gpt-5", messages=messages)
    stream = create(model="gpt-5", messages=messages, stream=True)
    check(whole.choices[0].message.content, "".join(one.choices[0].delta.content or "" for one in stream))


@case("openai: responses")
def responses(bench: Bench) -> None:
    with openai_cases.connect(bench) as client:
        whole = client.responses.create(model="gpt-5", input=HELLO)
        with client.responses.stream(model="gpt-5", input=HELLO) as stream:
            check(whole.output_text, stream.get_final_response().output_text)


@case("anthropic: messages")
def messages(bench: Bench) -> None:
    with anthropic_cases.connect(bench) as client:
        asked = {"model": "claude-opus-5", "max_tokens": 1000, "messages": [anthropic_cases.user(HELLO)]}
        whole = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            check(anthropic_cases.words(whole), stream.get_final_text())


@case("google-genai: contents")
def contents(bench: Bench) -> None:
    with genai_cases.connect(bench) as client:
        asked = {"model": "gemini-4-argon", "contents": HELLO}
        whole = client.models.generate_content(**asked)
        stream = client.models.generate_content_stream(**asked)
        check(whole.text, "".join(one.text or "" for one in stream))


@case("tokens are estimated where nobody counts")
def counted(bench: Bench) -> None:
    with anthropic_cases.connect(bench) as client:
        made = client.messages.count_tokens(model="claude-opus-5", messages=[anthropic_cases.user("one two three four")])
    expect("whether there are some", 0 < made.input_tokens < 20, True)


if __name__ == "__main__":
    sys.exit(run(case))
