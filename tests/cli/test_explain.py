from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import ruled
from typer.testing import CliRunner

from shaketable import catalog
from shaketable.cli.app import app

ASKED = ("--by", "removal", "--wordings", "run")


@pytest.fixture(autouse=True)
def with_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    own = catalog.known
    monkeypatch.setattr(catalog, "known", lambda kind: {**own(kind), **ruled.CATALOG.get(kind, {})})
    yield


@pytest.fixture
def run(tmp_path: Path) -> Path:
    texts = ("In which ancient town does the garden lie?",)
    ruled.make_run(tmp_path / "run", "birch and elm and old", variations=["original", f"listed(texts={texts!r})"])
    return tmp_path / "run"


def invoke(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["explain", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_people_see_the_decisive_sentences_and_the_answers_before_and_after(run: Path) -> None:
    code, told, _ = invoke(run, "q1", *ASKED)
    assert code == 0
    lines = told.splitlines()
    assert any(line.split()[:3] == ["●", "◆", "2"] for line in lines)
    assert any(line.split()[:3] == ["○", "◆", "5"] for line in lines)
    assert any(line.split() == ["without", "sentence", "2", "Rome", "wrong"] for line in lines)
    assert "In which [-old-] {+ancient+} town does the garden lie?" in told
    assert "• Without sentence 2 the answer turns wrong; likewise without sentence 5." in told


def test_programs_get_the_whole_explanation_and_nothing_else(run: Path) -> None:
    code, told, _ = invoke(run, "q1", *ASKED, "--json")
    value = json.loads(told)
    assert code == 0 and value["answer"] == {"text": "Oslo", "is_right": True, "failure": None}
    assert {own["operation"]: own["sentences"] for own in value["sets"]} == {
        "removal": ["Garden#1"],
        "alone": ["Garden#1", "Garden#4"],
    }
    assert value["rewording"]["flipping"]["edits"] == [{"start": 2, "before": ["old"], "after": ["ancient"]}]
    assert json.loads((run / "explanations.json").read_text())["explanations"][0]["question_id"] == "q1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("q2",), "has no question 'q2'"),
        (("q1", "--system", "other"), "has no system 'other'"),
        (("q1", "--repeats", "2"), "Give an odd number"),
        (("q1", "--max-calls", "0"), "--max-calls is 0. Give 1 or more."),
        (("q1", "--by", "magic"), "Invalid value for '--by'"),
    ],
)
def test_what_cannot_be_explained_is_told_with_exit_code_2(run: Path, words: tuple[str, ...], message: str) -> None:
    code, _, told = invoke(run, *words)
    assert code == 2 and message in " ".join(told.split())


def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    code, _, told = invoke(tmp_path, "q1")
    assert code == 2 and "holds no run" in " ".join(told.split())


def test_the_example_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "explain"
    shutil.copytree(Path(__file__).parents[2] / "examples" / "explain", folder)
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, ["run", "study.toml", "--out", "runs/books", "--json"])
    assert done.exit_code == 0, done.stderr
    told = {}
    for question in ("salt-road", "Glass Hill"):
        code, words, problem = invoke("runs/books", question, *ASKED, "--json")
        assert code == 0, problem
        told[question] = json.loads(words)["lines"]
    assert "Without sentence 4 the answer turns wrong; likewise without sentence 7." in told["salt-road"]
    assert "Sentence 7 alone gives the right answer." in told["salt-road"]  # It guesses.
    assert "Without sentence 2 the answer turns right." in told["Glass Hill"]
