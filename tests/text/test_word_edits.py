from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shaketable.text.word_edits import WordEdit, apply_edits, word_edits

WORDS = st.lists(st.sampled_from(["who", "wrote", "the", "old", "book", "Book?"]), max_size=9).map(" ".join)


@given(WORDS, WORDS)
def test_all_edits_make_the_other_wording_and_none_leave_the_first(before: str, after: str) -> None:
    edits = word_edits(before, after)
    assert apply_edits(before, edits) == after
    assert apply_edits(before, ()) == before


@given(WORDS, WORDS, st.data())
def test_any_part_of_the_edits_has_words_of_the_two_alone_whatever_their_order(
    before: str, after: str, data: st.DataObject
) -> None:
    edits = word_edits(before, after)
    some = data.draw(st.permutations(edits)) if edits else []
    part = some[: data.draw(st.integers(0, len(some)))]
    between = apply_edits(before, part)
    assert set(between.split()) <= {*before.split(), *after.split()}
    grown = sum(len(edit.after) - len(edit.before) for edit in part)
    assert len(between.split()) == len(before.split()) + grown


def test_as_many_words_differ_one_by_one_and_others_as_a_whole() -> None:
    assert word_edits("who wrote it", "who penned that") == (
        WordEdit(start=1, before=("wrote",), after=("penned",)),
        WordEdit(start=2, before=("it",), after=("that",)),
    )
    assert word_edits("who wrote it", "by whom was it written") == (
        WordEdit(start=0, before=("who", "wrote"), after=("by", "whom", "was")),
        WordEdit(start=3, before=(), after=("written",)),
    )
