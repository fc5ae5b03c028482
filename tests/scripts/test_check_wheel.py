from __future__ import annotations

import http.server
import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from shaketable.errors import EXTRAS
from shaketable.models.openai import Openai
from shaketable.types import Completion, Message, Prompt, Sampling

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_wheel", ROOT / "scripts" / "check_wheel.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def model(script: ModuleType) -> Iterator[Openai]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), script.Capitals)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield Openai(model="local", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    server.shutdown()


def test_what_must_not_be_in_the_core_is_all_that_local_and_dense_bring(script: ModuleType) -> None:
    assert set(script.HEAVY) == EXTRAS["local"].packages.keys() | EXTRAS["dense"].packages.keys()


def test_pytorch_comes_by_the_spelling_of_the_makefile(script: ModuleType) -> None:
    assert f"--constraint constraints.txt {script.pinned_torch()}\n" in (ROOT / "Makefile").read_text("utf-8")


def test_the_endpoint_knows_capitals_and_forgets_some_when_it_is_hot(model: Openai) -> None:
    def replies(temperature: float) -> list[str]:
        prompts = [
            Prompt(
                messages=(Message(role="user", content="What is the capital of Peru?"),),
                sampling=Sampling(temperature=temperature, max_tokens=8),
                seed=seed,
            )
            for seed in range(9)
        ]
        done = [reply for reply in model.generate(prompts) if isinstance(reply, Completion)]
        assert len(done) == 9
        return [reply.text for reply in done]

    assert set(replies(0.0)) == {"Lima."}
    assert set(replies(1.0)) == {"Lima.", "I do not know."}


def test_words_that_are_missing_end_the_check(script: ModuleType) -> None:
    script.expect("it says this and that", "this", "that")
    with pytest.raises(SystemExit, match="expected it to say: those"):
        script.expect("it says this and that", "this", "those")
