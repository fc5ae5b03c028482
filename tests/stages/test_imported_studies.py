"""What an author's own answers and scores are read as."""

from __future__ import annotations

import pytest
from made_studies import write_rows

from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.evidence.variability import Variability
from shaketable.analyses.facts.factual_robustness import FactualRobustness
from shaketable.stages.analyze import analyze
from shaketable.stages.import_answers import import_answers
from shaketable.stages.report import sections_of
from shaketable.stages.score import score

TEMPERATURES = [round(0.2 * i, 1) for i in range(11)]


@pytest.fixture
def analyzed(tmp_path):
    def analyze_rows(rows, analyses=None):
        run = import_answers(write_rows(tmp_path / "answers.jsonl", rows), tmp_path / "run").run
        score(run)
        return run, analyze(run, analyses)

    return analyze_rows


def result_of(findings, kind):
    return next(finding.result for finding in findings.findings if isinstance(finding.result, kind))


def facts(*, n=12, repeats=10, model="strong", entropy=0.1, answer=lambda i, temperature, repeat: f"Ann {i}"):
    return [
        {
            "question_id": f"q{i}",
            "question": f"Who is number {i}?",
            "gold": f"Ann {i}",
            "answer": answer(i, temperature, repeat),
            "model": model,
            "temperature": temperature,
            "repeat": repeat,
            "entropy": entropy if temperature == 0 else None,
        }
        for i in range(n)
        for temperature in TEMPERATURES
        for repeat in range(1 if temperature == 0 else repeats)
    ]


def firmness(run, findings):
    sections = sections_of(run, findings)
    [section] = [section for section in sections if section.title == "Factual robustness score"]
    return " ".join(headline.text for headline in section.headlines)


def test_imported_scores_have_a_coefficient_of_variation(analyzed):
    """(.97 − .95)-like scores of two questions in three runs: deviations .01 and .1, means .96 and .8."""
    values = {"q1": (0.96, 0.95, 0.97), "q2": (0.90, 0.80, 0.70)}
    rows = [
        {"question_id": id, "question": "Who?", "gold": "Ann", "answer": "Ann", "repeat": i, "scores": {"bert": value}}
        for id, three in values.items()
        for i, value in enumerate(three)
    ]
    _, findings = analyzed(rows)
    result = result_of(findings, Variability)
    [spread] = [own for own in result.spreads if own.metric == "given@bert" and own.cell.group is None]
    assert spread.published_cv.value == pytest.approx((0.01 / 0.96 + 0.1 / 0.8) / 2)
    assert spread.cv.reason is None
    assert "given@bert" not in result.crossing_zero


def test_a_system_that_never_breaks_scores_one(analyzed):
    run, findings = analyzed(facts())
    result = result_of(findings, FactualRobustness)
    [mean] = [own for own in result.scores if own.d == 1 and own.is_capped]
    assert (mean.score.value, mean.score.n) == (1.0, 12)
    assert "No fact broke up to 2.0; its sampled answers never differed" in firmness(run, findings)


def test_an_unvarying_system_is_not_claimed_to_be_firmer(analyzed):
    rows = facts() + facts(model="loose", answer=lambda i, t, repeat: f"Ann {i}" if t < 1 else f"{t} {repeat}")
    _, findings = analyzed(rows)
    result = result_of(findings, FactualRobustness)
    means = {own.cell.system.model: own.score.value for own in result.scores if own.d == 1 and own.is_capped}
    assert means["strong"] == 1.0 > means["loose"]
    assert result.differences == ()


def test_an_endpoint_that_ignores_temperature_has_no_score(analyzed):
    """Its repeats vary as much at every temperature: it samples at one of its own."""
    rows = facts(n=40, answer=lambda i, t, repeat: f"Ann {i}" if t == 0 or (i + repeat) % 2 else "Bob")
    cool = [dict(row, repeat=k, answer=f"Ann {row['question_id'][1:]}" if k % 2 == 0 else "Bob")
            for row in rows if row["temperature"] == 0 for k in range(10)]  # fmt: skip
    run, findings = analyzed(cool + [row for row in rows if row["temperature"] > 0])
    assert [flat.never_differed for flat in findings.not_applied] == [False]
    assert result_of(findings, FactualRobustness).unbroken == ()
    assert "has no robustness score: it does not apply the temperature" in firmness(run, findings)


def test_entropy_may_be_punished_with_a_broken_exponent(analyzed):
    """The study's case 0 < d < 1: H = .19, t_b = 1: f = .9 · 2 − .19 / 2 = 1.705, score 2.705 / 3.705."""
    rows = facts(entropy=0.19, answer=lambda i, t, repeat: f"Ann {i}" if t < 1 else f"{t} {repeat}")
    run, findings = analyzed(rows, analyses=["factual_robustness(d=(0.5, 1))"])
    result = result_of(findings, FactualRobustness)
    means = {own.d: own.score.value for own in result.scores if own.is_capped}
    assert means[0.5] == pytest.approx(2.705 / 3.705)
    assert set(means) == {0.5, 1}
    [section] = [own for own in sections_of(run, findings) if own.title == "Factual robustness score"]
    assert [row[0] for row in section.tables[0].rows] == ["0.5", "1"]


def test_decisions_to_search_need_no_rewording(analyzed):
    rows = [
        {"question_id": f"q{i}", "question": "Who?", "gold": "Ann", "answer": answer, "method": method, **more}
        for i in range(4)
        for method, answer, more in (
            ("closed_book", "Ann" if i % 2 else "Bob", {}),
            ("agent", "Ann", {"n_searches": int(i < 1)}),
        )
    ]
    _, findings = analyzed(rows)
    [finding] = [own for own in findings.findings if own.analysis == "search_decisions"]
    numbers = {own.metric: own.estimate.value for own in finding.result.numbers}
    assert numbers["act"] == 0.25
    assert numbers["over_confidence"] == 0.25


def test_the_variance_over_runs_is_reported(analyzed):
    """Right in 0 and 1 of two runs (variance .5), and in both (0): .25 on average; deviation .3536."""
    answers = {"q1": ("Ann", "Bob"), "q2": ("Ann", "Ann")}
    rows = [
        {"question_id": id, "question": "Who?", "gold": "Ann", "answer": answer, "repeat": i}
        for id, two in answers.items()
        for i, answer in enumerate(two)
    ]
    run, findings = analyzed(rows)
    result = result_of(findings, Correctness)
    [level] = [own for own in result.levels if own.metric == "correct"]
    assert (level.variance_runs, level.sd_runs) == pytest.approx((0.25, 0.353553), abs=1e-6)
    tables = [table for section in sections_of(run, findings) for table in section.tables]
    [table] = [table for table in tables if "Variance over runs" in table.columns]
    assert table.rows[0][table.columns.index("Variance over runs")] == pytest.approx(0.25)
