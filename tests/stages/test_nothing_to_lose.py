"""A system that is never right passes every test of robustness, and is told to have nothing to lose instead."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shaketable.analyses.claims import claims_of
from shaketable.cli.app import app
from shaketable.report.cards import make_cards
from shaketable.report.section import Section
from shaketable.stages.analyze import analyze
from shaketable.stages.import_answers import import_answers
from shaketable.stages.report import sections_of
from shaketable.stages.run import run
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.study import load_study

BANANA = "scripted(replies=('banana', 'a banana', 'bananas'))"
"""Hot answers differ, so that temperature is seen to be applied."""
FIRM = ("equivalent to", "as good as", "may run", "robust", "safe")
"""What must not be said of it."""


def shipped(name: str, folder: Path, **changes: Any) -> Run:
    """A shipped study, asked of a system that knows one word."""
    with resources.as_file(resources.files("shaketable.resources") / "studies" / f"{name}.toml") as file:
        study = load_study(file)
    dataset = replace(study.datasets[0], limit=12)
    changes = {"metrics": ("correct",), "temperatures": (0.0, 1.0, 2.0), "repeats": 2, "n_resamples": 99} | changes
    return run(replace(study, models=(BANANA,), datasets=(dataset,), **changes), folder)


@pytest.fixture(scope="module", params=["context_temperature", pytest.param("joint", marks=pytest.mark.slow)])
def never_right(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    alone = {"main_metric": "correct", "margin": None, "reference": "short"}
    changes = alone if request.param == "context_temperature" else {}
    return shipped(request.param, tmp_path_factory.mktemp(request.param) / "run", **changes)


@pytest.fixture(scope="module")
def sections(never_right: Run) -> list[Section]:
    return sections_of(never_right, never_right.findings())


def test_every_system_is_told_to_have_nothing_to_lose(never_right):
    findings = never_right.findings()
    asked = never_right.records().select("method", "variation").unique().rows()
    listed = {(entry.method, entry.variation) for entry in findings.nothing_to_lose if entry.group is None}
    assert listed == set(asked)
    assert not [finding for finding in findings.findings if finding.failure]


def test_nothing_is_claimed(never_right):
    assert claims_of(never_right.findings()).shown == ()


def test_no_sentence_praises_it(sections):
    texts = [headline.text for section in sections for headline in section.headlines]
    sentences = [text.replace("no highest safe temperature", "") for text in texts]
    assert sentences
    praise = [text for text in sentences if any(word in text.lower() for word in FIRM)]
    assert praise == []


def test_no_card_claims_anything_and_the_first_is_no_ceiling(sections):
    cards, _ = make_cards(sections, set())
    assert cards
    assert not [card.headline.text for card in cards if card.headline.is_clear]
    assert (cards[0].headline.kind, cards[0].headline.number) == ("ceiling", "no ceiling")


def test_no_cell_of_a_matrix_is_good(sections):
    cells = [
        cell
        for section in sections
        for matrix in section.matrices
        for _, lines in matrix.groups
        for _, row in lines
        for cell in row
    ]
    assert not [cell for cell in cells if cell.look in ("good", "even")]


def test_many_questions_prove_no_more(tmp_path):
    """Of 200 questions that are wrong before and after, everything would be equivalent, and hot as cool."""
    rows = [
        {
            "question_id": f"q{i}",
            "question": f"Who wrote book {i}?",
            "gold": f"Author {i}",
            "answer": f"banana {i % 7} {temperature}",
            "perturbation": perturbation,
            "temperature": temperature,
        }
        for i in range(200)
        for perturbation in ("unchanged", "sentence_removal")
        for temperature in (0.0, 1.0)
    ]
    (tmp_path / "bananas.jsonl").write_text("\n".join(map(json.dumps, rows)))
    imported = import_answers(tmp_path / "bananas.jsonl", tmp_path / "run").run
    score(imported, ["correct"])
    findings = analyze(imported, ["correctness", "equivalence", "guidelines"])
    assert claims_of(findings).shown == ()
    blind = replace(findings, nothing_to_lose=())
    assert {claim.says for claim in claims_of(blind).shown} == {"equivalent"}, "That is what it keeps from being said."
    ceilings = [
        [headline.number for section in sections_of(imported, own) for headline in section.headlines]
        for own in (findings, blind)
    ]
    assert "no ceiling" in ceilings[0] and "no ceiling" not in ceilings[1]


def test_page_and_command_line_say_so(never_right, tmp_path):
    assert "⚠ Too few questions to tell whether the baseline of " in (never_right.folder / "report.html").read_text(
        "utf-8"
    )
    shutil.copytree(never_right.folder, tmp_path / "run")  # Others read the findings of all analyses.
    words = ["analyze", str(tmp_path / "run"), "--analysis", "correctness"]
    assert "above chance level: it scores 0 %" in CliRunner().invoke(app, words).output
    values = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert len(values["nothing_to_lose"]) > 0 and values["claims"] == []
