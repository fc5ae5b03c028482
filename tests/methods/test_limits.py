"""What a method says it takes at most is never exceeded: not by the worst replies, not by a real model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shaketable import catalog
from shaketable.stages.estimate import estimate
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.study import parse_study
from shaketable.types import (
    Completion,
    Effort,
    Evidence,
    Generate,
    Hit,
    Note,
    Passage,
    Probe,
    Reading,
    Search,
    Sentence,
)

MAX_TOKENS = 8
METHODS = (
    "closed_book",
    "closed_book(n_examples=2)",
    "single_retrieval",
    "single_retrieval(n_examples=2)",
    "recall",
    "query_rewrite",
    "interleaved(max_sentences=3, max_length=4)",
    "fixed_sentence(max_length=6)",
    "fixed_length(max_length=6, block_tokens=2)",
    "flare(max_length=6)",
    "flare(mode='original', text_tokens=6, max_length=4)",
    "dragin(max_length=6)",
    "search_o1(max_searches=3, max_turns=5, max_tokens=8)",
    "search_o1(max_searches=9, max_turns=2, max_tokens=8, reason_in_documents=False)",
    "search_o1(max_searches=1, max_turns=2, on_missing='complete')",
    "search_o1(max_searches=1, max_turns=2, on_missing='direct')",
)
HITS = (
    Hit(
        passage=Passage(id="p", title="P", sentences=(Sentence(id="p#0", text="A text."),)),
        score=1.0,
        rank=1,
        source="test",
    ),
)


def text_of(pattern: str, n: int) -> str:
    """A short reply that never comes to an end, or a search query that differs from those before."""
    if pattern == "search":
        return f"<|begin_search_query|>number {n}<|end_search_query|>"
    return {"word": "Paris", "sentences": "Paris. Rome.", "empty": ""}[pattern]


def worst(method: Any, pattern: str) -> tuple[int, int]:
    """Calls and new tokens of one trial whose model doubts every token and never concludes."""
    steps = method.answer("Who wrote it?")
    n_calls = n_tokens = 0
    reply: Any = None
    try:
        while True:
            step = steps.send(reply)
            if isinstance(step, Note):
                reply = None
            elif isinstance(step, Search):
                reply = Evidence(hits=HITS)
            elif isinstance(step, Generate):
                most = step.max_tokens or MAX_TOKENS
                # However short the text, the model may have spent all its tokens on it (in vain, or on thoughts).
                text = text_of(pattern, n_calls)
                n_calls, n_tokens = n_calls + 1, n_tokens + most
                doubt = {name: [value] for name, value in (("logprobs", -0.6), ("entropy", 9.0), ("token_ids", 1))}
                reply = Completion(
                    text=text, finish_reason="length", n_prompt_tokens=1, n_tokens=1, seconds=0.0,
                    tokens=(text,) if text else (), extras=doubt if text else {},
                )  # fmt: skip
            else:
                reply = read(step)
    except StopIteration:
        return n_calls, n_tokens


def read(probe: Probe) -> Reading:
    tokens = tuple(f" {word}" for word in probe.text.split()) or (" ",)
    n = len(tokens)
    attention = np.tril(np.ones((1, n, n))) / np.arange(1, n + 1)[None, :, None]
    return Reading(tokens=tokens, extras={"attention": attention, "token_ids": list(range(n)), "entropy": [9.0] * n})


@pytest.mark.parametrize("pattern", ["word", "sentences", "empty", "search"])
@pytest.mark.parametrize("text", METHODS)
def test_the_worst_replies_stay_within_the_limits(text: str, pattern: str) -> None:
    method = catalog.build("method", text)
    effort: Effort = method.at_most(MAX_TOKENS)
    n_calls, n_tokens = worst(method, pattern)
    assert n_calls <= effort.n_calls
    if not text.startswith("fixed_length"):  # Its blocks are counted by what the model really wrote.
        assert n_tokens <= effort.n_tokens


@pytest.mark.parametrize("text", [text for text in METHODS if "fixed" in text or "flare" in text or "dragin" in text])
def test_the_limits_are_no_larger_than_one_token_a_round_can_reach(text: str) -> None:
    method = catalog.build("method", text)
    assert worst(method, "word")[0] >= method.at_most(MAX_TOKENS).n_calls - 2


@pytest.mark.parametrize("name", sorted(set(catalog.known("method")) - {"as_asked"}))
def test_every_method_states_its_limits(name: str) -> None:
    """What a pipeline that is asked `as_asked` does behind its answer, nobody can say before."""
    assert any(text.partition("(")[0] == name for text in METHODS)


@pytest.mark.slow
@pytest.mark.weights
def test_a_real_run_stays_within_its_forecast(tmp_path: Any) -> None:
    """98 calls, 31,000 prompt tokens and 3,053 new ones were forecast at most, and 188, 97,000 and 5,020 used."""
    study = parse_study(
        {
            "name": "forecast",
            "dataset": {"name": "builtin", "limit": 2},
            "cross": {
                "methods": ["flare(max_length=12)", "dragin(max_length=12)"],
                "retrievers": ["bm25"],
                "temperatures": [0.7],
            },
            "generation": {"max_tokens": 12},
        },
        "test",
    )
    planned = plan(study)
    forecasts = {forecast.method: forecast for forecast in estimate(planned)}
    from shaketable.stages.answer import answer

    with RecordStore(tmp_path / "records.sqlite") as store:
        answer(planned, store)
        records = list(store.records())
    assert all(record.failure is None for record in records)
    for method, forecast in forecasts.items():
        costs = [record.cost for record in records if record.trial.method == method]
        assert forecast.at_most is not None
        assert sum(cost.n_generations for cost in costs) <= forecast.at_most.calls
        assert sum(cost.n_tokens for cost in costs) <= forecast.at_most.new_tokens
        assert sum(cost.n_prompt_tokens for cost in costs) <= forecast.at_most.prompt_tokens
