"""Which analyses a file of answers gets: those for which it has something to compare."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.cli.app import app
from shaketable.stages.analyze import analyze
from shaketable.stages.answer_rows import AnswerRow
from shaketable.stages.import_answers import import_answers
from shaketable.stages.pick_analyses import NEEDS, pick_analyses
from shaketable.stages.score import score

ROW = {"question_id": "q1", "question": "Who?", "gold": "Ann", "answer": "Ann"}
EVIDENCE = ("degradation", "equivalence", "cases")
EVIDENCE_AND_HEAT = (*EVIDENCE, "dominance", "amplification", "guidelines")
WORDING = ("wording_accuracy", "consistency", "query_difficulty")
FACTS = ("factual_robustness", "breaking", "weakest_facts", "predict_breaking")


def picked(*changes):
    """The analyses beside correctness of a file whose lines differ so from each other."""
    analyses = pick_analyses([AnswerRow.model_validate(ROW | change) for change in changes]).analyses
    assert analyses[0] == "correctness"
    return set(analyses[1:])


def crossed(**values):
    """Lines with each combination of these values."""
    lines = [{}]
    for name, options in values.items():
        lines = [line | {name: option} for line in lines for option in options]
    return lines


def test_every_shipped_analysis_says_what_it_needs():
    assert set(NEEDS) == set(catalog.known("analysis"))


@pytest.mark.parametrize(
    ("lines", "analyses"),
    [
        ([{}], ()),
        (crossed(repeat=[0, 1]), ("variability",)),
        (crossed(model=["a", "b"]), ("variance_shares", "guidelines")),
        (crossed(perturbation=["unchanged", "noise"]), ("variance_shares", *EVIDENCE)),
        (crossed(retriever=["web"], temperature=[0.2, 1]), ("variance_shares", "guidelines")),
        (crossed(temperature=[0, 1]), ("variance_shares", "guidelines", "fact_accuracy", "latent_facts")),
        (
            crossed(retriever=["web"], perturbation=["unchanged", "noise"], temperature=[0, 1]),
            ("variance_shares", *EVIDENCE_AND_HEAT),
        ),
        (
            crossed(retriever=["web"], perturbation=["unchanged", "noise", "cuts"], temperature=[0, 1], repeat=[0, 1]),
            ("variance_shares", "variability", "ranking", *EVIDENCE_AND_HEAT),
        ),
        (
            [*crossed(perturbation=["unchanged", "noise"]), {"method": "closed_book"}],
            ("variance_shares", *EVIDENCE, "context_reliance", "guidelines"),
        ),
        (
            crossed(perturbation=["unchanged", "noise", "closed_book"]),
            ("variance_shares", *EVIDENCE, "context_reliance"),
        ),
        (crossed(perturbation=["unchanged", "closed_book"]), ("variance_shares",)),
        (crossed(variation=["original", "typos"]), ("variance_shares", *WORDING)),
        (
            crossed(variation=["original", "typos"], n_tokens=[9], repeat=[0, 1]),
            ("variance_shares", *WORDING, "variability", "cost_stability", "run_deviation"),
        ),
        (
            crossed(variation=["original", "typos"], n_searches=[1]),
            ("variance_shares", *WORDING, "cost_stability", "search_decisions"),
        ),
        (
            crossed(variation=["original", "typos"], searches=[[{"query": "a"}]], gold_titles=[["Ann"]]),
            (
                *("variance_shares", *WORDING, "cost_stability", "search_decisions", "retrieval_quality"),
                *("trajectories", "trajectory_cases", "drift_chain"),
            ),
        ),
        (
            crossed(method=["agent", "closed_book"], n_searches=[1]),
            ("variance_shares", "outcomes", "guidelines", "search_decisions"),
        ),
        (
            [{"entropy": 0.1}, {"temperature": 1}],
            ("variance_shares", "guidelines", "fact_accuracy", "latent_facts", *FACTS),
        ),
        (
            [{"entropy": 0.1, "type": "HUM"}, {"temperature": 1, "type": "HUM"}],
            ("variance_shares", "guidelines", "fact_accuracy", "latent_facts", *FACTS, "question_types"),
        ),
        (
            crossed(entropy=[0.1], perturbation=["unchanged"], temperature=[0, 1]),
            ("variance_shares", "guidelines", *FACTS, "robustness_with_evidence"),
        ),
        # Values that no question has together are compared by nothing.
        ([{"temperature": 0}, {"question_id": "q2", "temperature": 1}], ()),
        ([{"perturbation": "unchanged"}, {"question_id": "q2", "perturbation": "noise"}], ()),
        (crossed(perturbation=["cuts", "noise"]), ("variance_shares",)),
        (crossed(variation=["human", "typos"]), ("variance_shares",)),
    ],
)  # fmt: skip
def test_what_varies_picks_the_analyses(lines, analyses):
    assert picked(*lines) == set(analyses)


def test_metrics_that_an_analysis_reads_are_scored_too():
    def metrics(*changes):
        return pick_analyses([AnswerRow.model_validate(ROW | change) for change in changes]).metrics[4:]

    assert metrics({}) == ()
    assert metrics({}, {"temperature": 1}) == ("exact_match",)
    assert metrics({"top_logprobs": [[-0.1]]}) == ("entropy", "margin", "answer_tokens")
    assert metrics({"searches": [{"query": "a"}], "gold_titles": ["Ann"]}) == ("retrieval",)


def test_an_analysis_that_was_left_out_has_a_reason():
    pick = pick_analyses([AnswerRow.model_validate(ROW)])
    reasons = {name: group.reason for group in pick.left_out for name in group.analyses}
    assert set(reasons) | set(pick.analyses) == set(NEEDS)
    assert reasons["guidelines"] == "no question was answered at two temperatures, or by two systems"
    assert reasons["degradation"] == "no question has disturbed evidence beside 'unchanged' in 'perturbation'"


# --- as a user meets it ---------------------------------------------------------------------------

CSV = "question_id,question,gold,answer,perturbation,temperature,repeat\n" + "".join(
    f"q{n},Who is number {n}?,Ann {n},{answer},{perturbation},{temperature},{repeat}\n"
    for n in range(9)
    for perturbation in ("", "noise", "cuts")
    for temperature in (0, 1)
    for repeat in (0, 1)
    for answer in [f"Ann {n}" if (n + 2 * repeat) % 5 > len(perturbation) // 4 + temperature else "Bob"]
)


def test_a_csv_with_perturbations_and_temperatures_gets_every_analysis_of_both(tmp_path):
    (tmp_path / "answers.csv").write_text(CSV)
    run = import_answers(tmp_path / "answers.csv", tmp_path / "run").run
    score(run)
    results = {finding.analysis: finding.result for finding in analyze(run).findings}
    assert set(results) == {"correctness", "variability", "variance_shares", "ranking", *EVIDENCE_AND_HEAT}
    assert {loss.cell.perturbation for loss in results["degradation"].losses} == {"noise", "cuts"}


def test_the_command_tells_which_analyses_were_picked_and_why_no_others(tmp_path):
    (tmp_path / "answers.csv").write_text(CSV)
    result = CliRunner().invoke(app, ["import", str(tmp_path / "answers.csv"), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0] == "108 answers to 9 questions."
    assert lines[1].startswith("Analyses that the columns allow: correctness, variability, degradation, equivalence")
    assert (
        "others need what is not there: " in lines[2]
        and "wording_accuracy, " in lines[2]
        and "shaketable ls NAME" in lines[2]
    )

    result = CliRunner().invoke(
        app, ["import", str(tmp_path / "answers.csv"), "--out", str(tmp_path / "run"), "--json"]
    )
    told = json.loads(result.stdout)
    assert "degradation" in told["analyses"]
    assert told["left_out"]["consistency"] == "no question has another 'variation' beside 'original'"


def test_a_file_of_failures_is_told_as_such(tmp_path):
    rows = [line.split(",") for line in CSV.splitlines()]
    failed = "\n".join(",".join([*row[:3], "", *row[4:]]) for row in rows[1:])
    (tmp_path / "answers.csv").write_text(f"{','.join(rows[0])}\n{failed}\n")
    runner = CliRunner()
    made = runner.invoke(app, ["import", str(tmp_path / "answers.csv"), "--out", str(tmp_path / "run")])
    assert "108 answers to 9 questions, 108 of them failed." in made.stderr
    told = runner.invoke(app, ["analyze", str(tmp_path / "run")])
    assert told.exit_code == 0
    assert "No answer has a score, so there is nothing to tell." in told.stderr
    assert "failed: " not in told.stderr
