"""Who gets which task, what counts, and which rewrites are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.annotation.tasks import Board, Refused, Task, entry_of, person, reviewing_tasks, rewrite_trouble
from shaketable.types import Variant
from shaketable.variations.variant_set import FrozenWording

JAWS = Task(
    id="q1", question_id="q1", question="Who was the director of the movie Jaws?", answers=("Steven Spielberg", "yes")
)


def tasks(n: int) -> list[Task]:
    return [Task(id=f"q{i}", question_id=f"q{i}", question=f"Where does river {i} end?") for i in range(n)]


def row(task: Task, annotator: str, rewrite: str = "mouth of it?", **more: str) -> dict[str, str]:
    return {"id": task.id, "question": task.question, "rewrite": rewrite, "annotator": annotator, **more}


# --- who gets which -------------------------------------------------------------------------------


def test_the_question_with_the_fewest_rewrites_comes_first():
    q0, q1, q2 = tasks(3)
    board = Board([q0, q1, q2], [row(q0, "Ada"), row(q0, "Bo"), row(q1, "Bo")])
    assert board.next_task("cy") == q2
    board.add("cy", "q2")
    assert board.next_task("cy") == q1


def test_a_question_stays_with_its_person_and_others_get_another():
    q0, q1 = tasks(2)
    board = Board([q0, q1])
    assert [board.next_task("ada"), board.next_task("bo"), board.next_task("ada")] == [q0, q1, q0]


def test_a_question_that_another_holds_is_given_when_nothing_else_is_left():
    board = Board(tasks(1), [row(tasks(1)[0], "Bo")])
    assert board.next_task("ada").id == board.next_task("cy").id == "q0"
    board.add("ada", "q0")
    assert "2 others have done this one" in board.refusal("cy", "q0")


def test_a_skipped_question_comes_last():
    board = Board(tasks(3))
    board.skip("ada", board.next_task("ada").id)
    assert board.next_task("ada").id == "q1"
    board.add("ada", "q1")
    board.add("ada", "q2")
    assert board.next_task("ada").id == "q0"


@given(st.integers(1, 6), st.lists(st.sampled_from(["ada", "bo", "cy", "di"]), max_size=40))
def test_nobody_gets_a_question_twice_and_no_question_more_than_two_people(n, turns):
    board, seen = Board(tasks(n)), set()
    for who in turns:
        task = board.next_task(who)
        if task is None:
            assert all(who in people or len(people) == 2 for people in board.done.values())
            continue
        assert (who, task.id) not in seen
        # Work spreads: nobody gets a second rewrite of one question while another that is open to them has none.
        empty = [i for i, people in board.done.items() if not people]
        assert not board.done[task.id] or not empty
        seen.add((who, task.id))
        board.add(who, task.id)
    assert all(len(people) <= 2 for people in board.done.values())
    assert board.progress("ada")["done"] == len(seen)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["Ada", "ada ", "Bo", "Cy"])), max_size=12))
def test_loading_counts_two_different_people_at_most(entries):
    three = tasks(3)
    board = Board(three, [row(three[i], name) for i, name in entries])
    for i, task in enumerate(three):
        people = list(dict.fromkeys(person(name) for place, name in entries if place == i))
        assert board.done[task.id] == set(people[:2])
    assert len(board.remarks) == len(entries) - board.progress("")["done"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"rewrite": "  "}, "it is empty"),
        ({"rewrite": " Where does river 0 end? "}, "it is the same as the question"),
        ({"annotator": "ADA"}, "it is the second by the same person"),
        ({"question": "Where does it begin?"}, "it was written for another wording, 'Where does it begin?'"),
        ({"id": "q9"}, "it is about nothing that is asked here"),
        ({"annotator": " "}, "it has no name"),
    ],
)
def test_an_entry_that_does_not_count_is_named(entry, reason):
    (q0,) = tasks(1)
    board = Board([q0], [row(q0, "Ada"), {**row(q0, "Bo"), **entry}])
    assert board.done["q0"] == {"ada"}
    (remark,) = board.remarks
    assert reason in remark


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "A\x07da"])
def test_a_name_must_be_one(name):
    with pytest.raises(Refused, match="1 to 60 letters"):
        Board([JAWS]).sign_in(name)


def test_case_and_spaces_make_nobody_another_person():
    board = Board([JAWS])
    assert board.sign_in("Ada  Lovelace") == board.sign_in(" ada lovelace ")
    assert board.names == {"ada lovelace": "Ada Lovelace"}


# --- what is taken --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rewrite", "hint"),
    [
        ("", "Nothing is written yet"),
        (" ?! ", "Nothing is written yet"),
        ("who was director of the movie JAWS", "the question itself, apart from punctuation"),
        ("The director of the movie Jaws, who was it?", None),
        ("The director of the movie Jaws was who?", "words in another order"),
        ("Who was the direcor of the movie Jaws?", "near copy: 98% of the letters"),
        ("Who made Jaws, was it Steven Spielberg?", "tells the answer, 'steven spielberg'"),
        ("jaws director?", None),
        ("Is it true, yes, that I forgot who shot Jaws?", None),
        ("x" * 2001, "2,001 characters, 2,000 are allowed"),
    ],
)
def test_copies_and_answers_are_refused_with_a_hint(rewrite, hint):
    found = rewrite_trouble(JAWS, rewrite)
    assert (found is None) if hint is None else (hint in found)


def test_the_hint_names_words_to_replace_and_leaves_names_alone():
    # "director" and "movie" are the long words that were kept; "Jaws" is a name.
    assert "Say 'director', 'movie' in another way" in rewrite_trouble(JAWS, JAWS.question)


@given(st.text(max_size=60))
def test_the_question_itself_is_always_refused(text):
    assert rewrite_trouble(Task(id="q", question_id="q", question=text), text)


def test_a_rewrite_becomes_one_line_with_the_question_it_was_written_for():
    entry = entry_of(JAWS, "Ada", {"rewrite": " who made\n\nJaws \ud800"})
    assert entry == {"id": "q1", "question": JAWS.question, "rewrite": "who made Jaws ?", "annotator": "Ada"}


def test_a_verdict_is_yes_or_no():
    task = Task(id="d", question_id="q1", question="Who?", wording="Whoo?", variation="spelling")
    assert entry_of(task, "Ada", {"accepted": False})["accepted"] is False
    with pytest.raises(Refused):
        entry_of(task, "Ada", {"accepted": "yes"})


def test_wordings_to_judge_are_those_a_machine_made_and_the_gate_let_through():
    def frozen(text: str, variation: str = "formality", rejected: str | None = None) -> FrozenWording:
        variant = Variant(question_id="q", text=text, variation=variation, rejected=rejected)
        return FrozenWording(original="Who?", variant=variant)

    given = [frozen("Who?", "original"), frozen("Yo, who?"), frozen("Yo, who?"), frozen("Hm", rejected="meaning")]
    many = [frozen(f"Yo {i}, who?") for i in range(50)]
    assert [task.wording for task in reviewing_tasks(given)] == ["Yo, who?"]
    some = reviewing_tasks(many, limit=10)
    assert len(some) == 10
    assert some != reviewing_tasks(many)[:10]
    assert {task.id for task in some} == {task.id for task in reviewing_tasks(many[::-1], limit=10)}
