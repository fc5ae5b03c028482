"""Whatever the metric `contains` says of the text that a record keeps, the certified bounds hold it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys import brute_force, drive, random_model

from shaketable.fragility.automaton import MATCHES, FirstLine
from shaketable.fragility.curve import CurveSettings, curve
from shaketable.fragility.predicate import Predicate
from shaketable.fragility.top_bounds import bounds_from_top_logprobs
from shaketable.fragility.vocabulary import Vocabulary
from shaketable.metrics.contains import Contains
from shaketable.types import Answer, Question, Record, Trial, Variant

TEMPERATURES = (0.3, 1.0, 2.5)
N_TOKENS = 3
GOLDS = (
    "no",
    "Yes",
    " NO ",
    "US",
    "a",
    "ab",
    "the ab",
    "Ab. c",
    "É",
    "e\u0323\u0302",
    "ΟΣ",
    "ß",
    "n o",
    "b",
    "\u0302a",
)
PIECES = (
    "no", "No", " yes", "us", "U", "S", "a", "b", "c", " ", ".", "'", "\n", "the ", "w", "e", "É", "\u0301", "\u0302",
    "\u0323", "ệ", "ê", "Σ", "σ", "ς", "Ο", "ß", "ss", "≠", "\u2028", "n", "o", "-", "\u200b",
)  # fmt: skip
vocabularies = st.lists(st.sampled_from(PIECES), min_size=2, max_size=4, unique=True)
golds = st.lists(st.sampled_from(GOLDS), min_size=1, max_size=2, unique=True)
matches = st.sampled_from(["substring", "token", "startswith"])


def right(accepted, match, cut):
    """The metric's own word on a finished text, kept as methods keep it: cut at the line break, stripped."""
    question = Question(id="q", text="?", answers=tuple(accepted), dataset="d")
    variant = Variant(question_id="q", text="?", variation="original")
    trial = Trial(key="k", question_id="q", variant=variant, model="m", method="m", retriever=None, perturbation=None,
                  temperature=1.0, repeat=0, seed=0)  # fmt: skip

    def judge(text):
        kept = (text.partition("\n")[0] if cut else text).strip()
        [[score]] = Contains(match=match).score([Record(trial=trial, answer=Answer(text=kept))], {"q": question})
        return score.value == 1

    return judge


@settings(max_examples=300)
@example(["No", "w"], ["no"], "substring", True, 0)
@example(["ê", "\u0323"], ["e\u0323\u0302"], "token", False, 1)
@example(["Ο", "Σ"], ["ΟΣ"], "token", False, 1)
@given(vocabularies, golds, matches, st.booleans(), st.integers(0, 50))
def test_brute_force_with_the_metric_lies_within_the_bounds_and_on_them_when_all_is_known(
    pieces, accepted, match, cut, seed
):
    vocabulary = Vocabulary(["", *pieces], {0})
    model, judge = random_model(seed, vocabulary.n), right(accepted, match, cut)
    truth = [brute_force(model, vocabulary, judge, N_TOKENS, t) for t in TEMPERATURES]
    predicate = Predicate(accepted, vocabulary, match, cut)
    asked = CurveSettings(max_tokens=N_TOKENS, n_samples=0, eps=0.0, grid=TEMPERATURES, temperatures=TEMPERATURES)
    for budget in (1, 3):
        found = drive(curve("k", predicate, dataclasses.replace(asked, budget=budget)), model)
        assert (np.array(found.low) <= np.array(truth) + 1e-9).all()
        assert (np.array(found.high) >= np.array(truth) - 1e-9).all()
    whole = drive(curve("k", predicate, dataclasses.replace(asked, budget=1000)), model)
    assert whole.low == pytest.approx(truth, abs=1e-9)
    assert whole.high == pytest.approx(truth, abs=1e-9)


@settings(max_examples=300)
@example(["No", "w"], ["no"], "substring", True, 0, 3)
@given(vocabularies, golds, matches, st.booleans(), st.integers(0, 50), st.integers(1, 5))
def test_brute_force_with_the_metric_lies_within_the_bounds_of_the_likeliest_tokens(
    pieces, accepted, match, cut, seed, n_top
):
    texts = ["</s>", *pieces]
    vocabulary = Vocabulary(["", *pieces], {0})
    model = random_model(seed, vocabulary.n)
    suffix, tops, chosen = (), [], []
    while len(suffix) < N_TOKENS and 0 not in suffix:
        logs = model(suffix)
        best = [int(token) for token in np.argsort(-logs)[:n_top]]
        tops.append([(texts[token], float(logs[token])) for token in best])
        chosen.append(texts[best[0]])
        suffix = (*suffix, best[0])
    rule = FirstLine(MATCHES[match](accepted)) if cut else MATCHES[match](accepted)
    found = bounds_from_top_logprobs(
        tops, chosen, rule=rule, temperatures=TEMPERATURES, n_vocabulary=vocabulary.n, max_tokens=N_TOKENS
    )
    for low, high, t in zip(found.low, found.high, TEMPERATURES, strict=True):
        truth = brute_force(model, vocabulary, right(accepted, match, cut), N_TOKENS, t)
        assert low - 1e-9 <= truth <= high + 1e-9
