"""The cases that a page shows in full, of a real small run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from seen_page import SeenPage, see, small_run

from shaketable.analyses.evidence.cases import Cases
from shaketable.report.case import Case, explain_cases
from shaketable.report.cases import make_cases
from shaketable.report.section import Page
from shaketable.stages.report import page_of, render
from shaketable.store import Run
from shaketable.store.explanations import Explanation, GivenAnswer

REPLIES = (
    "New Haven, no, Toronto, Pyotr Ilyich Tchaikovsky, tram, Antonio Vivaldi, Greece",
    "I cannot say.",
    "Berlin",
)
"""The first is right for every question."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(
        tmp_path_factory.mktemp("cases") / "run",
        analyses=["correctness", "cases"],
        score=["token_f1", "contains", "refusal"],
        models=[f"scripted(replies={REPLIES!r})"],
        perturbations=["unchanged", "sentence_removal", "sentence_replacement"],
        temperatures=[0.5, 1.0, 2.0],
    )


@pytest.fixture(scope="module")
def page(run: Run) -> Page:
    return page_of(run, run.findings())


def test_cases_are_shown_with_both_evidences_every_answer_and_tags(page: Page) -> None:
    first = make_cases(page)[0]
    assert first.evidence_before != first.evidence_after
    assert len(first.answers) == 2 * 2  # with both evidences, two runs each
    assert first.headline is not None and "token_f1 is 0 with " in first.headline, first.headline
    wrong = [answer for answer in first.answers if answer.correct == 0]
    assert wrong and all(answer.tags in (("wrong",), ("refusal",)) for answer in wrong)


def test_different_disturbances_take_turns(page: Page) -> None:
    first, second = make_cases(page)[:2]
    assert first.answers[0].temperature == second.answers[0].temperature == 0.5  # the nearest to 0.6
    assert first.perturbation != second.perturbation


def test_only_what_lost_something_is_shown(page: Page) -> None:
    result = page.result(Cases)
    assert result is not None
    n_lost = sum((drop.drop.value or 0.0) > 0 for drop in result.drops)
    assert len(make_cases(page)) == n_lost > 0


def test_a_case_whose_records_are_not_there_is_left_out(page: Page) -> None:
    assert make_cases(replace(page, read_records=lambda keys: ())) == []


def test_they_are_on_the_page_with_their_evidence_as_a_diff(run: Run, page: Page) -> None:
    seen = see(run)
    assert "examples" in seen.values("id")
    assert make_cases(page)[0].question in seen.text
    assert "del" in seen.tags
    assert "refusal" in seen.text


def test_without_the_analysis_the_examples_of_the_run_are_shown(run: Run, page: Page) -> None:
    without = replace(page, findings=replace(page.findings, findings=()))
    assert make_cases(without) == []
    assert run.examples(1)[0].question in SeenPage(render(run, without, [], [])).text


def explanation_of(case: Case, name: str = "q") -> Explanation:
    assert case.system is not None
    return Explanation(
        question_id=case.question_id, question=case.question, gold=case.gold, system=case.system, name=name,
        wording=case.wording, variation="original", perturbation="unchanged", temperature=0.0, repeats=1,
        is_sampled=False, judged_by="contains", key=name, made_from="", answer=GivenAnswer(text="Oslo", is_right=True),
    )  # fmt: skip


def test_cases_that_are_explained_come_first_and_others_are_added(page: Page) -> None:
    cases = make_cases(page)
    last, stranger = cases[-1], replace(cases[0], question_id="stranger", question="Who?", wording="Who?")
    shown = explain_cases(cases, [explanation_of(last, "old"), explanation_of(last, "new"), explanation_of(stranger)])
    first, second, *others = shown
    assert first.question_id == last.question_id
    assert first.explanation is not None and first.explanation.name == "new"
    assert (second.question, second.answers) == ("Who?", ())
    assert sorted(case.headline or "" for case in (first, *others)) == sorted(case.headline or "" for case in cases)
    assert explain_cases(cases, ()) == cases
