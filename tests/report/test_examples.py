from __future__ import annotations

from shaketable.report.case import Case, CaseAnswer
from shaketable.report.examples import show_case
from shaketable.report.word_diff import evidence_diff, new_order, word_diff


def case(*answers: CaseAnswer) -> Case:
    return Case(
        question="Where does Ann live?",
        wording="where does Ann live",
        gold=("Paris",),
        evidence_before="Ann lives in Paris now.",
        evidence_after="Ann lives in Rome now.",
        perturbation="entity_replacement",
        answers=answers,
    )


def answer(text: str = "x", **more: object) -> CaseAnswer:
    plain: dict[str, object] = {"temperature": 0.0, "perturbation": "typos", "text": text, "correct": 0.0}
    return CaseAnswer(**plain | more)  # type: ignore[arg-type]


def test_a_diff_keeps_removes_and_adds_words() -> None:
    runs = word_diff("Ann lives in Paris now.", "Ann lives in Rome now.")
    assert runs == [("kept", "Ann lives in"), ("gone", "Paris"), ("new", "Rome"), ("kept", "now.")]


def test_failure_tags_stand_beside_the_answers_and_failed_trials_say_so() -> None:
    shown = show_case(case(answer(tags=("refusal", "wrong")), answer("", correct=None, failure="timeout")))
    ((_, ((first, second),)),) = shown.lines
    assert first.tags == ("refusal",)  # wrong is what the mark says
    assert second.failure == "timeout"


def test_equal_answers_stand_once_with_how_often_they_came() -> None:
    ((_, ((same, other),)),) = show_case(case(answer("a"), answer("a"), answer("b"))).lines
    assert [(same.text, same.n), (other.text, other.n)] == [("a", 2), ("b", 1)]


def test_answers_stand_by_temperature_with_the_original_evidence_first() -> None:
    answers = [answer(temperature=t, perturbation=p) for t in (1.0, 0.0) for p in ("typos", "unchanged")]
    shown = show_case(case(*answers))
    assert shown.columns == ("unchanged", "typos")
    assert [temperature for temperature, _ in shown.lines] == [0.0, 1.0]
    assert shown.evidence == "entity replacement"


def test_a_new_order_of_passages_is_numbered() -> None:
    before, after = "A b.\n\nC d.\n\nA b.", "A b.\n\nA b.\n\nC d."
    assert new_order(before, after) == "1 2 3 → 1 3 2"
    assert evidence_diff(before, after) == [("kept", "[1] A b. ¶ [2] C d. ¶ [3] A b.")]
    assert new_order(before, before) == ""


def test_passages_stay_apart_in_a_diff() -> None:
    before, after = "A b.\n\nC d.", "A b.\n\nC e."
    assert new_order(before, after) == ""
    assert evidence_diff(before, after) == [("kept", "A b. ¶ C"), ("gone", "d."), ("new", "e.")]
