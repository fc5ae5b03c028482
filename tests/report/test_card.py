"""The one page of a run: what it says, and what it does not claim."""

import os
import random
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_studies import write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import StudyError
from shaketable.report.card import CardLine, RunCard, SystemCard
from shaketable.report.card_files import draw_svg, format_html, format_markdown
from shaketable.stages.analyze import analyze
from shaketable.stages.card import card, make_command, write_card
from shaketable.stages.import_answers import import_answers
from shaketable.stages.score import score
from shaketable.study import load_study
from shaketable.types import Study

ANALYSES = ("correctness", "degradation", "guidelines", "wording_accuracy")


def rows():
    """`strong` loses half to removal and a fifth to keywords; `never` is never right."""
    dice = random.Random(3)
    for n in range(40):
        for model, right in (("strong", 0.95), ("never", 0.0)):
            for variation, perturbation, loss in (
                *(("original", "unchanged", 0.0), ("original", "sentence_removal", 0.5)),
                *(("original", "source_reordering", 0.0), ("keywords", "unchanged", 0.3)),
            ):
                for temperature in (0.0, 1.0):
                    said = f"Ann{n}" if dice.random() < right - loss else "Bob"
                    yield {
                        "question_id": f"q{n}", "question": f"Who is {n}?", "gold": f"Ann{n}", "answer": said,
                        "model": model, "retriever": "gold", "perturbation": perturbation, "variation": variation,
                        "wording": f"{n}, who" if variation == "keywords" else f"Who is {n}?",
                        "temperature": temperature,
                    }  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("carded")
    made = import_answers(write_rows(folder / "answers.jsonl", list(rows())), folder / "run").run
    score(made)
    analyze(made, ANALYSES)
    return made


@pytest.fixture(scope="module")
def made(run):
    return card(run)


def lines(made, system):
    return {line.name: line for own in made.systems if own.name == system for line in own.lines}


def test_each_system_has_its_six_lines(made):
    assert [system.name for system in made.systems] == ["never", "strong"]
    names = ["Correct answers", "Temperature ceiling", "Factual Robustness Score", "Answers that flip"]
    assert [line.name for line in made.systems[0].lines] == [*names, "Worst evidence", "Worst wording"]


def test_accuracy_is_the_clean_case_with_its_interval_and_n(run, made):
    line = lines(made, "strong")["Correct answers"]
    table = run.score_table().filter(metric="correct", model="strong", perturbation="unchanged", variation="original")
    mean = table.filter(temperature=0.0)["value"].mean()
    assert line.number == f"{100 * mean:.0f} %"
    assert line.interval.startswith("[") and "n = 40 questions" in line.detail


def test_the_worst_evidence_and_wording_are_named_and_shown(made):
    evidence, wording = (lines(made, "strong")[name] for name in ("Worst evidence", "Worst wording"))
    assert evidence.look == "shown" and "sentence removal" in evidence.detail
    assert wording.look == "shown" and "keywords" in wording.detail


def test_a_system_that_is_never_right_has_nothing_to_lose(made):
    never = lines(made, "never")
    assert {never[name].look for name in ("Temperature ceiling", "Worst evidence", "Worst wording")} == {
        "nothing to lose"
    }
    (own,) = (system for system in made.systems if system.name == "never")
    assert any("chance level" in note for note in own.notes)


def test_what_the_study_does_not_ask_is_not_measured(made):
    line = lines(made, "strong")["Factual Robustness Score"]
    assert (line.look, line.number) == ("not measured", "")
    assert "factual_robustness" in line.detail


def test_what_is_too_little_is_not_shown(tmp_path):
    few = [row for row in rows() if row["question_id"] in ("q0", "q1", "q2")]
    run = import_answers(write_rows(tmp_path / "few.jsonl", few), tmp_path / "run").run
    score(run)
    analyze(run, ANALYSES)
    line = lines(card(run), "strong")["Worst evidence"]
    assert line.look == "not shown" and "too few to claim anything" in line.detail


def test_a_run_with_one_condition_has_a_card(tmp_path):
    one = [
        row
        for row in rows()
        if (row["model"], row["variation"], row["perturbation"]) == ("strong", "original", "unchanged")
    ]
    run = import_answers(
        write_rows(tmp_path / "one.jsonl", [row for row in one if row["temperature"] == 0]), tmp_path / "run"
    ).run
    score(run)
    analyze(run, ["correctness"])
    told = lines(card(run), "strong") or {line.name: line for line in card(run).systems[0].lines}
    assert told["Correct answers"].number
    assert {line.look for name, line in told.items() if name != "Correct answers"} == {"not measured"}


def test_the_card_says_what_it_was_made_from(run, made):
    facts = dict(made.facts)
    assert "40 questions" in facts["Data"] and "seed 0" in facts["Study"]
    assert run.content_digest().startswith(facts["Records"].removeprefix("sha256 "))
    assert made.command.startswith("shaketable import")


def test_the_command_runs_the_same_study_from_where_the_card_was_made(tmp_path, monkeypatch):
    def command_of(name: str, study: Study) -> str:
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True, exist_ok=True)
        return make_command(SimpleNamespace(folder=Path(os.path.relpath(folder)), study=study))

    monkeypatch.chdir(tmp_path)
    own = replace(load_study("demo"), name="questions")
    assert command_of("questions", own) == "shaketable run runs/questions/study.toml --out runs/questions-again"
    assert command_of("two words", own).endswith("'runs/two words/study.toml' --out 'runs/two words-again'")
    assert command_of("demo", load_study("demo")) == "shaketable run demo --out runs/demo-again"
    assert command_of("few", load_study("demo", limit=3)) == "shaketable run demo --limit 3 --out runs/few-again"
    assert "demo/study.toml" in command_of("demo", replace(load_study("demo"), seed=8))
    monkeypatch.chdir(tmp_path / "runs" / "questions")
    assert command_of("questions", own) == "shaketable run study.toml --out ../questions-again"


@pytest.mark.parametrize("ending", ["html", "md", "png"])
def test_a_card_is_written_as_its_ending_says(run, tmp_path, ending):
    file = tmp_path / f"card.{ending}"
    done = CliRunner().invoke(app, ["card", str(run.folder), "--out", str(file)])
    assert done.exit_code == 0, done.output
    content = file.read_bytes()
    if ending == "png":
        width, height = struct.unpack(">II", content[16:24])
        assert content.startswith(b"\x89PNG") and (width, height > 1500) == (2400, True)
    else:
        assert all(word in content.decode() for word in ("strong", "Worst evidence", "points"))


def test_an_unknown_ending_is_told(run, tmp_path):
    with pytest.raises(StudyError, match=r"Use \.html, \.md, \.png"):
        write_card(run, tmp_path / "card.pdf")


HOSTILE = "</text><script>alert(1)</script> | **x** `y` [z](javascript:1)\n# h"


def test_hostile_names_do_nothing_in_any_form():
    line = CardLine(name="n", number=HOSTILE, interval="[0, 1]", detail=HOSTILE, look="shown")
    odd = RunCard(
        title=HOSTILE,
        systems=(SystemCard(name=HOSTILE, lines=(line,), notes=(HOSTILE,)),),
        facts=((HOSTILE, HOSTILE),),
        command="shaketable run x",
        notes=(HOSTILE,),
    )
    assert "<script>" not in format_html(odd) and "<script>" not in draw_svg(odd)
    text = format_markdown(odd)
    assert "<script>" not in text and "\n# h" not in text and "**x**" not in text
    assert [row.count(" | ") for row in text.splitlines() if row.startswith("| n ")] == [3]


def test_facts_that_were_scanned_have_their_score(tmp_path):
    scanned = [
        {
            "question_id": f"f{n}", "question": f"Fact {n}?", "gold": f"Ann{n}", "temperature": temperature,
            "answer": "Bob" if temperature > 0.5 and n % 2 else f"Ann{n}",
            **({"entropy": 0.1} if temperature == 0 else {}),
        }
        for n in range(12)
        for temperature in (0.0, 0.5, 1.0)
    ]  # fmt: skip
    run = import_answers(write_rows(tmp_path / "facts.jsonl", scanned), tmp_path / "run").run
    score(run)
    result = analyze(run, ["factual_robustness"]).findings[0].result
    told = {line.name: line for line in card(run).systems[0].lines}["Factual Robustness Score"]
    mean = next(own.score.value for own in result.scores if own.d == 1 and own.is_capped)
    assert told.number == f"{mean:.3f}" and "n = 12 facts" in told.detail
