"""A run that is extended asks what is new alone, and ends with the records of a run made at once."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_studies import row, small_study, study_of, write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import RunError
from shaketable.report.money_words import format_dollars
from shaketable.stages.run import ask, run
from shaketable.store import RecordStore, Run
from shaketable.store.verify import verify
from shaketable.study import parse_study

ROWS = """
SELECT r.key, q.id, q.item, v.variation, v.wording, v.provenance, c.model, c.method, c.retriever, c.perturbation,
       c.identity, c.parts, r.temperature, r.repeat, r.seed, r.answer, r.failure, r.may_retry, r.n_searches,
       r.n_generations, r.n_prompt_tokens, r.n_tokens, e.body, r.trace, r.dollars, r.reused
FROM records r JOIN variants v ON v.id = r.variant JOIN questions q ON q.id = v.question_id
JOIN conditions c ON c.id = r.condition JOIN environments e ON e.id = r.environment ORDER BY r.key
"""
"""Every stored value of a record but its seconds, and what it refers to instead of the numbers of rows."""


@pytest.fixture(autouse=True)
def no_strength(monkeypatch):
    """How strong a rewording is takes a model to tell; each wording is measured alone."""
    monkeypatch.setattr("shaketable.stages.vary.with_strength", lambda batch: batch)


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    with RecordStore(folder / "records.sqlite", read_only=True) as store:
        assert verify(store).problems == ()
        return store.rows(ROWS)


def questions_of(folder: Path) -> list[tuple[object, ...]]:
    with RecordStore(folder / "records.sqlite", read_only=True) as store:
        return store.rows("SELECT * FROM questions ORDER BY place")


def findings_of(folder: Path) -> object:
    """Without what says which records they are of."""
    return json.loads((folder / "findings.json").read_text("utf-8"))["findings"]


# --- through the commands ---------------------------------------------------------------------------

STUDY = """
name = "small"
[dataset]
name = "builtin"
balance = { by = ["type"] }
[cross]
models = ["counting"]
perturbations = ["unchanged", "sentence_removal"]
variations = ["original", "prefix_injection"]
temperatures = [0.0, 1.0]
repeats = 2
[generation]
max_tokens = 8
[score]
metrics = ["correct", "token_f1"]
[analyze]
analyses = ["correctness", "degradation"]
n_resamples = 50
"""


def called(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def test_more_questions_then_more_repeats_ask_what_is_new_alone(tmp_path, monkeypatch, with_fake_parts):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    (tmp_path / "study.toml").write_text(STUDY)
    words = ("run", tmp_path / "study.toml", "--out", tmp_path / "grown")
    n_asked = []
    for options in (["--limit", 2], ["--limit", 3], ["--limit", 3, "--set", "cross.repeats=3"]):
        with_fake_parts.forget()
        output = called(*words, *options)
        n_asked.append(len(with_fake_parts.prompts))
    # 2 kinds of evidence x 2 wordings x 2 temperatures = 8 trials for each question and repeat.
    assert n_asked == [2 * 2 * 8, 1 * 2 * 8, 3 * 1 * 8]
    assert "This run is extended: repeats was 2, now 3." in output
    assert "3 questions, 8 conditions, 72 trials, 48 already there" in output

    called("run", tmp_path / "study.toml", "--out", tmp_path / "at_once", *options)
    assert rows_of(tmp_path / "grown") == rows_of(tmp_path / "at_once")
    assert questions_of(tmp_path / "grown") == questions_of(tmp_path / "at_once")
    assert findings_of(tmp_path / "grown") == findings_of(tmp_path / "at_once")

    grown = Run(tmp_path / "grown")
    assert [(study.datasets[0].limit, study.repeats) for study in grown.earlier_studies()] == [(2, 2), (3, 2)]
    assert (grown.summary().state, grown.summary().trials, grown.summary().n_questions) == ("finished", 72, 3)
    called("verify", grown.folder)


def test_a_study_with_less_is_refused_and_says_what_is_answered_already(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    (tmp_path / "study.toml").write_text(STUDY.replace("counting", "scripted"))
    called("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--limit", 3)
    less = CliRunner().invoke(
        app, ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run"), "--limit", "2"]
    )
    assert less.exit_code == 1
    assert "dataset.limit was 3, now 2 (fewer questions than are answered already)." in less.output.replace("\n", " ")


# --- any extension ----------------------------------------------------------------------------------

FULL = {
    "models": ["counting", "scripted(replies=('Paris', 'Rome', 'ERROR'))"],
    "methods": ["single_retrieval", "closed_book"],
    "retrievers": ["gold", "full_gold"],
    "perturbations": ["unchanged", "sentence_removal", "source_reordering"],
    "variations": ["original", "prefix_injection", "keywords"],
    "temperatures": [0.0, 0.7, 1.0],
}


@st.composite
def growing(draw: st.DrawFn) -> list[dict[str, object]]:
    """Three studies, each with what the one before has, and more."""
    steps: list[dict[str, object]] = []
    shuffled = {name: draw(st.permutations(values)) for name, values in FULL.items()}
    for name, values in shuffled.items():
        lengths = sorted(draw(st.lists(st.integers(1, len(values)), min_size=3, max_size=3)))
        for i, n in enumerate(lengths):
            steps.append({}) if len(steps) <= i else None
            steps[i][name] = values[:n]
    for name, most in (("repeats", 3), ("limit", 4)):
        for i, n in enumerate(sorted(draw(st.lists(st.integers(1, most), min_size=3, max_size=3)))):
            steps[i][name] = n
    return steps


def study_from(step: dict[str, object], path: Path) -> object:
    crossed = {name: value for name, value in step.items() if name != "limit"}
    dataset = {"name": "jsonl", "path": str(path), "limit": step["limit"]}
    tables = {"name": "small", "seed": 3, "dataset": dataset, "cross": crossed, "generation": {"max_tokens": 8}}
    return parse_study(tables, "test")


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=growing())
def test_any_extension_ends_with_the_records_of_a_run_made_at_once(steps, with_fake_parts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("extension")
    path = write_rows(folder / "questions.jsonl", [row(n) for n in range(6)])
    with_fake_parts.forget()
    for step in steps:
        study = study_from(step, path)
        ask(study, folder / "grown")
        assert Run(folder / "grown").summary().missing == 0
    n_asked = len(with_fake_parts.prompts)
    with_fake_parts.forget()
    ask(study, folder / "at_once")
    assert n_asked == len(with_fake_parts.prompts), "Nothing is asked twice."
    assert rows_of(folder / "grown") == rows_of(folder / "at_once")
    assert questions_of(folder / "grown") == questions_of(folder / "at_once")


# --- what stands against it -------------------------------------------------------------------------


def test_a_run_whose_data_changed_since_is_refused_before_anything_is_frozen(tmp_path):
    study = small_study(tmp_path)
    made = ask(study, tmp_path / "run")
    write_rows(tmp_path / "questions.jsonl", [row(0), row(1), row(2, question="Whose book is it?"), row(3)])
    with pytest.raises(RunError, match="holds 4 records that this study does not plan"):
        ask(small_study_of(tmp_path, repeats=3), made.folder)
    assert (Run(made.folder).study, made.earlier_studies()) == (study, ())


def small_study_of(folder: Path, **changes: object):
    return study_of(folder / "questions.jsonl", **changes)


def test_scores_and_findings_are_made_anew_for_an_extended_run(tmp_path):
    made = run(small_study(tmp_path), tmp_path / "run")
    assert made.has_current_findings()
    with_more = ask(small_study_of(tmp_path, repeats=3), made.folder)
    assert not with_more.has_current_scores()
    grown = run(small_study_of(tmp_path, repeats=3), made.folder)
    assert grown.has_current_findings()
    assert grown.scores().height == grown.records().height == 18
    page = (grown.folder / "report.html").read_text("utf-8")
    assert "repeats was 2, now 3" in page


def test_a_scan_that_is_extended_by_questions_has_the_records_of_one_made_at_once(tmp_path):
    def study(limit: int):
        dataset = {"name": "jsonl", "path": str(tmp_path / "questions.jsonl"), "limit": limit}
        replies = "scripted(replies=('Author 1', 'Rome', 'Author 1', 'Paris'))"
        cross = {"models": [replies], "temperatures": [0.0, 0.5, 1.0, 1.5], "repeats": 3}
        tables = {"name": "small", "seed": 3, "dataset": dataset, "cross": cross, "generation": {"max_tokens": 8}}
        return parse_study(tables | {"scan": {"strategy": "curtailed_bisection"}}, "test")

    write_rows(tmp_path / "questions.jsonl", [row(n, answers=[f"Author {n % 2}"]) for n in range(8)])
    for limit in (3, 8):
        ask(study(limit), tmp_path / "grown")
    ask(study(8), tmp_path / "at_once")
    assert rows_of(tmp_path / "grown") == rows_of(tmp_path / "at_once")
    assert any(repeat for *_, repeat in (values[:14] for values in rows_of(tmp_path / "grown")))


# --- killed in the middle ---------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from shaketable.models.scripted import Scripted
from shaketable.stages.run import ask
from shaketable.store import records
from shaketable.study import load_study

own, n = records.RecordStore.append, [0]
def append(self, rows, environment):
    n[0] += 1
    if n[0] == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    own(self, rows[: len(rows) // 2], environment) if n[0] == int(sys.argv[3]) - 1 else own(self, rows, environment)
records.RecordStore.append = append
import shaketable.stages.scheduler as scheduler
scheduler.WINDOW = 4
ask(load_study(sys.argv[1]), Path(sys.argv[2]))
"""
"""Answers a study, and kills itself at one of its writings, the one before of which lost half its rows."""


def test_a_run_killed_while_it_is_extended_goes_on_to_the_records_of_one_made_at_once(tmp_path):
    write_rows(tmp_path / "questions.jsonl", [row(n) for n in range(4)])
    few, many = (small_study_of(tmp_path, repeats=n, models=["scripted(replies=('a', 'b', 'c'))"]) for n in (1, 3))
    ask(few, tmp_path / "run")
    before = rows_of(tmp_path / "run")
    from shaketable.study import format_study

    (tmp_path / "many.toml").write_text(format_study(many))
    command = [sys.executable, "-c", KILLED, str(tmp_path / "many.toml"), str(tmp_path / "run"), "3"]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    half = rows_of(tmp_path / "run")
    assert len(before) < len(half) < 24
    assert set(before) <= set(half)
    halfway = Run(tmp_path / "run")
    assert (halfway.summary().state, halfway.study, halfway.earlier_studies()) == ("interrupted", many, (few,))
    ask(many, tmp_path / "run")
    ask(many, tmp_path / "at_once")
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "at_once")


# --- the examples -----------------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_asks_what_is_new_alone(tmp_path, capsys):
    runpy.run_path(str(EXAMPLES / "extend" / "extend.py"))["main"](str(tmp_path / "run"))
    # 2 kinds of evidence x 2 temperatures = 4 trials for each question and repeat; without evidence 2.
    assert capsys.readouterr().out.splitlines()[:4] == [
        f"2 questions: {2 * 2 * 4} new calls, 16 answers in all",
        f"3 questions: {1 * 2 * 4} new calls, 24 answers in all",
        f"3 repeats: {3 * 1 * 4} new calls, 36 answers in all",
        f"2 methods: {3 * 3 * 2} new calls, 54 answers in all",
    ]
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "dataset.limit was 2, now 3" in page
    assert "USD for 36 calls" in page
    assert "USD for 18 calls" in page


def test_the_example_of_limits_stops_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    words = ("run", EXAMPLES / "limits" / "study.toml", "--out", tmp_path / "run")
    stopped = called(*words)
    assert "Stopped at its limit (0.30 USD)" in stopped
    [spent] = Run(tmp_path / "run").summary().spent
    assert 0.27 < spent.dollars <= 0.31
    assert f"about {format_dollars(spent.dollars_left)} more for {spent.n_left} trials left." in stopped
    assert "Spent on answers: " in called(*words, "--no-limits")
    assert Run(tmp_path / "run").summary().state == "finished"
