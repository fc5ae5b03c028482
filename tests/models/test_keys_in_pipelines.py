"""What a pipeline says of the user's keys, in answers, errors and prints, is stored and shown without them."""

from __future__ import annotations

import logging
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from stand_in_endpoint import StandIn

from shaketable.errors import PartError, SecretError
from shaketable.models.calling.function import Called, FunctionCaller
from shaketable.models.openai import Openai
from shaketable.models.pipeline import Pipeline
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

KEY = "sk-Planted-0123456789/abcdefghij"
CODE = """
import os, sys

key = os.environ["SOME_API_KEY"]


def answer(question):
    if question == "list":
        return ["x" * 60, key]
    if question == "error":
        raise RuntimeError("x" * 480 + "Incorrect API key provided: " + key)
    if question == "exit":
        print("sending", key, flush=True)
        os._exit(3)
    return {"text": "the key is " + key, "contexts": [{"text": key.upper(), "title": key, "id": key}]}


"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.server.shutdown()
    server.server.server_close()


def prompt(text: str) -> Prompt:
    sampling = Sampling(temperature=0.0, max_tokens=5)
    return Prompt(messages=(Message(role="user", content=text),), sampling=sampling, seed=1)


def is_told(*values: object) -> bool:
    """Whether the key, or a good part of it, stands in them."""
    shown = " ".join(map(repr, values)).lower()
    return any(part.lower() in shown for part in (KEY[:12], KEY[-12:], urllib.parse.quote(KEY, safe="")[:12]))


def test_a_function_of_a_file_tells_no_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "own.py").write_text(CODE)
    pipeline = Pipeline(python=f"{tmp_path / 'own.py'}:answer")
    with caplog.at_level(logging.INFO, "shaketable"):
        answered, *failed = pipeline.generate([prompt(text) for text in ("text", "error", "exit", "list")])
        pipeline.close()
    assert isinstance(answered, Completion) and answered.text == "the key is ***"
    assert all(isinstance(reply, Failure) and reply.message for reply in failed)
    assert "sending ***" in failed[1].message  # type: ignore[union-attr]
    assert not is_told(answered, failed, caplog.text)


def test_code_that_fails_when_it_is_imported_tells_no_key(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(CODE + "raise ValueError('no such key: ' + key)\n")
    with pytest.raises(PartError, match=r"no such key: \*\*\*") as refused:
        _ = Pipeline(python=f"{tmp_path / 'own.py'}:answer").takes
    assert not is_told(refused.value)


def raises(question: str) -> object:
    raise RuntimeError(f"{'x' * 470} Incorrect API key provided: {KEY}")


@pytest.mark.parametrize("function", [raises, lambda question: KEY, lambda question: ["x" * 60, KEY]])
def test_a_function_of_this_process_tells_no_key(function: Callable[[str], object]) -> None:
    def call(asked: Prompt, given: Mapping[str, object]) -> object:
        return function(asked.messages[-1].content)

    caller = FunctionCaller(Called(takes=frozenset(), refuse=lambda asked: None, call=call), 10.0)
    reply = caller.call(prompt("text"), lambda found: prompt("text"))
    caller.close()
    assert "*" in repr(reply) or isinstance(reply, Failure)
    assert not is_told(reply)


@pytest.mark.parametrize("address", [f"http://h/{KEY}/ask", f"http://h/ask?q={urllib.parse.quote(KEY, safe='')}"])
def test_an_address_with_a_key_of_the_user_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(SecretError) as refused:
        Pipeline(http=address)
    assert not is_told(refused.value)
    with pytest.raises(SecretError) as refused:
        Openai(model="m", base_url=address)
    assert not is_told(refused.value)


@pytest.mark.parametrize("status", [200, 400])
def test_a_web_address_tells_no_key(stand_in: StandIn, status: int) -> None:
    stand_in.reply = lambda body, n: (status, {}, {"answer": f"{'x' * (status == 400) * 470} {KEY} {KEY.upper()}"})
    pipeline = Pipeline(http=stand_in.url, attempts=1)
    [reply] = pipeline.generate([prompt("text")])
    pipeline.close()
    assert isinstance(reply, Completion) == (status == 200)
    assert not is_told(reply)
