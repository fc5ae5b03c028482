"""Whatever the metric `contains` says of the text that a record keeps, the certified bounds hold it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys import brute_force, drive, random_model

from shaketable.facts.curves.automaton import MATCHES, FirstLine
from shaketable.facts.curves.curve import CurveSettings, curve
from shaketable.facts.curves.predicate import Predicate
from shaketable.facts.curves.top_bounds import bounds_from_top_logprobs
from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.metrics.contains import Contains
from shaketable.metrics.scoring import accepted
from shaketable.types import Answer, Question, Record, Trial, Variant

TEMPERATURES = (0.3, 1.0, 2.5)
N_TOKENS = 3
GOLDS = (
    "no", "Yes", " NO ", "US", "a", "ab", "the ab", "Ab. c", "É", "e\u0323\u0302", "ΟΣ", "ß", "n o", "\u0302a",
    "noah", "abab", "ßss", "no no",
)  # fmt: skip
PIECES = (
    "no", "No", " yes", "us", "U", "S", "a", "b", "c", " ", ".", "'", "\n", "the ", "w", "e", "É", "\u0301", "\u0302",
    "\u0323", "ệ", "ê", "Σ", "σ", "ς", "Ο", "ß", "ss", "≠", "\u2028", "n", "o", "-", "\u200b",
    "ab", "ah", "_", "1",
)  # fmt: skip
vocabularies = st.lists(st.sampled_from(PIECES), min_size=2, max_size=4, unique=True)
golds = st.lists(st.sampled_from(GOLDS), min_size=1, max_size=2, unique=True)
metrics = st.builds(
    Contains,
    match=st.sampled_from(["substring", "token", "startswith"]),
    scored=st.sampled_from(["answer", "full_output"]),
    aliases=st.booleans(),
)


def asked(answers):
    return Question(id="q", text="?", answers=tuple(answers), dataset="d")


def right(answers, metric, cut):
    """The metric's own word on a finished text, kept as methods keep it: cut at the line break, stripped."""
    variant = Variant(question_id="q", text="?", variation="original")
    trial = Trial(key="k", question_id="q", variant=variant, model="m", method="m", retriever=None, perturbation=None,
                  temperature=1.0, repeat=0, seed=0)  # fmt: skip

    def judge(text):
        kept = (text.partition("\n")[0] if cut else text).strip()
        [[score]] = metric.score([Record(trial=trial, answer=Answer(text=kept))], {"q": asked(answers)})
        return score.value == 1

    return judge


@settings(max_examples=300)
@example(["No", "w"], ["no"], Contains(match="substring"), True, 0)
@example(["ê", "\u0323"], ["e\u0323\u0302"], Contains(match="token"), False, 1)
@example(["Ο", "Σ"], ["ΟΣ"], Contains(match="token"), False, 1)
@given(vocabularies, golds, metrics, st.booleans(), st.integers(0, 50))
def test_brute_force_with_the_metric_lies_within_the_bounds_and_on_them_when_all_is_known(
    pieces, answers, metric, cut, seed
):
    vocabulary = Vocabulary(["", *pieces], {0})
    model, judge = random_model(seed, vocabulary.n), right(answers, metric, cut)
    truth = [brute_force(model, vocabulary, judge, N_TOKENS, t) for t in TEMPERATURES]
    predicate = Predicate(accepted(asked(answers), aliases=metric.aliases), vocabulary, metric.match, cut)
    bounds_alone = CurveSettings(
        max_tokens=N_TOKENS, n_samples=0, eps=0.0, grid=TEMPERATURES, temperatures=TEMPERATURES
    )
    for budget in (1, 3):
        found = drive(curve("k", predicate, dataclasses.replace(bounds_alone, budget=budget)), model)
        assert (np.array(found.low) <= np.array(truth) + 1e-9).all()
        assert (np.array(found.high) >= np.array(truth) - 1e-9).all()
    whole = drive(curve("k", predicate, dataclasses.replace(bounds_alone, budget=1000)), model)
    assert whole.low == pytest.approx(truth, abs=1e-9)
    assert whole.high == pytest.approx(truth, abs=1e-9)


@settings(max_examples=300)
@example(["No", "w"], ["no"], Contains(match="substring"), True, 0, 3)
@given(vocabularies, golds, metrics, st.booleans(), st.integers(0, 50), st.integers(1, 5))
def test_brute_force_with_the_metric_lies_within_the_bounds_of_the_likeliest_tokens(
    pieces, answers, metric, cut, seed, n_top
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
    rule = MATCHES[metric.match](accepted(asked(answers), aliases=metric.aliases))
    rule = FirstLine(rule) if cut else rule
    found = bounds_from_top_logprobs(
        tops, chosen, rule=rule, temperatures=TEMPERATURES, n_vocabulary=vocabulary.n, max_tokens=N_TOKENS
    )
    for low, high, t in zip(found.low, found.high, TEMPERATURES, strict=True):
        truth = brute_force(model, vocabulary, right(answers, metric, cut), N_TOKENS, t)
        assert low - 1e-9 <= truth <= high + 1e-9
