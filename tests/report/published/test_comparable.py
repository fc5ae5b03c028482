"""A published number is judged only for the same model, method, dataset, encoder, metric, wordings and runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shaketable.analyses.evidence.dominance import Dominance, Weighing
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.onsets import Onset
from shaketable.analyses.facts.factual_robustness import FactualRobustness, KnownShare, MeanScore
from shaketable.analyses.facts.reading import BY_SCAN
from shaketable.analyses.wording.consistency import Consistency
from shaketable.analyses.wording.cost_stability import CostStability
from shaketable.analyses.wording.drift_chain import Correlation, DriftChain
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.factors import Cell, Labels, System
from shaketable.report.published import context_temperature, factual_robustness, query_variation
from shaketable.report.published.comparison import Comparison, Own
from shaketable.report.published.verdicts import inside
from shaketable.study import load_study
from shaketable.types import Estimate, Finding, Findings, Study

WORDINGS = ("formality", "readability", "declarative", "imperative", "spelling", "grammar")
QWQ = System(model="QwQ-32B", method="search_o1", retriever="bm25")
PLACE = Cell(dataset="squad", system=QWQ, perturbation="unchanged", temperature=0.7)


def span(value: float | None, low: float, high: float, n: int = 500, unit: Any = "score") -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, level=0.95, how="", unit=unit)


def own(study: Study, *results: object, metric: str = "contains") -> Own:
    findings = tuple(Finding(analysis="", result=result) for result in results)
    return Own(study=study, findings=Findings(main_metric=metric, findings=findings), labels=Labels())


def number(metric: str, estimate: Estimate, variation: str | None = "spelling", **more: Any) -> WordingNumber:
    cell = replace(more.pop("cell", PLACE), variation=variation)
    return WordingNumber(cell=cell, metric=metric, estimate=estimate, n_failed=0, **more)


def study(**changes: Any) -> Study:
    return replace(load_study("published/query_variation"), **changes)


# --- how wordings change answers and searches ---------------------------------------------------------


def similarity(
    *, value: float = 0.552, encoder: str = "all-mpnet-base-v2", cell: Cell = PLACE, variation: str = "spelling"
) -> Comparison:
    """Table of similarities, QwQ-32B, SQuAD, GB, spelling."""
    estimate = span(value, value - 0.01, value + 0.01)
    result = Consistency(encoder=encoder, numbers=(number("similarity", estimate, variation, cell=cell),))
    return next(iter(query_variation.similarity(own(study(), result))))


def printed(column: str = "spell") -> float:
    rows = query_variation.table("answer_similarity").filter(model="QwQ-32B", dataset="SQuAD", method="GB")
    return float(rows[column][0])


def test_the_same_protocol_is_judged() -> None:
    assert similarity(value=printed()).verdict == "agrees"
    assert similarity(value=printed() - 0.2).verdict == "differs"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"encoder": "minilm"}, "encoder all-mpnet-base-v2, this run by minilm"),
        ({"cell": replace(PLACE, temperature=0.0)}, "temperature 0.7"),
    ],
)
def test_another_protocol_never_differs(changes: dict[str, Any], reason: str) -> None:
    for value in (printed(), printed() - 0.2):
        judged = similarity(value=value, **changes)
        assert judged.verdict == "not comparable"
        assert reason in judged.reason


@pytest.mark.parametrize(
    ("model", "method", "dataset"),
    [("smollm2", "search_o1", "squad"), ("QwQ-32B", "flare", "squad"), ("QwQ-32B", "search_o1", "nq-open-own")],
)
def test_what_is_not_in_the_table_gets_no_number(model: str, method: str, dataset: str) -> None:
    cell = replace(PLACE, dataset=dataset.removeprefix("nq-"), system=System(model=model, method=method))
    result = Consistency(encoder="all-mpnet-base-v2", numbers=(number("similarity", span(0.5, 0.4, 0.6), cell=cell),))
    assert list(query_variation.similarity(own(study(), result))) == []


def test_another_model_of_the_family_is_another_model() -> None:
    """gpt-4o-mini is none of the models of the context study, and gpt-4o none of the fact study's."""
    of = own(study())
    cell = Cell(system=System(model="openai(model='gpt-4o-mini')", method="single_retrieval"))
    assert of.model(cell, context_temperature.MODELS) is None
    assert of.model(cell, factual_robustness.MODELS) == "GPT-4o-mini"
    other = Cell(system=System(model="openai(model='gpt-4o')", method="recall"))
    assert of.model(other, factual_robustness.MODELS) is None
    assert of.model(other, context_temperature.MODELS) == "GPT"


def stability(wordings: tuple[str, ...], repeats: int, value: float = 0.2) -> list[Comparison]:
    numbers = [number("re_searches", span(0.9, 0.89, 0.91), name) for name in wordings]
    numbers.append(number("cvr_searches", span(value, value - 0.01, value + 0.01), None))
    results = CostStability(zero="one", steady="inverse", numbers=tuple(numbers))
    return list(query_variation.stability_of_searches(own(study(repeats=repeats), results)))


@pytest.mark.parametrize(
    ("wordings", "repeats", "verdict"),
    [(WORDINGS, 1, "differs"), (WORDINGS[:2], 1, "not comparable"), (WORDINGS, 3, "not comparable")],
)
def test_steadiness_is_judged_over_seven_wordings_of_one_run(
    wordings: tuple[str, ...], repeats: int, verdict: str
) -> None:
    [steadiness] = [one for one in stability(wordings, repeats) if one.claim == "CVR of searches"]
    assert steadiness.verdict == verdict
    if len(wordings) < 6:
        assert "7 wordings of a question, this run has 3" in steadiness.reason


def accuracy(metric: str, cell: Cell = PLACE, p: float = 0.0001) -> list[Comparison]:
    loss = number(metric, span(0.3, 0.2, 0.4, unit="share"), cell=cell, is_loss=True, p=p)
    result = WordingAccuracy(metrics=(metric,), numbers=(loss,))
    return list(query_variation.misspelling_costs(own(study(), result)))


def test_a_loss_of_another_metric_is_no_loss_of_inaccuracy() -> None:
    assert accuracy("rouge1") == []
    [judged] = accuracy("contains")
    assert judged.verdict == "agrees"
    [judged] = accuracy("contains", replace(PLACE, system=System(model="smollm2", method="search_o1")))
    assert judged.verdict == "not comparable"


def test_what_the_report_leaves_open_stays_open() -> None:
    """Its interval leaves out 0, and its p does not survive the family of the run."""
    [judged] = accuracy("contains", p=0.2)
    assert judged.verdict == "cannot be said"
    assert "undecided" in judged.reason


def chain(variation: str | None, dataset: str) -> list[Comparison]:
    link = Correlation(
        cell=replace(PLACE, variation=variation, dataset=dataset),
        first="loss",
        second="mss",
        rho=span(-0.3, -0.4, -0.2, unit="ratio"),
        p=0.0001,
        n_wordings=200,
        n_failed=0,
    )
    result = DriftChain(correct="contains", length="words", encoder="m", missing_hops="skip", correlations=(link,))
    return list(query_variation.chain(own(study(), result)))


def test_the_chain_is_that_of_rewrites_by_people() -> None:
    [people] = chain("human", "2wikimultihopqa")
    assert people.verdict == "agrees"
    [pooled] = chain(None, "2wikimultihopqa")
    assert (pooled.verdict, pooled.reason) == ("not comparable", "published of rewrites by people")
    [elsewhere] = chain("human", "squad")
    assert elsewhere.reason == "published of 2WIKI"


def test_a_dense_retriever_has_a_table_of_its_own() -> None:
    llama = System(model="Llama-3.1-8B", method="dragin", retriever="dense(encoder='facebook/contriever')")
    cell = replace(PLACE, system=llama, dataset="2wikimultihopqa")
    level = number("contains", span(0.376, 0.33, 0.42, unit="share"), "original", cell=cell)
    result = WordingAccuracy(metrics=("contains",), numbers=(level,))
    [judged] = query_variation.levels(own(study(), result))
    assert (judged.published, judged.verdict) == ("37.6 %", "agrees")
    [other] = query_variation.levels(own(study(metrics=("contains",)), result))
    assert other.verdict == "not comparable"


def test_people_have_numbers_of_their_own() -> None:
    judged = similarity(value=0.9, variation="human")
    rows = query_variation.table("answer_similarity_people").filter(model="QwQ-32B", dataset="SQuAD", method="GB")
    assert judged.published == f"{rows['human'][0]:g}"


# --- facts --------------------------------------------------------------------------------------------


def fact_scores(datasets: tuple[str, ...], repeats: int = 10) -> list[Comparison]:
    system = System(model="meta-llama/Llama-3.2-3B-Instruct", method="recall")
    cells = [Cell(dataset=name, system=system) for name in datasets]
    pooled = Cell(system=system) if len(cells) > 1 else cells[0]
    mean = MeanScore(
        cell=pooled, d=1, is_capped=True, score=span(0.5, 0.48, 0.52), n_missing=0, n_undecided=0, n_censored=None
    )
    known = tuple(KnownShare(cell=cell, metric="exact_match", share=span(1, 1, 1), n_missing=0) for cell in cells)
    result = FactualRobustness(
        d=(1,), reading=BY_SCAN, known=known, unbroken=(), scores=(mean,), shared=(), differences=(),
        rank_correlations=(), facts=(),
    )  # fmt: skip
    published = replace(load_study("published/factual_robustness"), repeats=repeats)
    return list(factual_robustness.mean_score(own(published, result)))


@pytest.mark.parametrize(
    ("datasets", "repeats", "verdict"),
    [
        (("squad", "triviaqa", "hotpotqa"), 10, "differs"),
        (("squad",), 10, "not comparable"),
        (("squad", "triviaqa", "hotpotqa", "mine"), 10, "not comparable"),
        (("squad", "triviaqa", "hotpotqa"), 3, "not comparable"),
    ],
)
def test_a_mean_over_three_datasets_is_judged_over_three(datasets: tuple[str, ...], repeats: int, verdict: str) -> None:
    [judged] = fact_scores(datasets, repeats)
    assert judged.verdict == verdict


# --- temperature --------------------------------------------------------------------------------------


def hotpot(model: str) -> Cell:
    return Cell(dataset="hotpotqa", system=System(model=model, method="single_retrieval"), perturbation="unchanged")


def fall(model: str, onset: Estimate, *, p: float = 0.0001, is_applied: bool = True) -> Comparison:
    result = Guidelines(
        metric="bertscore", margins=(), losses=(), pair_ceilings=(), ceilings=(), noise=(), choices=(),
        bound="interval",
        onsets=(
            Onset(
                cell=hotpot(model), metric="bertscore", onset=onset, slope=span(-0.1, -0.2, -0.05),
                loss=span(0.1, 0.08, 0.12), hottest=2.0, p=p, is_first=False, n_left_out=0, n_missing=0,
                worst_low=None, worst_high=None, is_applied=is_applied,
            ),
        ),
    )  # fmt: skip
    found = own(load_study("published/context_temperature"), result, metric="bertscore")
    [judged] = context_temperature.onset(found)
    return judged


NONE = Estimate(value=None, low=None, high=None, n=500, level=0.95, how="", reason="no decline was found")


@pytest.mark.parametrize(
    ("model", "onset", "verdict"),
    [
        ("gpt-4o", span(1.4, 1.2, 1.6), "agrees"),
        ("gpt-4o", span(0.8, 0.6, 1.0), "differs"),
        ("gpt-4o", Estimate(value=0.8, low=None, high=None, n=500, level=0.95, how=""), "cannot be said"),
        ("deepseek-reasoner", span(0.6, 0.4, 0.8), "differs"),
        ("deepseek-reasoner", NONE, "agrees"),
        ("smollm2", span(1.4, 1.2, 1.6), "not comparable"),
    ],
)
def test_an_onset_is_judged_by_its_interval(model: str, onset: Estimate, verdict: str) -> None:
    assert fall(model, onset).verdict == verdict


def test_an_onset_that_the_report_leaves_open_is_open() -> None:
    assert fall("gpt-4o", span(0.8, 0.6, 1.0), p=0.3).verdict == "cannot be said"


def test_dominance_takes_the_adjusted_claim_of_the_run() -> None:
    def judged(p: float, model: str = "gpt-4o") -> Comparison:
        weighing = Weighing(
            cell=hotpot(model), metric="bertscore", outcome="mean", temperature=span(0.9, 0.8, 1.0),
            evidence=span(0.3, 0.2, 0.4), interaction=span(0.1, 0.0, 0.2), difference=span(0.598, 0.114, 0.916, 12),
            p=p, n_left_out=0, n_missing=0, worst_low=None, worst_high=None,
        )  # fmt: skip
        result = Dominance(metric="bertscore", weighings=(weighing,))
        found = own(load_study("published/context_temperature"), result, metric="bertscore")
        [comparison] = context_temperature.temperature_dominates(found)
        return comparison

    assert judged(0.0001).verdict == "agrees"
    assert judged(0.2).verdict == "cannot be said"
    assert judged(0.0001, "deepseek-reasoner").verdict == "not comparable"


def test_a_range_is_met_by_the_mean_and_missed_by_the_interval() -> None:
    assert inside(span(0.96, 0.93, 0.99), 0.95, 0.97).verdict == "agrees"
    assert inside(span(0.94, 0.93, 0.96), 0.95, 0.97).verdict == "cannot be said"
    assert inside(span(0.90, 0.89, 0.91), 0.95, 0.97).verdict == "differs"
