from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.datasets.reading.select import ShortCell, select
from shaketable.errors import StudyError
from shaketable.types import Question


def made(cells):
    """Questions from a list of (type, n_facts)."""
    return [
        Question(id=f"q{n:03}", text="?", answers=("a",), tags={"type": type, "n_facts": n_facts})
        for n, (type, n_facts) in enumerate(cells)
    ]


questions = st.lists(st.tuples(st.sampled_from(["bridge", "comparison"]), st.integers(2, 4)), min_size=1).map(made)
numbers = st.none() | st.integers(1, 40)
BY = ("type", "n_facts")


def cell(question):
    return question.tags["type"], question.tags["n_facts"]


@given(questions, numbers, numbers, st.integers(0, 3), st.randoms())
def test_the_order_of_the_input_changes_nothing(given_questions, per_cell, limit, seed, rng):
    moved = list(given_questions)
    rng.shuffle(moved)
    one = select(given_questions, by=BY, per_cell=per_cell, limit=limit, seed=seed)
    assert one == select(moved, by=BY, per_cell=per_cell, limit=limit, seed=seed)


@given(questions, numbers, st.integers(1, 60), st.integers(1, 60))
def test_a_smaller_limit_is_the_beginning_of_a_larger_one(given_questions, per_cell, small, large):
    small, large = sorted((small, large))
    few = select(given_questions, by=BY, per_cell=per_cell, limit=small, seed=1).questions
    many = select(given_questions, by=BY, per_cell=per_cell, limit=large, seed=1).questions
    assert many[: len(few)] == few


@given(questions, st.integers(1, 20), st.integers(1, 20))
def test_fewer_per_cell_is_a_part_of_more(given_questions, few, more):
    few, more = sorted((few, more))
    chosen = [select(given_questions, by=BY, per_cell=n, seed=1).questions for n in (few, more)]
    assert {question.id for question in chosen[0]} <= {question.id for question in chosen[1]}


@given(questions, st.integers(1, 60))
def test_counts_differ_by_one_at_most_while_cells_last(given_questions, limit):
    there = Counter(map(cell, given_questions))
    taken = Counter(map(cell, select(given_questions, by=BY, limit=limit, seed=1).questions))
    assert sum(taken.values()) == min(limit, len(given_questions))
    most = max(taken.values())
    assert all(taken[name] >= min(most - 1, there[name]) for name in there)


@given(questions, st.integers(1, 20))
def test_each_cell_gives_what_is_asked_or_all_it_has_and_says_so(given_questions, per_cell):
    there = Counter(map(cell, given_questions))
    selection = select(given_questions, by=BY, per_cell=per_cell, seed=1)
    assert Counter(map(cell, selection.questions)) == {name: min(n, per_cell) for name, n in there.items()}
    short = {(entry.values["type"], entry.values["n_facts"]): entry.n for entry in selection.short}
    assert short == {name: n for name, n in there.items() if n < per_cell}


def test_draws_are_uniform_and_depend_on_the_seed():
    pool = made([("bridge", 2)] * 10)
    drawn = Counter(
        question.id for seed in range(2000) for question in select(pool, by=BY, per_cell=3, seed=seed).questions
    )
    # Each of the ten is drawn with probability 0.3: 600 ± 5 standard deviations (20.5).
    assert set(drawn) == {question.id for question in pool}
    assert all(abs(n - 600) < 103 for n in drawn.values())


def test_without_wishes_all_questions_come():
    pool = made([("bridge", 2), ("comparison", 3)])
    assert sorted(q.id for q in select(pool).questions) == ["q000", "q001"]
    assert select([]).questions == ()


def test_a_question_without_the_tag_has_a_cell_of_its_own():
    pool = [*made([("bridge", 2)]), Question(id="z", text="?", answers=("a",))]
    selection = select(pool, by=["type"], per_cell=2)
    assert len(selection.questions) == 2
    assert ShortCell(values={"type": None}, n=1) in selection.short


def test_an_unknown_tag_or_a_useless_number_is_refused():
    pool = made([("bridge", 2)])
    with pytest.raises(StudyError, match=r"tag 'tipe'.* Did you mean 'type'\? Tags: n_facts, type\."):
        select(pool, by=["tipe"])
    for wish in ({"per_cell": 0}, {"limit": -1}):
        with pytest.raises(StudyError, match="expected at least 1"):
            select(pool, **wish)


@given(questions, st.sets(st.integers(2, 4), min_size=1), st.randoms())
def test_a_filter_leaves_the_questions_whose_tag_has_one_of_its_values(given_questions, wanted, rng):
    there = {question.tags["n_facts"] for question in given_questions}
    if not wanted <= there:
        with pytest.raises(StudyError, match="no question has the value"):
            select(given_questions, where={"n_facts": sorted(wanted)})
        return
    chosen = select(given_questions, where={"n_facts": sorted(wanted)}, by=BY, seed=1).questions
    expected = [question for question in given_questions if question.tags["n_facts"] in wanted]
    assert sorted(question.id for question in chosen) == [question.id for question in expected]
    # What is filtered away changes nothing about how the others are drawn.
    assert chosen == select(expected, by=BY, seed=1).questions


def test_all_tags_of_a_filter_must_fit():
    pool = made([("bridge", 2), ("bridge", 3), ("comparison", 2), ("comparison", 3)])
    assert [q.id for q in select(pool, where={"type": ["bridge"], "n_facts": [3]}).questions] == ["q001"]
    tagged = [*pool, Question(id="z", text="?", answers=("a",), tags={"type": "bridge"})]
    assert "z" not in [q.id for q in select(tagged, where={"n_facts": [2, 3]}).questions]


def test_a_filter_that_names_what_no_question_has_is_refused_with_what_there_is():
    pool = made([("bridge", 2), ("comparison", 10), ("bridge", 3)])
    with pytest.raises(StudyError, match=r"tag 'n_fact' to filter by \(dataset\.where\)\. Did you mean 'n_facts'\?"):
        select(pool, where={"n_fact": [2]})
    with pytest.raises(
        StudyError, match=r"^dataset\.where\.n_facts: no question has the value 5\. Values: 2, 3, 10\.$"
    ):
        select(pool, where={"n_facts": [2, 5]})
    with pytest.raises(StudyError, match=r'dataset\.where\.n_facts: no question has the value "2"\.'):
        select(pool, where={"n_facts": ["2"]})


def test_true_is_not_one():
    pool = [Question(id=name, text="?", answers=("a",), tags={"n": value}) for name, value in (("a", 1), ("b", True))]
    assert [question.id for question in select(pool, where={"n": [True]}).questions] == ["b"]
    assert [question.id for question in select(pool, where={"n": [1]}).questions] == ["a"]
