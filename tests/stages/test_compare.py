from __future__ import annotations

from pathlib import Path

import pytest
from made_answers import answer_rows, made_run

from shaketable.errors import StudyError
from shaketable.report.comparison_words import describe_comparison, describe_effort, describe_verdict
from shaketable.stages.compare import Comparisons, compare

BEFORE, AFTER = [0] * 20 + [1] * 4, [1] * 14 + [0] * 6 + [1] * 3 + [0]
"""Fourteen questions are gained, one is lost."""


def verdict(told: Comparisons) -> str:
    (compared,) = told.compared
    return describe_verdict(compared, told)


def test_two_runs_of_one_system_are_named_by_their_folders(tmp_path: Path) -> None:
    old, new = made_run(tmp_path / "old", answer_rows(BEFORE)), made_run(tmp_path / "new", answer_rows(AFTER))
    told = compare(old, new)
    assert verdict(told).startswith("new is better than old: 54 points [")
    assert "old 17 %, new 71 %, n = 24 questions" in verdict(told)
    (compared,) = told.compared
    assert (compared.moves.n_up, compared.moves.n_down, compared.moves.n_same) == (14, 1, 9)
    move = next(own for own in compared.moves.questions if own.question_id == "q23")
    assert (move.question, move.gold, move.difference) == ("Where is 23?", ("town023",), -1)
    (answers,) = move.answers
    assert (answers.first.text, answers.second.text) == ("It is town023, of course.", "It is Oslo.")


def test_two_systems_of_one_run_are_named_by_what_differs(tmp_path: Path) -> None:
    rows = answer_rows(BEFORE, method="short") + answer_rows(AFTER, method="long", n_tokens=30)
    told = compare(made_run(tmp_path / "run", rows))
    assert verdict(told).startswith("long is better than short: 54 points [")
    (compared,) = told.compared
    tokens = next(own.change for own in compared.efforts if own.measured == "n_tokens")
    assert (tokens.first.value, tokens.second.value, tokens.difference.value) == (10, 30, 20)


def test_equal_runs_differ_by_exactly_nothing_and_nothing_is_claimed(tmp_path: Path) -> None:
    told = compare(made_run(tmp_path / "a", answer_rows(AFTER)), made_run(tmp_path / "b", answer_rows(AFTER)))
    assert told.claims.shown == ()
    assert "No difference in correctness is shown between a and b: no difference [" in verdict(told)
    (compared,) = told.compared
    assert compared.comparison.overall.difference.value == 0
    assert compared.moves.questions == ()
    assert compared.power is not None and compared.power.n_needed > 24
    for effort in compared.efforts:  # Counts have no scale of which an unseen question could lose the whole.
        assert effort.change.is_same and (effort.change.difference.low, effort.change.difference.high) == (0, 0)
        assert "equally many" in describe_effort(effort, compared) or "take the same" in describe_effort(
            effort, compared
        )
        assert "the same for every question" in describe_effort(effort, compared)
    assert "To see a difference of 5 points it would need about" in verdict(told)


def test_too_few_questions_claim_nothing(tmp_path: Path) -> None:
    told = compare(made_run(tmp_path / "a", answer_rows([0] * 5)), made_run(tmp_path / "b", answer_rows([1] * 5)))
    assert "5 questions are too few to claim anything" in verdict(told)


def test_systems_that_two_runs_share_are_compared_each_with_itself_as_one_family(tmp_path: Path) -> None:
    first, second = (
        made_run(tmp_path / name, [*answer_rows(own, method="x"), *answer_rows(BEFORE, method="y")])
        for name, own in (("a", BEFORE), ("b", AFTER))
    )
    told = compare(first, second)
    assert [compared.first.system.method for compared in told.compared] == ["x", "y"]
    assert [claim.subject.cell.system.method for claim in told.claims.shown if claim.subject.cell.system] == ["x"]


def test_what_is_not_compared_is_told(tmp_path: Path) -> None:
    cool, hot = answer_rows(BEFORE), answer_rows(BEFORE, temperature=1.0)
    told = compare(made_run(tmp_path / "a", cool + hot), made_run(tmp_path / "b", cool[:20]))
    (compared,) = told.compared
    words = " ".join(describe_comparison(compared, told))
    assert "8 pairs of 4 questions of a: the other side was not asked these questions" in words
    assert "20 pairs of a: the other side was not asked under these conditions" in words


def test_a_question_of_the_same_id_with_another_text_is_another_question(tmp_path: Path) -> None:
    other = [row | {"question": "Who is it?"} if row["question_id"] == "q0" else row for row in answer_rows(AFTER)]
    told = compare(made_run(tmp_path / "a", answer_rows(AFTER)), made_run(tmp_path / "b", other))
    (compared,) = told.compared
    assert compared.comparison.n_questions == 23
    assert [(own.why, own.n) for own in compared.comparison.unpaired] == [("text", 1)]


@pytest.mark.parametrize(
    ("rows", "more", "words"),
    [
        ([{"question_id": "x", "question": "Who?", "gold": "I", "answer": "I", "model": "theirs"}], {}, "no question"),
        (
            answer_rows(AFTER, model="a") + answer_rows(AFTER, model="b"),
            {},
            "no system in common. The first has 'theirs'",
        ),
        (answer_rows(AFTER), {"metric": "contain"}, "--metric is 'contain'. Did you mean 'contains'?"),
        (answer_rows(AFTER), {"systems": ("their", "theirs")}, "no system 'their'. Did you mean 'theirs'?"),
        (answer_rows(AFTER), {"margin": "much"}, "margin is 'much'"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do(
    tmp_path: Path, rows: list[dict[str, object]], more: dict[str, object], words: str
) -> None:
    first, second = made_run(tmp_path / "a", answer_rows(BEFORE)), made_run(tmp_path / "b", rows)
    with pytest.raises(StudyError) as refused:
        compare(first, second, **more)  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_runs_that_speak_of_different_numbers_are_not_compared_unasked(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", answer_rows(BEFORE), ("contains", "exact_match"))
    second = made_run(tmp_path / "b", answer_rows(AFTER), ("exact_match", "contains"))
    with pytest.raises(StudyError, match="Say which number to compare: --metric, one of contains, exact_match"):
        compare(first, second)
    assert verdict(compare(first, second, metric="contains")).startswith("b is better than a")
    third = made_run(tmp_path / "c", answer_rows(AFTER), ("token_f1",))
    with pytest.raises(StudyError, match="no number in common"):
        compare(first, third)


def test_one_system_or_three_of_one_run_are_not_compared_unasked(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="has one system, so there is nothing to compare it with"):
        compare(made_run(tmp_path / "one", answer_rows(AFTER)))
    three = made_run(tmp_path / "three", [row for name in "xyz" for row in answer_rows(AFTER, method=name)])
    with pytest.raises(StudyError, match=r"has 3 systems: 'theirs · x', 'theirs · y', 'theirs · z'. Say which two"):
        compare(three)
    assert "between x and z" in verdict(compare(three, systems=("x", "theirs · z")))
    with pytest.raises(StudyError, match="'theirs' is of 3 systems"):
        compare(three, systems=("theirs", "x"))
    with pytest.raises(StudyError, match="are the same system"):
        compare(three, systems=("x", "x"))
