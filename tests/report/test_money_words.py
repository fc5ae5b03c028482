"""Money in words: by system, spent and to come, and what nobody knows."""

from __future__ import annotations

import pytest

from shaketable import catalog
from shaketable.cli.progress import money_words
from shaketable.report.money_words import describe_money, describe_reused, format_dollars
from shaketable.stages.meter import ENOUGH_PRICED, Meter, Money, System
from shaketable.store.dimensions import UsedPart
from shaketable.store.money import Lost, SystemSpent, is_local
from shaketable.store.summary import RunSummary
from shaketable.types import Cost


def system(model: str = "a", **changes: object) -> SystemSpent:
    values = {"n_trials": 10, "n_reused": 0, "n_calls": 20, "n_tokens": 100, "n_priced": 10, "dollars": 0.5}
    return SystemSpent(model=model, method="m", **values | changes)


def summary(*spent: SystemSpent, lost: float = 0.0) -> RunSummary:
    return RunSummary(run="r", study="s", state="running", spent=spent, lost=Lost(n_calls=0, dollars=lost))


@pytest.mark.parametrize(
    ("dollars", "words"),
    [
        (0.0, "0.00 USD"),
        (1234.5, "1,234.50 USD"),
        (0.25, "0.25 USD"),
        (0.0312, "0.031 USD"),
        (0.00001, "less than 0.0001 USD"),
    ],
)
def test_small_amounts_keep_two_digits(dollars, words):
    assert format_dollars(dollars) == words


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        ([], ""),
        ([system()], "0.50 USD for 20 calls"),
        # 0.50 USD for 10 trials: 0.05 for each of the 30 that are left.
        ([system(n_planned=40)], "0.50 USD for 20 calls, about 1.50 USD more for 30 trials left"),
        ([system(n_priced=5, n_planned=12)], "at least 0.50 USD for 20 calls, about 0.20 USD more for 2 trials left"),
        ([system(dollars=None, n_priced=0)], "not known, no price is given"),
        (
            [system(), system("b", dollars=None, n_priced=0)],
            "a · m: 0.50 USD for 20 calls; b · m: not known, no price is given",
        ),
        (
            [system(), system("b", n_trials=0, n_priced=0, dollars=None)],
            "a · m: 0.50 USD for 20 calls; b · m: nothing yet",
        ),
        ([system(n_trials=0, n_priced=0, n_calls=0, dollars=None, n_reused=4)], "0.00 USD"),
        ([system(dollars=None, n_priced=0, is_local=True)], "nothing was paid for answers: all models are local"),
        (
            [system(), system("b", dollars=None, n_priced=0, is_local=True)],
            "a · m: 0.50 USD for 20 calls; b · m: nothing, a local model",
        ),
        (
            [system("c", dollars=None, n_priced=0), system("b", dollars=None, n_priced=0, is_local=True)],
            "not known, no price is given",
        ),
    ],
)
def test_what_was_spent_is_told_by_system_and_never_made_up(spent, words):
    assert describe_money(summary(*spent)) == words


@pytest.mark.parametrize(
    ("model", "is_here"),
    [("smollm2", True), ("transformers(path='m')", True), ("openai(model='gpt-4o')", False), ("scripted", False)],
)
def test_models_that_run_here_are_known_from_what_a_run_keeps_of_them(model, is_here):
    part = catalog.build("model", model)
    assert is_local(UsedPart(kind="model", label=model, **catalog.describe(part))) == is_here


def test_a_model_whose_answers_were_made_elsewhere_is_not_taken_for_a_local_one():
    assert not is_local(UsedPart(kind="model", label="smollm2", name="smollm2", version=None, settings={}))


def test_what_was_lost_at_a_limit_is_told_too():
    assert describe_money(summary(system(), lost=0.2)).endswith("; 0.20 USD for trials that were let go at a limit")


def test_answers_of_other_runs_are_counted_apart():
    assert describe_reused(summary(system())) == ""
    assert describe_reused(summary(system(n_reused=1))) == "1 answer of other runs"
    several = summary(system(n_reused=3, dollars_reused=0.1), system("b", n_reused=2, dollars_reused=0.2))
    assert describe_reused(several) == "5 answers of other runs, which had cost them 0.30 USD"


def test_the_progress_line_has_what_is_spent_and_what_it_comes_to():
    priced = Money(model="a", method="m", spent=0.25, left=0.5)
    assert money_words([]) == ""
    assert money_words([priced]) == "0.25 USD of about 0.75 USD"
    assert money_words([Money(model="a", method="m", spent=0.25, left=0.0)]) == "0.25 USD"
    assert money_words([Money(model="a", method="m", spent=None, left=None)]) == ""
    unpriced = Money(model="b", method="m", spent=None, left=None)
    assert money_words([priced, unpriced]) == "a · m: 0.25 USD of about 0.75 USD; b · m: cost not known"


def test_nobody_is_paid_for_a_model_that_runs_here():
    class Here:
        version, gives = 1, frozenset()

        def generate(self, prompts): ...

        def environment(self): ...

        def probe(self, probes): ...

    meter = Meter()
    meter.begin(Here())
    meter.end(System("here", "m"), Cost(n_generations=1))
    meter.begin(object())
    for _ in range(ENOUGH_PRICED):
        meter.end(System("there", "m"), Cost(n_generations=1, dollars=0.25))
    [money] = meter.money({System("there", "m"): 3.0})
    assert (money.model, money.spent, money.left) == ("there", 0.25 * ENOUGH_PRICED, 0.75)


def test_what_the_rest_will_cost_is_not_told_from_the_first_few():
    meter = Meter()
    meter.begin(object())
    told = []
    for _ in range(ENOUGH_PRICED):
        meter.end(System("there", "m"), Cost(n_generations=1, dollars=0.25))
        [money] = meter.money({System("there", "m"): 3.0})
        told.append(money.left)
    assert told == [None] * (ENOUGH_PRICED - 1) + [0.75]
