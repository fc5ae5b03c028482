"""The analyses of rewording, on answers made up by hand, with numbers worked by hand."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_wordings import NO_RETRIEVAL, Compass, made, only, searches, several, tables_of, trial
from scipy.stats import binomtest

from shaketable.analyses.claims import Claim, claims_of
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.consistency import consistency
from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.analyses.wording.drift_chain import Correlation, DriftChain, drift_chain
from shaketable.analyses.wording.outcomes import outcomes
from shaketable.analyses.wording.query_difficulty import query_difficulty
from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.analyses.wording.trajectories import trajectories
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.errors import WeightsError
from shaketable.factors import System
from shaketable.types import Estimate, Finding, Findings

Analysis = Callable[..., Any]
EVERY: tuple[Analysis, ...] = (
    wording_accuracy,
    consistency,
    cost_stability,
    search_decisions,
    outcomes,
    trajectories,
    drift_chain,
    query_difficulty,
)


@pytest.fixture(autouse=True)
def compass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())


def ask(analysis: Analysis, trials: Sequence[dict[str, Any]], searches: Any = None, **settings: Any) -> Any:
    given = {} if searches is None else {"searches": searches}
    return analysis(tables_of(trials, **given), **settings)


def numbers_of(result: Any) -> Sequence[Any]:
    return result.correlations if isinstance(result, DriftChain) else result.numbers


def estimate_of(number: Any) -> Estimate:
    return number.rho if isinstance(number, Correlation) else number.estimate


# --- accuracy -------------------------------------------------------------------------------------


def test_the_cost_of_a_wording_is_paired_by_question() -> None:
    trials = [trial(f"q{i}", correct=float(i < 8)) for i in range(10)]
    trials += [trial(f"q{i}", "spelling", correct=float(i < 3)) for i in range(10)]
    found = ask(wording_accuracy, trials)
    assert only(found.numbers, variation="original", is_loss=False).estimate.value == 0.8
    lost = only(found.numbers, variation="spelling", is_loss=True)
    assert (lost.estimate.value, lost.estimate.n, lost.estimate.unit) == (0.5, 10, "share")
    # Five differences of one sign and five of none, as McNemar's exact test has it: 2 / 2^5.
    assert lost.p == pytest.approx(2 / 32)


def reworded(*counts: int, n: int = 20, dataset: str = "squad") -> list[dict[str, Any]]:
    """The original right in so many of n questions, then one rewording after the other."""
    names = ("original", "spelling", "grammar", "formality")
    return [
        trial(f"q{i}", name, correct=float(i < right), dataset=dataset, wording=f"{dataset} {i} {name}")
        for name, right in zip(names, counts, strict=False)
        for i in range(n)
    ]


def claims_about(*results: object) -> Sequence[Claim]:
    findings = tuple(Finding(analysis="", result=result) for result in results)
    return claims_of(Findings(findings=findings)).every


def test_each_rewording_is_a_claim_and_gains_are_claims_too() -> None:
    claims = claims_about(ask(wording_accuracy, reworded(10, 0, 20, 10)))
    by_name = {claim.subject.cell.variation: claim for claim in claims}
    assert {claim.subject.kind for claim in claims} == {"wording"}
    assert [by_name[name].estimate.value for name in ("spelling", "grammar", "formality")] == [0.5, -0.5, 0]
    assert [by_name[name].is_shown for name in ("spelling", "grammar", "formality")] == [True, True, False]


def test_a_loss_that_is_there_has_an_interval_with_width() -> None:
    """One of ten answers lost, or none: never 0 [0, 0]."""
    for right in (18, 20):
        lost = only(ask(wording_accuracy, reworded(20, right)).numbers, variation="spelling", is_loss=True).estimate
        assert lost.value == pytest.approx((20 - right) / 20)
        assert lost.low < lost.value < lost.high


def test_the_most_of_several_is_drawn_towards_their_mean_and_its_interval_is_wider() -> None:
    rng = np.random.default_rng(4)
    names = ("original", *(f"r{i}" for i in range(6)))
    trials = [trial(f"q{i}", name, correct=float(rng.random() < 0.6)) for i in range(40) for name in names]
    losses = [number for number in ask(wording_accuracy, trials).numbers if number.is_loss]
    most = max(losses, key=lambda number: number.estimate.value)
    assert np.mean([loss.estimate.value for loss in losses]) <= most.among.value < most.estimate.value
    assert most.among.high - most.among.low > most.estimate.high - most.estimate.low
    alone = only(ask(wording_accuracy, reworded(9, 5)).numbers, is_loss=True)
    assert alone.among is None


def test_of_several_datasets_all_together_are_claimed() -> None:
    trials = [*reworded(20, 0), *reworded(20, 0, dataset="nq")]
    claims = claims_about(ask(wording_accuracy, trials))
    assert [(claim.subject.cell.dataset, claim.estimate.n) for claim in claims] == [(None, 40)]


def test_temperatures_of_a_rewording_weigh_as_two_claims() -> None:
    trials = [
        one | {"temperature": heat, "key": f"{heat}{one['key']}"} for heat in (1.0, 0.0, 2.0) for one in reworded(9, 5)
    ]
    claims = claims_about(ask(wording_accuracy, trials))
    weights = {claim.subject.cell.temperature: claim.weight for claim in claims}
    assert weights == {0.0: 1.0, 1.0: 0.5, 2.0: 0.5}


def test_what_explains_a_loss_weighs_less_than_the_loss() -> None:
    names = ("original", "spelling", "grammar", "formality")
    trials = [trial(f"q{i}", name, repeat=run) for i in range(8) for name in names for run in range(2)]
    claims = claims_about(ask(wording_accuracy, trials), ask(consistency, trials))
    weights = {(claim.subject.kind, claim.subject.cell.variation): claim.weight for claim in claims}
    assert weights == {
        **{("wording", name): 1.0 for name in names[1:]},
        **{("consistency", name): pytest.approx(1 / 3) for name in names[1:]},
    }


def test_what_is_beyond_chance_is_claimed_by_every_analysis_that_speaks_of_it() -> None:
    """Of 12 questions two runs each: rewording changes answers, searches, queries and decisions."""
    trials, made_ = [], []
    for i, name, run in itertools.product(range(12), ("original", "spelling"), range(2)):
        is_original = name == "original"
        one = trial(
            f"q{i}", name, repeat=run, answer="1,0" if is_original else "0,1", correct=float(is_original),
            n_searches=2 * (not is_original or i == 0),
        )  # fmt: skip
        query = "1,0" if is_original else "0.6,0.8"
        trials += [one, trial(f"q{i}", name, repeat=run, correct=0.0, **NO_RETRIEVAL)]
        made_.append((one, [(query, "ab", True)] * one["n_searches"]))
    analyses = (consistency, cost_stability, search_decisions, outcomes)
    claims = claims_about(*(ask(analysis, trials, searches(*made_)) for analysis in analyses))
    shown = {claim.subject.kind: claim.estimate.value for claim in claims if claim.is_shown}
    assert shown == {
        "consistency": pytest.approx(-1),
        "cost": pytest.approx(11 / 12 * 2),
        "decision": pytest.approx(11 / 12),
        "confidence": pytest.approx(11 / 12),
        "outcome": 1.0,
    }


def test_two_rewrites_of_a_question_are_averaged_and_a_failure_is_no_zero() -> None:
    trials = [trial("a"), trial("b")]
    trials += [
        trial("a", "rewrites(path='r')", wording=text, correct=right) for text, right in (("x", 1.0), ("y", 0.0))
    ]
    trials += [trial("b", "rewrites(path='r')", wording="x", answer=None, correct=None)]
    row = only(ask(wording_accuracy, trials).numbers, variation="rewrites(path='r')", is_loss=False)
    assert (row.estimate.value, row.estimate.n, row.n_failed) == (0.5, 1, 1)


# --- answers --------------------------------------------------------------------------------------


def test_similarity_and_diversity_by_hand() -> None:
    # (1,0), (0,1), (.6,.8) have diversity 0.533333.
    trials = [trial("q", answer="1,0"), trial("q", "spelling", answer="0,1"), trial("q", "formality", answer="0.6,0.8")]
    found = ask(consistency, trials)
    assert only(found.numbers, metric="similarity", variation="spelling").estimate.value == pytest.approx(0, abs=1e-7)
    assert only(found.numbers, metric="similarity", variation="formality").estimate.value == pytest.approx(0.6)
    assert only(found.numbers, metric="diversity").estimate.value == pytest.approx(0.533333, abs=1e-6)


def test_two_empty_answers_are_alike_and_empty_answers_are_counted() -> None:
    found = ask(
        consistency, [trial("q", answer=" "), trial("q", "spelling", answer=""), trial("r"), trial("r", "spelling")]
    )
    assert only(found.numbers, metric="similarity", answered_only=False).estimate.value == pytest.approx(1)
    assert only(found.numbers, metric="empty", variation="spelling").estimate.value == 0.5


def test_accuracy_and_similarity_are_told_among_answered_trials_too() -> None:
    """Original and reworded of four questions: answered both, either or none; what is answered is right."""
    trials = []
    for name, before, after in (("a", "1,0", "0.6,0.8"), ("b", "1,0", ""), ("c", "", "1,0"), ("d", "", "")):
        trials.append(trial(name, answer=before, correct=float(bool(before))))
        trials.append(trial(name, "spelling", answer=after, correct=float(bool(after))))
    found = ask(consistency, trials)
    alone = only(found.numbers, metric="similarity", answered_only=True)
    assert (alone.estimate.value, alone.estimate.n) == (pytest.approx(0.6), 1)
    assert only(found.numbers, metric="both_empty").estimate.value == 0.25
    found = ask(wording_accuracy, trials)
    assert only(found.numbers, answered_only=False, variation="original", is_loss=False).estimate.value == 0.5
    alone = only(found.numbers, metric="contains", answered_only=True, variation="original", is_loss=False)
    assert (alone.estimate.value, alone.estimate.n) == (1.0, 2)
    lost = only(found.numbers, metric="contains", answered_only=True, variation="spelling", is_loss=True)
    assert (lost.estimate.value, lost.estimate.n) == (0.0, 1), "Of the one question that is answered both times."


def test_where_nothing_is_empty_nothing_is_told_of_answered_trials_alone() -> None:
    trials = [trial("q"), trial("q", "spelling")]
    for analysis in (consistency, wording_accuracy):
        assert not any(number.answered_only for number in ask(analysis, trials).numbers)


def test_sets_with_and_without_people_stand_side_by_side() -> None:
    trials = [trial("q", answer="1,0"), trial("q", "spelling", answer="1,0"), trial("q", "human", answer="0,1")]
    found = ask(consistency, trials)
    assert only(found.numbers, metric="diversity", with_people=True).estimate.value == pytest.approx(2 / 3)
    assert only(found.numbers, metric="diversity", with_people=False).estimate.value == pytest.approx(0)


# --- cost -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zero", "expected", "n"), [("one", 1.375, 4), ("zero", 0.875, 4), ("drop", 7 / 6, 3)])
def test_the_relative_change_of_searches_by_hand(zero: str, expected: float, n: int) -> None:
    trials = [trial(f"q{i}", n_searches=count) for i, count in enumerate((2, 0, 3, 1))]
    trials += [trial(f"q{i}", "spelling", n_searches=count) for i, count in enumerate((1, 2, 3, 4))]
    row = only(ask(cost_stability, trials, zero=zero).numbers, metric="re_searches")
    assert (row.estimate.value, row.estimate.n) == (pytest.approx(expected), n)


def test_steadiness_is_over_all_wordings_of_a_question() -> None:
    names = ("original", "a", "b", "c", "d", "e", "f")
    trials = [trial("q", name, n_searches=n) for name, n in zip(names, (2, 2, 2, 2, 2, 2, 1), strict=True)]
    assert only(ask(cost_stability, trials).numbers, metric="cvr_searches").estimate.value == pytest.approx(
        0.841452, abs=1e-6
    )
    found = ask(cost_stability, trials, steady="one_minus")
    assert only(found.numbers, metric="cvr_searches").estimate.value == pytest.approx(0.811578, abs=1e-6)


def test_model_calls_are_those_of_the_method_where_they_are_told() -> None:
    trials = [trial("q", n_generations=5), trial("q", "spelling", n_generations=9)]
    records = made(trials)[1]
    fewer = records.select("key", n_calls=pl.col("n_generations") - 4)
    assert only(ask(cost_stability, trials).numbers, metric="re_calls").estimate.value == pytest.approx(4 / 5)
    assert only(
        cost_stability(tables_of(trials, calls=fewer)).numbers, metric="re_calls"
    ).estimate.value == pytest.approx(4)


def test_what_was_not_counted_is_none_with_a_reason_and_closed_book_has_no_searches() -> None:
    trials = [trial("q", v, n_generations=0, n_tokens=0, **NO_RETRIEVAL) for v in ("original", "spelling")]
    found = ask(cost_stability, trials)
    reasons = {number.metric: (number.estimate.value, number.estimate.reason) for number in found.numbers}
    assert reasons == {
        "n_calls": (None, "no calls were counted in these records"),
        "n_tokens": (None, "no tokens were counted in these records"),
    }


# --- decisions ------------------------------------------------------------------------------------


def test_over_and_under_confidence_by_hand() -> None:
    # closed book correct 1 0 0 1 0, act 1 0 1 0 0 -> over .4, under .2.
    trials = [trial(f"q{i}", n_searches=n) for i, n in enumerate((1, 0, 1, 0, 0))]
    trials += [trial(f"q{i}", correct=float(right), **NO_RETRIEVAL) for i, right in enumerate((1, 0, 0, 1, 0))]
    found = ask(search_decisions, trials)
    assert only(found.numbers, metric="over_confidence").estimate.value == pytest.approx(0.4)
    assert only(found.numbers, metric="under_confidence").estimate.value == pytest.approx(0.2)
    assert only(found.numbers, metric="act").estimate.value == pytest.approx(0.4)


def test_need_is_told_by_the_same_wording_or_by_the_original() -> None:
    trials = [trial("q", n_searches=0), trial("q", "spelling", n_searches=0)]
    trials += [trial("q", correct=1.0, **NO_RETRIEVAL), trial("q", "spelling", correct=0.0, **NO_RETRIEVAL)]
    wanted = {"metric": "over_confidence", "variation": "spelling", "is_loss": False}
    assert only(ask(search_decisions, trials).numbers, **wanted).estimate.value == 1
    assert only(ask(search_decisions, trials, need="original").numbers, **wanted).estimate.value == 0


FORMS = ("closed_book", "closed_book(n_examples=4)", "closed_book(n_examples=6)")


@pytest.mark.parametrize(
    ("method", "closed_book", "needed"),
    [
        # dragin has six worked examples, so its need is told by the closed book that has six: it alone is wrong.
        ("dragin", "closed_book(n_examples=6)", 1.0),
        ("dragin(n_examples=4)", "closed_book(n_examples=4)", 0.0),
        ("single_retrieval(k=3, n_examples=6)", "closed_book(n_examples=6)", 1.0),
        ("single_retrieval(k=3)", "closed_book", 0.0),
        # No closed book is asked like these: the one with the most worked examples.
        ("flare(n_examples=8)", "closed_book(n_examples=6)", 1.0),
        ("search_o1(n_examples=3)", "closed_book(n_examples=6)", 1.0),
    ],
)
def test_no_retrieval_is_the_closed_book_that_is_asked_like_the_system(
    method: str, closed_book: str, needed: float
) -> None:
    trials = [trial("q", method=method, n_searches=0), trial("p", method=method, n_searches=0)]
    for form, right in zip(FORMS, (1.0, 1.0, 0.0), strict=True):
        trials += [trial(name, correct=right, **NO_RETRIEVAL | {"method": form}) for name in ("q", "p")]
    found = ask(search_decisions, trials)
    assert only(found.numbers, metric="need").estimate.value == needed
    assert only(found.numbers, metric="over_confidence").estimate.value == needed
    assert only(ask(outcomes, trials).numbers, metric="helpful").estimate.value == needed
    is_alike = not method.startswith(("flare", "search_o1"))
    for result in (found, ask(outcomes, trials)):
        (chosen,) = {own for own in result.closed_books if own.system.method == method}
        assert (chosen.method, chosen.is_alike) == (closed_book, is_alike)


def test_a_closed_book_that_is_named_with_its_settings_is_taken() -> None:
    trials = [trial("q", method="dragin", n_searches=0)]
    for form, right in zip(FORMS, (0.0, 0.0, 1.0), strict=True):
        trials.append(trial("q", correct=right, **NO_RETRIEVAL | {"method": form}))
    assert only(ask(search_decisions, trials, closed_book="closed_book").numbers, metric="need").estimate.value == 0.0
    assert only(ask(search_decisions, trials, closed_book=FORMS[1]).numbers, metric="need").estimate.value == 1.0


def test_without_closed_book_answers_need_is_not_known() -> None:
    row = only(ask(search_decisions, [trial("q", n_searches=1)]).numbers, metric="over_confidence")
    assert row.estimate.value is None and "closed_book was not asked" in row.estimate.reason


def flipping(repeats: int = 1) -> list[dict[str, Any]]:
    """By hand: original 1 0 1 0; rewrites (1,0), (1,1), (0,0), (0,0)."""
    trials = []
    for i, (before, *after) in enumerate(((1, 1, 0), (0, 1, 1), (1, 0, 0), (0, 0, 0))):
        for repeat in range(repeats):
            trials.append(trial(f"q{i}", n_searches=before, repeat=repeat))
            for wording, n in zip("xy", after, strict=True):
                trials.append(trial(f"q{i}", "rewrites(path='r')", wording=wording, n_searches=n, repeat=repeat))
    return trials


def test_flips_by_hand() -> None:
    found = ask(search_decisions, flipping())
    assert only(found.numbers, metric="flip_any").estimate.value == pytest.approx(0.75)
    assert only(found.numbers, metric="flip_pair").estimate.value == pytest.approx(0.625)
    noise = only(found.numbers, metric="noise_any")
    assert noise.estimate.value is None and "too few runs" in noise.estimate.reason


def test_no_flip_of_any_question_is_not_never() -> None:
    trials = [
        trial(f"q{i}", wording, repeat=repeat, n_searches=1)
        for i in range(10)
        for wording in ("original", "spelling")
        for repeat in range(2)
    ]
    found = ask(search_decisions, trials)
    never = binomtest(0, 10).proportion_ci(0.95, method="exact").high
    for metric, low in (("flip_any", 0.0), ("noise_any", 0.0), ("excess_any", -never)):
        row = only(found.numbers, metric=metric, variation="spelling")
        assert (row.estimate.value, row.estimate.low, row.estimate.high) == pytest.approx((0.0, low, never))


def test_what_repeats_do_alone_is_taken_off_the_flips() -> None:
    steady = ask(search_decisions, flipping(repeats=3))
    assert only(steady.numbers, metric="noise_any").estimate.value == 0
    assert only(steady.numbers, metric="excess_any").estimate.value == pytest.approx(0.75)
    trials = flipping(repeats=3)
    for one in trials:  # One run of the first question's original does otherwise.
        if (one["question_id"], one["variation"], one["repeat"]) == ("q0", "original", 2):
            one["n_searches"] = 0
    shaken = ask(search_decisions, trials)
    # Of three runs one differs: 2/3 of the pairs, and always one of two others.
    assert only(shaken.numbers, metric="noise_pair").estimate.value == pytest.approx(2 / 3 / 4)
    assert only(shaken.numbers, metric="noise_any").estimate.value == pytest.approx(1 / 4)


def test_outcomes_sum_to_one() -> None:
    rights = ((0, 1), (1, 0), (1, 1), (0, 0), (0, 1))
    trials = [trial(f"q{i}", correct=float(after), n_searches=1) for i, (_, after) in enumerate(rights)]
    trials += [trial(f"q{i}", correct=float(before), **NO_RETRIEVAL) for i, (before, _) in enumerate(rights)]
    found = {number.metric: number.estimate.value for number in ask(outcomes, trials).numbers}
    assert found == {
        name: pytest.approx(v)
        for name, v in zip(("helpful", "harmful", "stable", "unhelpful", "net"), (0.4, 0.2, 0.2, 0.2, 0.2), strict=True)
    }


# --- searches -------------------------------------------------------------------------------------


def drifting() -> tuple[list[dict[str, Any]], Any]:
    """By hand: {a b c}, {d e f} against {a b x}, {g h i}; similarities of queries 1 and 0.6, hits 1 and 0."""
    before, after = trial("q", n_searches=2), trial("q", "spelling", n_searches=3)
    made_ = searches(
        (before, [("1,0", "abc", True), ("1,0", "def", True)]),
        (after, [("1,0", "abx", True), ("0.6,0.8", "ghi", False), ("0,1", "k", False)]),
    )
    return [before, after], made_


def test_trajectories_by_hand() -> None:
    trials, made_ = drifting()
    found = ask(trajectories, trials, searches=made_)
    row = functools.partial(only, found.numbers, variation="spelling", is_loss=False, hop=None)
    assert row(metric="mss").estimate.value == pytest.approx(0.8)
    assert row(metric="collapse").estimate.value == pytest.approx(0.75)
    assert row(metric="disjoint").estimate.value == pytest.approx(0.5)
    assert row(metric="rfr").estimate.value == pytest.approx(2 / 3)
    assert only(found.numbers, variation="original", metric="rfr", is_loss=False).estimate.value == 0
    assert only(found.numbers, variation="spelling", metric="mss", hop=2).estimate.value == pytest.approx(0.6)
    assert [only(found.numbers, variation="spelling", metric="gold", hop=hop).estimate.value for hop in (1, 2, 3)] == [
        1,
        0,
        0,
    ]
    zero = ask(trajectories, trials, searches=made_, missing_hops="zero")
    assert only(zero.numbers, variation="spelling", metric="mss", hop=None).estimate.value == pytest.approx(1.6 / 3)


def test_hops_of_questions_without_known_documents_are_in_no_failure_rate() -> None:
    before, after = trial("q", n_searches=1), trial("q", "spelling", n_searches=1)
    found = ask(
        trajectories, [before, after], searches=searches((before, [("a", "a", None)]), (after, [("b", "a", None)]))
    )
    assert (
        only(found.numbers, metric="rfr", variation="spelling", is_loss=False).estimate.reason
        == "no question has a value"
    )
    assert only(found.numbers, metric="collapse").estimate.value == 0


def test_the_chain_correlates_wordings() -> None:
    # Queries of questions with higher numbers drift more and find less: rho is -1 from similarity to failure.
    trials, made_ = [], []
    for i in range(5):
        before = trial(f"q{i}", n_searches=2)
        after = trial(f"q{i}", "human", wording="w " * (9 - i), n_searches=2, correct=1.0)
        trials += [before, after]
        hops = [("1,0", "a", True), ("1,0", "b", True)]
        made_ += [(before, hops), (after, [(f"1,{i / 4}", "a" if i < 3 else "z", i < 4), ("1,0", "b", i < 2)])]
    found = ask(drift_chain, trials, searches=searches(*made_))
    assert only(found.correlations, first="length", second="mss").rho.value == pytest.approx(1)
    # RFR is 0 0 .5 .5 1: spearmanr((5, 4, 3, 2, 1), (0, 0, .5, .5, 1)) = -0.9487.
    assert only(found.correlations, first="mss", second="rfr").rho.value == pytest.approx(-0.948683, abs=1e-6)
    assert only(found.correlations, first="rfr", second="gap").rho.reason.startswith(
        "fewer than three wordings, or one side does not vary"
    )
    assert only(found.correlations, first="loss", second="mss").rho.reason.startswith("query_loss was not scored")


# --- what runs of the same wording do ---------------------------------------------------------------


def test_the_noise_of_similarity_and_diversity_by_hand() -> None:
    """Runs of the original (1,0), (.6,.8), (0,1): cosines .6, 0, .8. Misspelled always (1,0)."""
    trials = [trial("q", repeat=run, answer=answer) for run, answer in enumerate(("1,0", "0.6,0.8", "0,1"))]
    trials += [trial("q", "spelling", repeat=run, answer="1,0") for run in range(3)]
    found = ask(consistency, trials).numbers
    values = {number.metric: number.estimate.value for number in found if number.metric != "empty"}
    assert values == {
        "similarity": pytest.approx(1.6 / 3),
        "noise_similarity": pytest.approx(1.4 / 3),
        "excess_similarity": pytest.approx(0.2 / 3),
        "diversity": pytest.approx(1 - 1.6 / 3),
        "noise_diversity": pytest.approx(1 - 1.4 / 3),
        "excess_diversity": pytest.approx(-0.2 / 3),
    }
    assert only(found, metric="noise_similarity").n_runs == 3


def test_the_noise_of_costs_by_hand() -> None:
    """Runs of the original search 1 and 3 times: changed by 2/1 and by 2/3, steadiness 1 / (1 + 2/4)."""
    trials = [trial("q", repeat=run, n_searches=n) for run, n in enumerate((1, 3))]
    trials += [trial("q", "spelling", repeat=run, n_searches=n) for run, n in enumerate((1, 1))]
    found = ask(cost_stability, trials).numbers
    assert only(found, metric="re_searches").estimate.value == pytest.approx((0 + 2 / 3) / 2)
    assert only(found, metric="noise_re_searches").estimate.value == pytest.approx((2 + 2 / 3) / 2)
    assert only(found, metric="excess_re_searches").estimate.value == pytest.approx(-1)
    assert only(found, metric="cvr_pair_searches").estimate.value == pytest.approx((1 + 2 / 3) / 2)
    assert only(found, metric="noise_cvr_pair_searches").estimate.value == pytest.approx(2 / 3)
    assert only(found, metric="excess_cvr_pair_searches").estimate.value == pytest.approx(1 / 6)


def test_the_noise_of_drift_by_hand() -> None:
    first, second = (trial("q", n_searches=1, repeat=run) for run in range(2))
    third, fourth = (trial("q", "spelling", n_searches=1, repeat=run) for run in range(2))
    made_ = searches(
        (first, [("1,0", "abc", True)]),
        (second, [("0.6,0.8", "abx", True)]),
        (third, [("0,1", "xyz", True)]),
        (fourth, [("0.6,0.8", "abx", True)]),
    )
    found = ask(trajectories, [first, second, third, fourth], searches=made_).numbers
    row = functools.partial(only, found, hop=None)
    assert row(metric="mss").estimate.value == pytest.approx(0.5)
    assert row(metric="noise_mss").estimate.value == pytest.approx(0.6)
    assert row(metric="excess_mss").estimate.value == pytest.approx(-0.1)
    assert row(metric="noise_collapse").estimate.value == pytest.approx(0.5)
    assert row(metric="excess_collapse").estimate.value == pytest.approx(0.0)


@pytest.mark.parametrize("analysis", [consistency, cost_stability, trajectories], ids=lambda one: one.__name__)
def test_of_one_run_there_is_no_noise_and_no_excess(analysis: Analysis) -> None:
    trials, made_ = several()
    found = ask(analysis, [one for one in trials if one["repeat"] == 0], made_).numbers
    beside = [number for number in found if number.metric.startswith(("noise_", "excess_"))]
    assert beside
    for number in beside:
        assert number.estimate.value is None and number.estimate.reason.startswith("too few runs of the original")


def test_a_rewording_that_does_nothing_exceeds_nothing() -> None:
    """Answers and searches drawn alike for both wordings: the excess is 0 on average, whatever the number."""
    rng = np.random.default_rng(3)
    names = ("original", "spelling", "grammar", "formality")
    trials, made_ = [], []
    for i, name, run in itertools.product(range(150), names, range(2)):
        answer = ("1,0", "0.6,0.8", "0,1")[rng.choice(3, p=(0.5, 0.2, 0.3))]
        n, calls = rng.integers(1, 4, 2).tolist()
        one = trial(f"q{i}", name, repeat=run, answer=answer, n_searches=n, n_generations=calls)
        trials.append(one)
        made_.append((one, [(answer, "abc"[: rng.integers(1, 4)], True)] * one["n_searches"]))
    tables = tables_of(trials, searches=searches(*made_))
    found = [number for analysis in (consistency, cost_stability, trajectories) for number in analysis(tables).numbers]
    excesses = [number.estimate for number in found if number.metric.startswith("excess_")]
    assert len(excesses) == 18
    for excess in excesses:
        error = (excess.high - excess.low) / 4
        assert abs(excess.value) < 4 * error


# --- the wordings ---------------------------------------------------------------------------------


def test_wordings_count_once_however_often_they_are_asked() -> None:
    trials = [trial(f"q{i}", wording="one two three", repeat=r) for i in range(2) for r in range(2)]
    trials += [trial(f"q{i}", "human", wording="one", repeat=r, **NO_RETRIEVAL) for i in range(2) for r in range(2)]
    found = ask(query_difficulty, trials)
    lost = only(found.numbers, metric="query_words", variation="human", is_loss=True)
    assert (lost.estimate.value, lost.estimate.n, lost.cell.system) == (2, 2, System(model="m"))
    assert only(found.numbers, metric="query_loss").estimate.reason.startswith("query_loss was not scored")


# --- what all of them promise ----------------------------------------------------------------------


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.__name__)
def test_the_order_of_records_changes_nothing(analysis: Analysis) -> None:
    trials, made_ = several()
    result = ask(analysis, trials, made_)
    assert any(estimate_of(number).value is not None for number in numbers_of(result))
    assert ask(analysis, trials[::-1], made_.reverse()) == result


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.__name__)
def test_every_number_has_its_system_and_a_reason_where_it_has_no_value(analysis: Analysis) -> None:
    for number in numbers_of(ask(analysis, *several())):
        assert (number.cell.system.model, number.cell.dataset) == ("m", "squad")
        estimate = estimate_of(number)
        assert (estimate.value is None) is (estimate.reason is not None)


def without_failed(number: Any) -> Any:
    """How many failed and what they might have scored are told beside a number, and are no part of it."""
    nothing = {} if isinstance(number, Correlation) else {"worst_low": None, "worst_high": None}
    return replace(number, n_failed=0, **nothing)


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.__name__)
def test_a_failed_trial_changes_no_number_by_being_listed(analysis: Analysis) -> None:
    trials, made_ = several()
    results = [ask(analysis, trials, made_), ask(analysis, [t for t in trials if t["answer"]], made_)]
    first, second = ([without_failed(number) for number in numbers_of(result)] for result in results)
    assert first == second
    # A wording counts once, by a trial of it that did not fail.
    assert any(number.n_failed for number in numbers_of(results[0])) is (analysis is not query_difficulty)


@pytest.mark.parametrize("analysis", EVERY[1:], ids=lambda one: one.__name__)
def test_without_records_an_analysis_says_what_it_needs(analysis: Analysis) -> None:
    result = analysis(Tables(scores=made(several()[0])[0]))
    assert not numbers_of(result) and "records()" in result.reason


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.__name__)
def test_without_the_original_wording_nothing_is_compared(analysis: Analysis) -> None:
    trials, made_ = several()
    result = ask(analysis, [one for one in trials if one["variation"] != "original"], made_)
    if analysis is drift_chain:
        assert not any(link.rho.value for link in result.correlations)
        return
    compared = [
        number.estimate
        for number in result.numbers
        if (number.is_loss or number.metric in ("similarity", "flip_any", "mss")) and not number.hop
    ]
    assert not any(estimate.value for estimate in compared)
    if analysis in (wording_accuracy, consistency, search_decisions, trajectories):
        assert {estimate.reason for estimate in compared} == {
            "the original wording was not asked; add original to the variations"
        }


NEEDS_VECTORS = ("similarity", "diversity", "query_similarity", "mss")


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.__name__)
def test_without_the_encoder_nothing_fails(analysis: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise WeightsError(f"Weights '{name}' are not here. shaketable models fetch {name}.")

    monkeypatch.setattr(vectors, "encoder", missing)
    result = ask(analysis, *several())
    if analysis is drift_chain:
        unmeasured = [link.rho for link in result.correlations if "mss" in (link.first, link.second)]
        unmeasured = [rho for rho in unmeasured if not rho.reason.startswith("query_loss")]
    else:
        unmeasured = [number.estimate for number in result.numbers if number.metric in NEEDS_VECTORS]
        assert any(number.estimate.value is not None for number in result.numbers)
    assert all(estimate.value is None for estimate in unmeasured)
    assert all(estimate.reason.startswith("not measured: Weights 'all-MiniLM-L6-v2'") for estimate in unmeasured)


def test_a_system_on_two_datasets_has_a_row_for_both_together() -> None:
    # The same ids in both: 3 of 4 correct in one, 1 of 2 in the other, so 4 of 6 in all.
    trials = [trial(f"q{i}", correct=float(i < 3)) for i in range(4)]
    trials += [trial(f"q{i}", correct=float(i < 1), dataset="nq", wording=f"{i}?") for i in range(2)]
    found = ask(wording_accuracy, trials)
    shares = {number.cell.dataset: (number.estimate.value, number.estimate.n) for number in found.numbers}
    assert shares == {"squad": (0.75, 4), "nq": (0.5, 2), None: (pytest.approx(4 / 6), 6)}


def test_over_confidence_of_the_original_wording_alone_is_not_compared() -> None:
    trials = [trial(f"q{i}", correct=0.0, **NO_RETRIEVAL) for i in range(4)]
    trials += [trial(f"q{i}", name, n_searches=int(i < 2)) for name in ("original", "spelling") for i in range(4)]
    found = ask(search_decisions, trials)
    assert only(found.numbers, metric="over_confidence", variation="original").estimate.value == 0.5
    assert only(found.numbers, metric="over_confidence", variation="spelling", is_loss=False).estimate.value is None
