"""A reply that no request asked for never becomes the answer to another question."""

from __future__ import annotations

import pytest
from doubling_server import doubling

from shaketable.models.endpoint import failures
from shaketable.types import Completion, Message, Prompt, Sampling

N_CALLS = 180
KINDS = {
    "short": {},
    "as long as one read of the parser": {"length": 65_536},
    "longer than what is read ahead": {"length": 1_500_000, "every": 2},
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL", "HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def prompts(n: int) -> list[Prompt]:
    sampling = Sampling(temperature=0.7, max_tokens=20)
    return [Prompt(messages=(Message(role="user", content=f"q{i}"),), sampling=sampling, seed=i) for i in range(n)]


@pytest.mark.parametrize("system", ["openai", "pipeline"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_answer_belongs_to_its_question(system: str, kind: str) -> None:
    n = N_CALLS if "length" not in KINDS[kind] else 20
    with doubling(**KINDS[kind]) as server:
        replies = server.models()[system].generate(prompts(n))
        assert server.n_extra >= n // 5
    answers = {i: reply.text.strip() for i, reply in enumerate(replies) if isinstance(reply, Completion)}
    assert answers == {i: f"own q{i}" for i in range(n)}


@pytest.mark.parametrize("system", ["openai", "pipeline"])
def test_connections_without_surplus_are_kept(system: str) -> None:
    with doubling(every=10_000) as server:
        replies = server.models()[system].generate(prompts(N_CALLS))
        assert all(isinstance(reply, Completion) for reply in replies)
        assert server.n_connections < N_CALLS / 2
