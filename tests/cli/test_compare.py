from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_answers import answer_rows, made_run
from typer.testing import CliRunner

from shaketable.cli.app import app

SHORT, LONG = [0] * 20 + [1] * 4, [1] * 14 + [0] * 6 + [1] * 3 + [0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "prompts"
    made_run(folder, answer_rows(SHORT, method="short") + answer_rows(LONG, method="long"))
    return folder


def invoke(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_people_get_a_verdict_a_table_and_the_answers_that_moved(run: Path) -> None:
    code, words, _ = invoke(run)
    assert code == 0
    assert "long is better than short: 54 points [" in words
    assert "tokens written" in " ".join(words.split())
    assert "Of 24 questions 14 have more correctness with long, 1 less, and 9 the same." in words
    assert "short: It is Oslo." in words


def test_programs_get_every_number_and_what_is_claimed(run: Path) -> None:
    code, words, _ = invoke(run, "--json")
    (compared,) = json.loads(words)["comparisons"]
    assert code == 0
    assert compared["comparison"]["overall"]["difference"]["value"] == pytest.approx(13 / 24)
    assert compared["claims"]["overall"]["is_shown"] is True
    assert [compared[side]["name"] for side in ("first", "second")] == ["short", "long"]
    assert compared["moves"]["questions"][0]["answers"][0]["first"]["text"] == "It is Oslo."


def test_a_page_is_written_where_it_is_asked_for(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.html"
    code, words, _ = invoke(run, "--out", file, "--json")
    assert (code, json.loads(words)["page"]) == (0, str(file))
    assert "long is better than short." in file.read_text("utf-8")


def test_the_order_of_names_is_the_direction(run: Path) -> None:
    _, words, _ = invoke(run, "--systems", "long", "short")
    assert "short is worse than long: 54 points [" in words


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--systems", "shrt", "long"), "no system 'shrt'. Did you mean 'short'?"),
        (("--metric", "f1"), "--metric is 'f1'. Numbers of all runs: contains."),
        (("--margin", "a lot"), "Write an amount, such as 0.01, or spreads, such as '0.2 sd'."),
    ],
)
def test_wrong_words_are_refused_with_exit_2(run: Path, words: tuple[str, ...], refusal: str) -> None:
    code, _, told = invoke(run, *words)
    assert code == 2
    assert refusal in " ".join(told.split())


def test_a_folder_that_is_no_run_is_named(run: Path, tmp_path: Path) -> None:
    code, _, told = invoke(run, tmp_path)
    assert code == 1
    assert str(tmp_path) in told.replace("\n", "")
