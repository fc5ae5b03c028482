"""The chapter on facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import made_records
import pytest
from made_facts import fact_rows, known, made_curve, made_facts, scan, table_of
from stand_in_run import StandInRun

from shaketable.analyses.facts.breaking import breaking
from shaketable.analyses.facts.certainty_bins import certainty_bins
from shaketable.analyses.facts.fact_accuracy import fact_accuracy
from shaketable.analyses.facts.factual_robustness import factual_robustness
from shaketable.analyses.facts.latent_facts import latent_facts
from shaketable.analyses.facts.predict_breaking import predict_breaking
from shaketable.analyses.facts.question_types import question_types
from shaketable.analyses.facts.robustness_with_evidence import robustness_with_evidence
from shaketable.analyses.facts.weakest_facts import weakest_facts
from shaketable.report.facts_chapter import fact_blocks, fact_figures
from shaketable.stages.report import report
from shaketable.types import Completion, Event, Generate, Message, OldFinding, Question, Record

TABLE = made_facts(models=("smollm2", "gpt"), datasets=("squad", "triviaqa"), n=20)
CURVES = [
    made_curve(key, 1.5, position_losses=(0.1, 0.4), wrong=({"text": "<b>Lyon</b>", "probability": 0.2},))
    for key in TABLE.filter(metric="entropy")["key"]
]


@pytest.fixture(scope="module")
def found() -> list[OldFinding]:
    quick: dict[str, Any] = {"n_resamples": 50}
    return [
        fact_accuracy(TABLE, **quick),
        factual_robustness(TABLE, d=(1, 50), **quick),
        breaking(TABLE, **quick),
        certainty_bins(TABLE, **quick),
        question_types(TABLE, **quick),
        predict_breaking(TABLE, **quick),
        weakest_facts(TABLE, curves=CURVES, n=2, n_curves=1),
        latent_facts(TABLE, **quick),
    ]


@dataclass
class Store:
    """Every key asked for has a record that answered `New York` in two tokens."""

    def records(self, where: str = "1", *keys: str) -> list[Record]:
        completion = Completion(
            text="New York", finish_reason="length", n_prompt_tokens=1, n_tokens=2, seconds=0.0, tokens=("New", " York")
        )
        trace = (Event(step=Generate(messages=(Message(role="user", content="?"),)), reply=completion),)
        return [replace(made_records.record("New York", key=key), trace=trace) for key in keys]

    def questions(self) -> list[Question]:
        return []


def tables(found: list[OldFinding]) -> dict[str, Any]:
    return {table.title or block.name: table for block in fact_blocks(found, Store()) for table in block.tables}


def test_the_score_is_laid_out_as_in_the_study(found: list[OldFinding]) -> None:
    table = tables(found)["Mean score of known facts"]
    assert list(table.columns) == ["d", "gpt", "smollm2"]
    assert [row["d"] for row in table.rows] == ["1", "50"]
    (pooled,) = [
        row
        for row in found[1].rows
        if (row["kind"], row["system"], row["d"], row["dataset"]) == ("score", "gpt", 1, None)
    ]
    assert table.rows[0]["gpt"].startswith(f"{pooled['value']:.3f} [")


def test_scores_by_dataset_and_on_shared_facts_have_their_own_tables(found: list[OldFinding]) -> None:
    assert list(tables(found)["By dataset"].columns)[1:] == [
        "gpt · squad",
        "gpt · triviaqa",
        "smollm2 · squad",
        "smollm2 · triviaqa",
    ]
    assert "On the facts that all systems know" in tables(found)


def test_robustness_with_evidence_is_one_table_with_a_line_for_each_kind_of_evidence() -> None:
    with_evidence = {"method": "recall(k=5)", "retriever": "gold"}
    table = table_of(
        *(fact_rows(q, scores=known(0.25, right=0.0)) for q in "ab"),
        *(
            fact_rows(q, scores=known(0.1), shares=scan(at), **with_evidence, perturbation=perturbation)
            for q in "ab"
            for perturbation, at in (("unchanged", 1.0), ("sentence_removal", 0.2))
        ),
    )
    shown = tables([robustness_with_evidence(table, n_resamples=50)])["d = 1"]
    assert "spread" not in shown.columns  # One wording has none.
    # Worked by hand: wrong with H = .25 scores .6; the others are rows of the study's table.
    assert [(row["perturbation"], row["score"], row["gain"], row["loss"], row["n"]) for row in shown.rows] == [
        ("closed book", "0.600 [0.600, 0.600]", None, None, 2),
        ("gold, sentence removal", "0.666 [0.666, 0.666]", None, "0.0670 [0.0670, 0.0670]", 2),
        ("gold, unchanged", "0.733 [0.733, 0.733]", "0.133 [0.133, 0.133]", None, 2),
    ]


def test_the_weakest_facts_name_the_token_that_breaks_first(found: list[OldFinding]) -> None:
    rows = tables(found)["weakest_facts"].rows
    assert len(rows) == 4
    assert {(row["question"], row["answer"], row["token"], row["wrong"]) for row in rows} == {
        ("Who did it?", "New York", "2: “York”", "<b>Lyon</b>")
    }


@pytest.mark.slow
def test_every_figure_has_its_numbers(found: list[OldFinding]) -> None:
    figures = {figure.name: figure for figure in fact_figures(found)}
    assert set(figures) == {
        "facts_by_temperature",
        "robustness_scatter",
        "robustness_scatter_d50",
        "robustness_density",
        "robustness_surfaces",
        "entropy_by_breaking",
        "certainty_histogram",
        "type_ratios",
        "fragility_curves",
    }
    for figure in figures.values():
        assert figure.rows and set(figure.rows[0]) == set(figure.columns)
        assert figure.csv.splitlines()[0] == ",".join(figure.columns)
        assert figure.svg.startswith("<svg")
    assert [name for name, figure in figures.items() if not figure.is_on_page] == ["robustness_scatter_d50"]


def test_findings_without_facts_make_no_chapter() -> None:
    empty = [factual_robustness(TABLE.clear()), weakest_facts(TABLE.clear()), breaking(TABLE.clear())]
    assert fact_figures(empty) == []
    assert fact_blocks(empty, Store()) == []


def test_the_page_has_a_chapter_on_facts_and_takes_answers_as_text(found: list[OldFinding], tmp_path: Any) -> None:
    few = [factual_robustness(TABLE, d=(1,), n_resamples=50), replace(found[6], rows=found[6].rows[:4])]
    page = report(StandInRun(folder=tmp_path, found=few, table=TABLE)).read_text("utf-8")
    assert '<section id="facts"' in page
    assert "Which facts does it really hold?" in page
    assert "&lt;b&gt;Lyon&lt;/b&gt;" in page and "<b>Lyon</b>" not in page
    assert 'href="#factual_robustness"' in page
    assert (tmp_path / "figures" / "robustness_scatter.png").exists()
