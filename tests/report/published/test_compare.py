"""A run beside the published studies: what agrees, what differs, and what cannot be said."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from few_resamples import few_tables
from made_facts import fact_tables, made_facts
from made_studies import FORGIVING, STUDY
from made_wordings import tables_of, trial
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.ranking import ranking
from shaketable.analyses.facts.breaking import breaking
from shaketable.analyses.facts.fact_accuracy import fact_accuracy
from shaketable.analyses.facts.factual_robustness import factual_robustness
from shaketable.analyses.facts.question_types import question_types
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.cli.app import app
from shaketable.factors import Labels
from shaketable.report.published import context_temperature, query_variation
from shaketable.report.published import factual_robustness as facts
from shaketable.report.published.comparison import Own, format_own
from shaketable.report.published.verdicts import exactly, least, ordered, signed, within
from shaketable.study import load_study, shipped_studies
from shaketable.types import Estimate, Finding, Findings, Study

TEMPERATURES = [round(0.2 * step, 1) for step in range(11)]
# Section 12.3 of the specification: a curve like that of GPT, whose ceiling and hinge are 1.4.
GPT_LIKE = dict(
    zip(TEMPERATURES, (0.962, 0.961, 0.962, 0.960, 0.961, 0.960, 0.958, 0.953, 0.905, 0.830, 0.760), strict=True)
)
COSTS = {"unchanged": 0.0, "entity_masking": 0.0001, "sentence_removal": 0.0004, "sentence_replacement": 0.0004}


def span(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=10, level=0.95, how="")


def own(study: Study, main_metric: str, *results: object) -> Own:
    findings = tuple(Finding(analysis="", result=result) for result in results)
    return Own(study=study, findings=Findings(main_metric=main_metric, findings=findings), labels=Labels())


def curves(model: str, levels: dict[float, float], hot_costs: float = 1.0) -> pl.DataFrame:
    """40 questions of two types with four kinds of evidence; what a disturbance costs grows when it is hot."""
    rng = random.Random(1)
    rows: list[dict[str, Any]] = []
    for i in range(40):
        own_level = rng.gauss(0, 0.002)
        for perturbation, cost in COSTS.items():
            for temperature, level in levels.items():
                rows.append(
                    {
                        "key": f"{i}/{perturbation}/{temperature}", "question_id": f"q{i}", "dataset": "hotpotqa",
                        "type": "bridge" if i % 2 else "comparison", "n_facts": 2, "model": model,
                        "method": "single_retrieval", "retriever": "gold", "perturbation": perturbation,
                        "variation": "original", "temperature": temperature, "repeat": 0, "metric": "bertscore",
                        "value": level + own_level - cost * (1 + hot_costs * temperature) + rng.gauss(0, 0.0005),
                        "reason": None,
                    }
                )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"reason": pl.String})


# --- verdicts ---------------------------------------------------------------------------------------


def test_only_intervals_that_lie_apart_decide_an_order() -> None:
    assert ordered(span(1, 0.9, 1.1), span(2, 1.9, 2.1))[0] == "agrees"
    assert ordered(span(2, 1.9, 2.1), span(1, 0.9, 1.1))[0] == "differs"
    assert ordered(span(1, 0.9, 1.6), span(2, 1.5, 2.1)) == ("cannot be said", "the intervals overlap")
    assert ordered(exactly(None), span(1, 0, 2))[0] == "cannot be said"


def test_a_sign_is_told_only_where_the_interval_leaves_out_zero() -> None:
    assert signed(span(-0.3, -0.5, -0.1), -1)[0] == "agrees"
    assert signed(span(-0.3, -0.5, -0.1), 1)[0] == "differs"
    assert signed(span(-0.3, -0.5, 0.1), -1) == ("cannot be said", "the interval holds 0")


def test_the_least_of_several_lies_apart_from_all() -> None:
    spans = {"a": span(1, 0.9, 1.1), "b": span(2, 1.9, 2.1), "c": span(3, 2.9, 3.1)}
    assert least(spans, "a")[0] == "agrees" and least(spans, "c", -1)[0] == "agrees"
    assert least(spans, "b") == ("differs", "a lies beyond it")
    assert least(spans | {"b": span(2, 1.0, 2.1)}, "a")[0] == "cannot be said"
    assert least({"a": span(1, 0.9, 1.1)}, "a")[0] == "cannot be said"


def test_a_published_number_is_met_inside_the_interval_alone() -> None:
    assert within(span(0.76, 0.75, 0.77), 0.761)[0] == "agrees"
    assert within(span(0.70, 0.69, 0.71), 0.761)[0] == "differs"


def test_a_number_of_the_run_is_told_with_what_it_has() -> None:
    assert format_own(span(0.75, 0.7, 0.8)) == "0.75 [0.7, 0.8], n = 10"
    assert format_own(replace(span(0.75, 0.7, 0.8), low=None, high=None)) == "0.75, n = 10"
    assert format_own(exactly(None)) == format_own(None) == ""


def test_what_a_run_cannot_say_has_the_reason_of_its_own_number() -> None:
    nothing = replace(exactly(None), reason="fewer than two questions")
    for judgement in (ordered(nothing, span(1, 0, 2)), signed(nothing, 1), within(nothing, 0.5)):
        assert judgement == ("cannot be said", "fewer than two questions")


# --- the studies --------------------------------------------------------------------------------------


def context(model: str, **more: Any) -> dict[str, Any]:
    study = load_study("published/context_temperature")
    tables = few_tables(curves(model, GPT_LIKE, **more), n_resamples=199)
    found = own(study, "bertscore", correctness(tables), guidelines(tables, margin=0.01), ranking(tables))
    return {one.claim: one for claim in context_temperature.CLAIMS for one in claim(found)}


def test_a_run_like_the_published_one_agrees_with_it() -> None:
    said = context("openai(model='gpt-4o')")
    assert said["Mean BERTScore below temperature 1.4"].verdict == "agrees"
    assert said["Answers begin to get worse at this temperature"].verdict == "agrees"
    assert said["The highest temperature that loses no more than the margin"].verdict == "agrees"
    assert said["At temperature 2 masked entities cost least of the three disturbances"].verdict == "agrees"
    # At 1.4 the mean loss of the worked example, .009, does not exceed the margin of .01.
    assert said["Up to temperature 0.6 little is lost, from 1.4 on much"].verdict == "differs"
    assert said["Bridge questions score above comparison questions"].verdict == "cannot be said"


def test_a_model_that_is_not_in_the_study_is_not_comparable() -> None:
    said = context("smollm2")
    level = said["Mean BERTScore below temperature 1.4"]
    assert (level.verdict, level.reason) == ("not comparable", context_temperature.NO_MODEL)
    assert level.own.startswith("0.96")
    assert {one.verdict for one in said.values()} == {"not comparable"}


def test_a_run_unlike_the_published_one_differs_from_it() -> None:
    said = context("transformers(path='meta-llama/Llama-3.1-8B-Instruct')")
    assert said["Mean BERTScore below temperature 1.4"].verdict != "agrees"
    assert said["Answers begin to get worse at this temperature"].verdict == "differs"


def three_datasets(table: pl.DataFrame) -> pl.DataFrame:
    names = ("squad", "triviaqa", "hotpotqa")
    return pl.concat(table.with_columns(dataset=pl.lit(name), key=pl.lit(name) + pl.col("key")) for name in names)


def test_scores_of_models_in_the_table_stand_beside_their_printed_ones() -> None:
    table = three_datasets(made_facts(n=30, temperatures=(0.4, 1.0, 1.6), repeats=4)).with_columns(
        model=pl.lit("transformers(path='Qwen/Qwen2.5-14B-Instruct')")
    )
    result = factual_robustness(fact_tables(table, n_resamples=99))
    study = load_study("published/factual_robustness")
    said = list(facts.mean_score(own(study, "contains", result)))
    assert {one.published for one in said if one.claim == "Mean FRS, d = 1"} == {"Qwen-14b 0.935 (three datasets)"}
    assert {one.verdict for one in said} <= {"agrees", "differs"}, said
    pooled = [mean for mean in result.scores if mean.is_capped and mean.cell.dataset is None]
    for one, mean in zip(said, pooled, strict=True):
        printed = float(one.published.split()[1])
        assert (one.verdict == "agrees") == (mean.score.low <= printed <= mean.score.high)


def test_the_other_claims_on_facts_are_laid_beside_every_system() -> None:
    tables = fact_tables(three_datasets(made_facts(models=("smollm2", "Qwen2.5-3B"), n=24)), n_resamples=99)
    results = own(
        load_study("published/factual_robustness"),
        "contains",
        *(analysis(tables) for analysis in (breaking, fact_accuracy, question_types)),
    )
    claims = [facts.entropy_foretells, facts.small_models_collapse, facts.numbers_hold_and_people_break]
    said = [one for claim in claims for one in claim(results)]
    assert {one.verdict for one in said if one.system == "smollm2"} == {"not comparable"}
    foretold = next(one for one in said if one.claim.startswith("The higher the entropy") and "Qwen" in one.system)
    assert (foretold.verdict, foretold.own[:3]) == ("agrees", "−0.")


def test_misspelling_that_costs_is_said_to_cost_and_the_count_of_rows_is_that_of_the_table() -> None:
    trials = [
        trial(
            f"q{i}", variation, correct=float(variation == "original" or i % 4 == 0), model="QwQ-32B", temperature=0.7
        )
        for i in range(24)
        for variation in ("original", "spelling")
    ]
    finding = wording_accuracy(tables_of(trials))
    (one,) = query_variation.misspelling_costs(own(load_study("query_variation"), "contains", finding))
    assert one.verdict == "agrees" and one.own.startswith("0.75")
    # Section 10 of the specification: spelling least similar in 38, imperative most similar in 29 of the 45 sound rows.
    assert query_variation._count("spelling", 1) == "38 of 45"
    assert query_variation._count("imperative", -1) == "29 of 45"
    # The same section: mean RE of QwQ-32B.
    printed = dict(part.rsplit(" ", 1) for part in query_variation._printed_changes().partition(": ")[2].split(", "))
    expected = {"SQuAD": 0.331, "2WIKI": 0.812, "HotpotQA": 0.790, "MuSiQue": 0.846}
    assert {name: float(printed[name]) for name in expected} == pytest.approx(expected, abs=6e-4 + 5e-4)


# --- the command and the files ------------------------------------------------------------------------


def test_the_command_gives_every_claim_a_verdict_and_a_reason(tmp_path: Path) -> None:
    analyses = '\n[analyze]\nanalyses = ["correctness", "guidelines", "ranking", "variability"]\n'
    (tmp_path / "small.toml").write_text(STUDY + analyses)
    runner = CliRunner()
    run = runner.invoke(
        app, ["run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "run"), *FORGIVING, "--json"]
    )
    assert run.exit_code == 0, run.output
    said = runner.invoke(app, ["compare-published", str(tmp_path / "run"), "--json"])
    assert said.exit_code == 0, said.output
    compared = json.loads(said.stdout)["studies"]
    assert list(compared) == ["context_temperature"]
    assert {one["verdict"] for one in compared["context_temperature"]} <= {"cannot be said", "not comparable"}
    assert all(one["reason"] for one in compared["context_temperature"])
    shown = runner.invoke(app, ["compare-published", str(tmp_path / "run"), "context_temperature"])
    assert "not comparable" in shown.stdout
    refused = runner.invoke(app, ["compare-published", str(tmp_path / "run"), "context_temprature"])
    assert refused.exit_code == 2 and "Did you mean 'context_temperature'?" in refused.stderr


PUBLISHED = [name for name in shipped_studies() if name.startswith("published/")]


@pytest.mark.parametrize("name", ["context_temperature", "factual_robustness", "query_variation"])
def test_every_study_ships_as_published_and_as_one_that_runs_here(name: str) -> None:
    assert {f"published/{name}", f"published/{name}_small"} <= set(PUBLISHED)


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.parametrize("name", ["context_temperature", "factual_robustness", "query_variation"])
def test_the_small_one_runs_to_its_report_and_is_laid_beside_the_paper(name: str, tmp_path: Path) -> None:
    runner = CliRunner()
    run = runner.invoke(app, ["run", f"published/{name}_small", "--out", str(tmp_path / "run"), *FORGIVING, "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["failed"] == 0 and (tmp_path / "run" / "report.html").is_file()
    said = json.loads(runner.invoke(app, ["compare-published", str(tmp_path / "run"), name, "--json"]).stdout)
    assert said["studies"][name] and all(one["reason"] for one in said["studies"][name])


def test_the_published_context_study_has_its_models_and_settings() -> None:
    study = load_study("published/context_temperature")
    assert (len(study.models), len(study.temperatures), study.repeats) == (5, 11, 3)
    assert study.generation["library_defaults"] is True and study.generation["max_tokens"] == 1000
    assert (study.main_metric, study.margin) == ("bertscore", 0.01)


def test_the_published_fact_study_has_its_models_and_settings() -> None:
    study = load_study("published/factual_robustness")
    assert (len(study.models), len(study.datasets), len(study.temperatures), study.repeats) == (5, 3, 10, 10)
    assert study.scan is not None and (study.scan.limit, study.scan.threshold) == (1000, 0.5)
    assert study.generation["max_tokens"] == 5


def test_the_published_wording_study_has_its_systems_and_settings() -> None:
    study = load_study("published/query_variation")
    assert (len(study.models), len(study.datasets), len(study.methods), len(study.variations)) == (2, 6, 4, 7)
    assert (study.temperatures, study.repeats) == ((0.7,), 3)
    assert (study.generation["top_p"], study.generation["top_k"]) == (0.8, 20)
    for kind, texts in (("method", study.methods), ("variation", study.variations), ("model", study.models)):
        for text in texts:
            catalog.build(kind, text)
