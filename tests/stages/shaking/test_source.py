"""The trials of a shaken system: the budget, the order of replies, and going on after an interruption."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from known_truth.shaken_systems import plan_of

from shaketable.errors import StudyError
from shaketable.stages.meter import Before, Meter, Spent, System
from shaketable.stages.shaking.source import Shaken, levels_of
from shaketable.types import Answer, Cost, Failure, Limits, Record

PLAN = plan_of(20)


def run(n_calls, *, stored=None, seed=0, at_once=64, plan=PLAN, fails=lambda trial: False):
    """Key → answer of all that was asked, where disfluent questions are answered wrong."""
    source = Shaken(plan, plan.conditions, stored or {}, lambda: n_calls)
    rng, answers = random.Random(seed), dict(stored or {})
    while taken := source.take(min(at_once, n_calls - len(answers))):
        rng.shuffle(taken)
        for trial, _ in taken:
            if fails(trial):
                failure = Failure(kind="method", message="", step="method", may_retry=False)
                record = Record(trial=trial, answer=None, failure=failure, cost=Cost(n_generations=1))
            else:
                text = "no" if trial.variant.variation == "disfluency" else "yes it is"
                record = Record(trial=trial, answer=Answer(text=text), cost=Cost(n_generations=1))
            answers[trial.key] = None if record.answer is None else record.answer.text
            source.done(record)
    return answers


def test_a_budget_is_spent_to_its_last_call():
    assert len(run(250)) == 250


def test_the_order_of_replies_decides_nothing():
    assert run(400, seed=1) == run(400, seed=2, at_once=7)


def test_an_interrupted_run_goes_on_as_if_it_had_not_been():
    whole = run(400)
    first = dict(list(whole.items())[:150])
    assert run(400, stored=first) == whole


def test_failures_of_one_wording_stop_nothing():
    answers = run(400, fails=lambda trial: trial.variant.variation == "spelling")
    assert len(answers) == 400
    assert None in answers.values()


def test_a_question_without_a_wording_is_passed_over():
    kept = tuple(v for v in PLAN.variants if (v.variation, v.question_id) != ("spelling", "q3"))
    answers = run(4000, plan=dataclasses.replace(PLAN, variants=kept))
    # 41 ways to ask, 20 questions and their clean answers, less what has no wording: alone, with 3 kinds of evidence
    # and at 2 temperatures.
    assert len(answers) == 41 * 20 + 2 * 20 - 6


def meter(limits, *, n_trials, n_calls=0, dollars=0.0, seconds=0.0):
    spent = Spent(n_trials=n_trials, n_calls=n_calls, dollars=dollars, n_priced=n_trials)
    return Meter(limits, Before(systems={System("mine", "as_asked"): spent}, seconds=seconds))


def test_what_the_limits_allow_goes_by_what_answers_took():
    assert meter(Limits(max_calls=100), n_trials=5, n_calls=20).n_affordable() == 25
    assert meter(Limits(max_calls=100), n_trials=0).n_affordable() == 100
    assert meter(Limits(max_cost=2.0), n_trials=10, n_calls=10, dollars=0.5).n_affordable() == pytest.approx(40)
    minutes = meter(Limits(max_minutes=10), n_trials=60, n_calls=60, seconds=60.0).n_affordable()
    assert minutes == pytest.approx(600, rel=0.05)
    both = meter(Limits(max_calls=100, max_cost=2.0), n_trials=10, n_calls=10, dollars=1.0)
    assert both.n_affordable() == pytest.approx(20)
    assert meter(Limits(), n_trials=3).n_affordable() == math.inf


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"variants": tuple(v for v in PLAN.variants if v.variation != "original")}, "lacks 'original'"),
        (
            {
                "variants": tuple(v for v in PLAN.variants if v.variation == "original"),
                "conditions": PLAN.conditions[:1],
                "study": dataclasses.replace(PLAN.study, temperatures=(0.0,)),
            },
            "nothing to shake",
        ),
        (
            {"conditions": (PLAN.conditions[0], dataclasses.replace(PLAN.conditions[0], retriever=None))},
            "2 systems",
        ),
    ],
)
def test_what_cannot_be_shaken_is_told(change, said):
    plan = dataclasses.replace(PLAN, **change)
    with pytest.raises(StudyError, match=said):
        levels_of(plan, plan.conditions)
