"""Whatever a model writes, every method ends within its limits and with an answer."""

import math
import re

import numpy as np
import pytest
from by_hand import END, hit
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable import catalog
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY, HEADING
from shaketable.types import Answer, Completion, Evidence, Generate, Note, Probe, Reading, Search

METHODS = {
    # method: (generations, searches) at most. A round of DRAGIN and FLARE asks twice and adds a token at least.
    "dragin(max_length=8)": (18, 8),
    "dragin(max_length=8, content_filter='after', layout='plain')": (18, 8),
    "flare(max_length=8)": (20, 9),
    "flare(mode='original', text_tokens=8)": (21, 11),
    "fixed_sentence(max_length=8)": (10, 9),
    "fixed_length(max_length=8)": (10, 9),
    "interleaved": (9, 8),
    "query_rewrite": (2, 1),
    "search_o1": (31, 15),
    "closed_book(n_examples=1)": (2, 0),
    "single_retrieval(n_examples=1)": (2, 1),
}
WORDS = st.sampled_from(
    ["Zeus", "met", "the", ".", "?", "\n", "", " ", "So the answer is", "Question:", "Note:", HEADING, BEGIN_QUERY,
     END_QUERY, "\\boxed{", "}", "\\text{", "é", "🇫🇷", "\x00", "\u2028", "1867", "-"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS, max_size=8).map("".join), st.text(max_size=12)
)
REPLIES = st.lists(st.tuples(TEXTS, st.floats(0, 6), st.booleans()), min_size=1, max_size=5)


def tokens_of(text):
    return tuple(re.findall(r"\s*[^\s]{1,4}|\s+$", text))


def reply_to(step, replies, n):
    text, doubt, ended = replies[n % len(replies)]
    tokens = tokens_of(text)[: step.max_tokens]
    text = "".join(tokens)
    tokens += (END,) if ended else ()
    numbers = {
        "token_ids": list(range(len(tokens))),
        "logprobs": [-doubt] * len(tokens),
        "entropy": [doubt] * len(tokens),
    }
    return Completion(
        text=text,
        finish_reason="end" if ended else "length",
        n_prompt_tokens=1,
        n_tokens=len(tokens),
        seconds=0.0,
        tokens=tokens,
        extras={name: numbers[name] for name in step.wants},
    )


def run(method, wording, replies):
    """How often it generated and searched, and its answer."""
    going, reply, n, n_searches = method.answer(wording), None, 0, 0
    while True:
        try:
            step = going.send(reply)
        except StopIteration as end:
            return n, n_searches, end.value
        reply = None
        if isinstance(step, Generate):
            reply = reply_to(step, replies, n)
            n += 1
        elif isinstance(step, Search):
            n_searches += 1
            assert step.query.strip() or not wording.strip()
            reply = Evidence(hits=(hit("A passage."),))
        elif isinstance(step, Probe):
            tokens = tokens_of(step.text) if step.token_ids is None else ("x",) * len(step.token_ids)
            assert tokens, "an empty text cannot be read"
            attention = np.tril(np.full((1, len(tokens), len(tokens)), 0.5, np.float32))
            reply = Reading(tokens=tokens, extras={"token_ids": list(range(len(tokens))), "attention": attention})
        else:
            assert isinstance(step, Note)
            assert _is_plain(dict(step.values))


def _is_plain(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


@pytest.mark.weights
@pytest.mark.parametrize("text", METHODS)
@settings(max_examples=15)
@given(wording=st.sampled_from(["Whom did Zeus meet?", "", "\u2028", "Zeus"]), replies=REPLIES)
def test_a_method_ends_with_an_answer_whatever_the_model_writes(text, wording, replies):
    n_generations, n_searches, answer = run(catalog.build("method", text), wording, replies)
    most_generations, most_searches = METHODS[text]
    assert isinstance(answer, Answer)
    assert n_generations <= most_generations
    assert n_searches <= most_searches
