"""One question is one question, no number is written with two signs, and nothing that opens is nameless."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from seen_page import see, small_run
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.report.section import Table
from shaketable.report.templates import environment
from shaketable.report.words import (
    count,
    count_questions,
    format_difference,
    format_entry,
    format_more,
    name_questions,
    sentence_case,
    too_few,
)
from shaketable.types import Estimate

NOTHING = Estimate(value=0.0, low=-0.12, high=0.12, level=0.95, n=40, how="by hand", unit="share")
ONE_OF_SEVERAL = re.compile(
    r"(?<![\d.,] )(?<![\d.,−])\b1 (questions|trials|answers|calls|conditions|records|facts|runs|rows|scores|wordings)\b"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (name_questions(1), "1 question"),
        (count(1, "trial"), "1 trial"),
        (count(1728, "trial"), "1,728 trials"),
        (count_questions(1), "n = 1 question"),
        (count_questions(3, 24), "n = 3 to 24 questions"),
        (count_questions(24, 24), "n = 24 questions"),
        (too_few(1, "claim anything"), "1 question is too few to claim anything"),
        (sentence_case(count_questions(40)), "n = 40 questions"),
        (sentence_case("noise"), "Noise"),
    ],
)
def test_a_count_agrees_with_its_noun(text: str, expected: str) -> None:
    assert text == expected


def test_nothing_is_no_amount_of_more() -> None:
    assert format_more(NOTHING) == "no difference [−12, 12]"


@pytest.mark.parametrize("text", [format_entry(-0.5), format_entry(-0.5, "share"), format_difference(NOTHING)])
def test_a_minus_is_one_sign(text: str) -> None:
    assert "−" in text and "-" not in text


@pytest.mark.parametrize("title", ["", "By type"])
def test_what_opens_has_a_name(title: str) -> None:
    table = Table(title=title, columns=("A",), rows=((1,),), is_folded=True)
    source = "{% import 'pieces.html' as pieces %}{% call pieces.fold(table) %}numbers{% endcall %}"
    shown = environment.from_string(source).render(table=table)
    [name] = re.findall(r"<summary>(.*?)</summary>", shown)
    assert name == (title or "The numbers")


def test_a_run_of_one_question_says_one(tmp_path) -> None:
    run = small_run(tmp_path / "run", analyses=["correctness", "variability", "guidelines", "cases"], limit=1)
    words = [see(run).text]
    words += [
        CliRunner().invoke(app, [*command, str(run.folder)]).output for command in (["verify"], ["score"], ["analyze"])
    ]
    found = [text[match.start() - 60 : match.end() + 30] for text in words for match in ONE_OF_SEVERAL.finditer(text)]
    assert found == []
    assert re.search(r"\b1 question\b", words[0])


def test_a_page_has_no_nameless_fold(tmp_path) -> None:
    page = small_run(tmp_path / "run", analyses=["correctness", "degradation"]).folder / "report.html"
    names = re.findall(r"<summary>(.*?)</summary>", page.read_text("utf-8"), re.DOTALL)
    assert names and all(name.strip() for name in names)


def test_an_empty_estimate_has_no_sign() -> None:
    assert format_more(replace(NOTHING, value=None, reason="no scores")) == format_difference(
        replace(NOTHING, value=None, reason="no scores")
    )
