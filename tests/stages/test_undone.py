"""Disturbances that could not be done as asked: left out where nothing was changed, told apart where something was."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import made_run
import polars as pl
import pytest
from made_studies import row, write_rows
from markupsafe import escape

import shaketable
from shaketable.analyses.claims import claims_of
from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.evidence.degradation import Degradation
from shaketable.analyses.evidence.undone import describe_undone, is_undone, remedy_for
from shaketable.analyses.gate import thresholds
from shaketable.analyses.gate.verdicts import judge
from shaketable.report.words import describe_left_out
from shaketable.stages.analyze import analyze, tables_of
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.rehearsal import rehearse_perturbations
from shaketable.stages.report import report, sections_of
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.evidence_flags import FlagCount
from shaketable.study import parse_study
from shaketable.types import (
    Completion,
    Edit,
    Event,
    Evidence,
    Findings,
    Gate,
    Prompt,
    Record,
    Score,
    Search,
    Study,
)

HALF = "sentence_removal(mode='last_half')"
GONE = Edit(kind="remove", sentence_id="d#0", before="It was here.", after=None)


def studied(folder: Path, rows: list[dict[str, Any]], **analyze_: Any) -> Run:
    """A model that is always right, asked with and without sentences."""
    study = parse_study(
        {
            "name": "undone",
            "dataset": {"name": "jsonl", "path": str(write_rows(folder / "q.jsonl", rows))},
            "cross": {
                "models": ["scripted(replies=('Author',))"],
                "perturbations": ["unchanged", HALF],
            },
            "analyze": {"analyses": ["correctness", "degradation"], "n_resamples": 99, **analyze_},
        },
        "undone.toml",
    )
    run = Run.prepare(folder / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    score(run)
    return run


def one_fact(n: int) -> dict[str, Any]:
    """One supporting sentence: half of it, rounded down, is none."""
    return row(n, facts=[[f"Book {n}", 0]], answers=["Author"])


def drops(findings: Findings, model: str | None = None) -> dict[tuple[str | None, bool], tuple[float | None, int]]:
    """What each disturbance costs at temperature 0, of all questions and of those where it was done as asked."""
    (result,) = (finding.result for finding in findings.findings if isinstance(finding.result, Correctness))
    return {
        (own.cell.perturbation, own.is_as_asked): (own.drop.value, own.drop.n)
        for own in result.evidence_drops
        if own.cell.group is None and own.cell.temperature == 0 and own.metric == result.metric
        if model is None or (own.cell.system is not None and own.cell.system.model == model)
    }


def left_out(findings: Findings) -> list[str]:
    return [describe_left_out(own) for own in findings.left_out]


def test_a_perturbation_that_was_never_done_has_no_verdict(tmp_path: Path) -> None:
    run = studied(tmp_path, [one_fact(0), one_fact(1)])
    findings = analyze(run)
    assert [(own.perturbation, own.n, own.n_asked) for own in findings.undone] == [(HALF, 2, 2)]
    assert findings.undone[0].flags == ("nothing_changed", "too_few_sentences")
    assert drops(findings) == {(HALF, False): (None, 0)}
    assert not any(section.headlines for section in sections_of(run, findings)[1:])
    assert claims_of(findings).shown == ()
    assert escape(describe_undone(findings.undone[0])) in report(run).read_text("utf-8")
    assert left_out(findings) == []


@pytest.mark.parametrize(("n_undone", "has_verdict"), [(1, True), (2, False)])
def test_more_than_a_tenth_undone_leaves_no_verdict(tmp_path: Path, n_undone: int, has_verdict: bool) -> None:
    rows = [one_fact(n) if n < n_undone else row(n, answers=["Author"]) for n in range(10)]
    run = studied(tmp_path, rows)
    findings = analyze(run)
    assert (findings.undone == ()) == has_verdict
    assert drops(findings)[HALF, False] == ((0, 10 - n_undone) if has_verdict else (None, 0))
    assert bool(left_out(findings)) == has_verdict
    [quantity] = thresholds.drops(tables_of(run))
    assert (quantity.missing == (None,)) == has_verdict
    [check] = judge([quantity], Gate(max_drop=0.5)).checks
    assert (check.verdict, "No verdict" in (check.reason or "")) == ("undecided", not has_verdict)
    assert run.flags() == tuple(
        FlagCount(perturbation=HALF, flag=flag, n=n_undone) for flag in ("nothing_changed", "too_few_sentences")
    )


def test_a_substitute_counts_as_done() -> None:
    assert not is_undone(["fallback_other_document", "partly_masked", "sentences_like_the_question"])
    assert is_undone(["partly_masked", "no_supporting_sentence"])
    assert is_undone(["fallback_unchanged"])
    assert is_undone(["a_flag_of_somebody_else"])


# --- a corpus in which nothing is marked ------------------------------------------------------------

N_TOWERS = 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reader:
    """Answers who built a tower where its evidence says so, and nothing else."""

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(
                text=self._answer(prompt.messages[-1].content),
                finish_reason="end",
                n_prompt_tokens=1,
                n_tokens=1,
                seconds=0.0,
            )
            for prompt in prompts
        ]

    def _answer(self, text: str) -> str:
        tower = re.search(r"Who built the (\w+) tower", text)
        built = tower and re.search(rf"builder of {tower[1]} was (Keeper \w+)", text)
        return built[1] if built else "I do not know."

    def environment(self) -> dict[str, Any]:
        return {}


def towers(folder: Path, removal: str) -> Study:
    """Documents of five sentences, of which one holds the answer; the reader needs it."""
    names = [f"Tower{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(N_TOWERS)]
    documents = [
        f"The {name} tower stands at a harbor. The builder of {name} was Keeper {name[::-1]}. Its garden is green. "
        "The town pays for it. Boats pass below."
        for name in names
    ]
    entries = ({"id": f"d{n}", "title": names[n], "text": text} for n, text in enumerate(documents))
    corpus = write_rows(folder / "corpus.jsonl", list(entries))
    rows = [
        row(0, id=name, question=f"Who built the {name} tower?", answers=[f"Keeper {name[::-1]}"]) for name in names
    ]
    for own in rows:
        del own["documents"], own["facts"]
    return shaketable.make_study(
        "towers",
        dataset={"name": "jsonl", "path": str(write_rows(folder / "q.jsonl", rows))},
        models=Reader(),
        retrievers=f"bm25(corpus='{corpus}')",
        methods="single_retrieval",
        perturbations=["unchanged", removal],
        metrics="contains",
        analyses=["correctness", "degradation"],
    )


def test_the_default_removes_what_holds_the_answer(tmp_path: Path) -> None:
    """Before, the less relevant half of what was found was removed, and no loss was shown."""
    study = towers(tmp_path, "sentence_removal")
    assert rehearse_perturbations(plan(study)) == []
    findings = shaketable.run(study, tmp_path / "run").findings()
    assert findings.undone == ()
    assert drops(findings)["sentence_removal", False] == (1, N_TOWERS)
    [claim] = [own for own in claims_of(findings).shown if own.subject.kind == "evidence"]
    assert claim.estimate.low is not None
    assert claim.estimate.low > 0.8


def test_the_published_half_is_refused_a_verdict_before_and_after(tmp_path: Path) -> None:
    study = towers(tmp_path, HALF)
    [before] = rehearse_perturbations(plan(study))
    assert (before.perturbation, before.n, before.n_asked) == (HALF, N_TOWERS, N_TOWERS)
    assert "sentence_removal(mode='auto')" in describe_undone(before)
    findings = shaketable.run(study, tmp_path / "run").findings()
    assert [(own.perturbation, own.n) for own in findings.undone] == [(HALF, N_TOWERS)]
    assert [own for own in claims_of(findings).every if own.p_adjusted is not None] == []
    assert drops(findings)[HALF, False] == (None, 0)


@pytest.mark.parametrize(
    ("perturbation", "flags", "remedy"),
    [
        ("sentence_removal(mode='answer')", ["no_sentence_with_answer"], "sentence_removal(mode='auto')"),
        ("synonym(m=2)", ["nothing_to_replace"], "synonym(m=2, sentences='all')"),
        ("source_reordering", ["too_few_passages"], "several passages"),
        ("of_another_process", ["odd"], "Leave it out"),
    ],
)
def test_the_reason_names_what_works(perturbation: str, flags: list[str], remedy: str) -> None:
    assert remedy in remedy_for(perturbation, flags)


# --- flags of done disturbances ---------------------------------------------------------------------


def flagged_run(folder: Path, flags_of: dict[int, list[tuple[str, ...]]], **keys: Any) -> Run:
    """Eight questions with one search each, or with as many as there are flags given; all disturbed ones wrong when
    flagged. Evidence whose flags say `nothing` has no edit."""
    run = made_run.made_run(folder, with_scores=False, n_answered=0, **keys)
    records, scores = [], []
    for n in range(made_run.N_QUESTIONS):
        for record, condition in made_run.records_of(made_run.question(n)):
            if record.trial.perturbation not in ("unchanged", "sentence_removal") or record.failure:
                continue
            flags = flags_of.get(n, [()]) if record.trial.perturbation == "sentence_removal" else [()]
            records.append((with_searches(record, flags), condition))
            is_wrong = record.trial.perturbation == "sentence_removal" and any(flags)
            scores.append(Score(key=record.trial.key, metric="contains", value=float(not is_wrong)))
    with run.writing() as store:
        store.append(records, {})
    run.write_scores(scores)
    return run


def with_searches(record: Record, flags: list[tuple[str, ...]]) -> Record:
    searches = [
        Event(
            step=Search(query="q", k=1),
            reply=Evidence(hits=(), edits=() if "nothing" in some else (GONE,), flags=some),
        )
        for some in flags
    ]
    cost = dataclasses.replace(record.cost, n_searches=len(searches))
    return dataclasses.replace(record, trace=(*searches, *record.trace[1:]), cost=cost)


def test_flags_of_every_search_of_a_record_count(tmp_path: Path) -> None:
    run = flagged_run(
        tmp_path / "run", {0: [(), ("fallback",)], 1: [("nothing",), ()], 2: [("nothing",), ("nothing",)]}
    )
    flags = run.score_table().filter(perturbation="sentence_removal").select("question_id", "flags").unique()
    assert sorted(filter(None, flags["flags"].to_list())) == ["fallback", "nothing", "nothing nothing_changed"]
    assert {(count.flag, count.n) for count in run.flags()} == {("fallback", 1), ("nothing", 2), ("nothing_changed", 1)}
    # Only where no search was changed is the record left out.
    values = run.score_table().filter(pl.col("flags") == "nothing nothing_changed")
    assert values["value"].null_count() == len(values)
    assert set(values["reason"]) == {"left out: nothing nothing_changed"}


def test_effects_are_told_with_and_without_flagged_questions(tmp_path: Path) -> None:
    """Two of eight questions are flagged and wrong: a quarter is lost with them, nothing without them."""
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]})
    findings = analyze(run, ["correctness"])
    assert drops(findings, "plain") == {("sentence_removal", False): (0.25, 8), ("sentence_removal", True): (0, 6)}
    (section,) = sections_of(run, findings)
    (text,) = (one.text for one in section.headlines if "removal" in one.text and one.text.count("plain"))
    assert "Where it was done as asked it is a difference of 0 points [" in text


def mean_losses(result: object) -> list[tuple[float | None, int]]:
    assert isinstance(result, Degradation)
    return [
        (loss.drop.value, loss.drop.n)
        for loss in result.losses
        if loss.cell.system is not None and loss.cell.system.model == "plain"
        if loss.cell.group is None and loss.cell.temperature == 0
    ]


def test_every_analysis_of_evidence_is_told_with_and_without_flagged_questions(tmp_path: Path) -> None:
    """26.5 % of HotpotQA records cannot be replaced from the same title (specification, 3.5)."""
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]})
    both = analyze(run, ["degradation", "amplification", "correctness"])
    assert [(finding.analysis, finding.is_as_asked) for finding in both.findings] == [
        ("degradation", False),
        ("degradation", True),
        ("amplification", False),
        ("amplification", True),
        ("correctness", False),
    ]
    assert [mean_losses(finding.result) for finding in both.findings[:2]] == [[(0.25, 8)], [(0, 6)]]
    again = [section for section in sections_of(run, both) if section.name.endswith("as-asked")]
    assert [bool(section.matrices) for section in again] == [True, True]
    assert not any(section.headlines for section in again), "claims are made of all evidence, once"
    page = report(run).read_text("utf-8")
    assert all(str(escape(section.heading)) in page for section in again)


def test_without_flags_nothing_is_told_twice(tmp_path: Path) -> None:
    (finding,) = analyze(flagged_run(tmp_path / "run", {}), ["degradation"]).findings
    assert not finding.is_as_asked


def test_a_study_may_leave_flags_out_of_every_analysis(tmp_path: Path) -> None:
    keys = {"analyze": {"without_flags": ["fallback"]}}
    run = flagged_run(tmp_path / "run", {0: [("fallback",)], 1: [("fallback",)]}, **keys)
    findings = analyze(run, ["correctness", "degradation"])
    assert drops(findings, "plain") == {("sentence_removal", False): (pytest.approx(0), 6)}
    assert mean_losses(findings.findings[1].result) == [(pytest.approx(0), 6)]
    assert left_out(findings) == ["Sentence removal: 2 of 8 questions are left out of its effect (fallback)."]
