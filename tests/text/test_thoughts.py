from __future__ import annotations

import pytest

from shaketable.text.thoughts import split_thoughts


@pytest.mark.parametrize("finished", [True, False])
def test_a_leading_block_is_thoughts_and_the_rest_is_the_answer(finished: bool) -> None:
    assert split_thoughts("<think>\nIs it Lyon? No.\n</think>\n\nParis.", finished) == ("Is it Lyon? No.", "Paris.")


def test_white_space_before_the_block_does_not_hide_it() -> None:
    assert split_thoughts("\n <think>a</think>b", True) == ("a", "b")


def test_a_closing_tag_alone_ends_thoughts_that_the_template_opened() -> None:
    assert split_thoughts("Is it Lyon? No.\n</think>\nParis.", True) == ("Is it Lyon? No.", "Paris.")


def test_an_unclosed_block_that_was_cut_off_is_all_thoughts() -> None:
    assert split_thoughts("<think>Is it Lyo", False) == ("Is it Lyo", "")


def test_an_unclosed_block_that_the_model_ended_itself_stays_as_it_is() -> None:
    assert split_thoughts("<think>Paris.", True) == ("", "<think>Paris.")


def test_an_empty_block_leaves_no_thoughts_and_no_tags() -> None:
    assert split_thoughts("<think>\n\n</think>\n\nParis.", True) == ("", "Paris.")


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("text", ["", "  Paris. \n", "Write <think>so</think> to think.", "Write <think> to think."])
def test_a_text_without_a_leading_block_is_untouched(text: str, finished: bool) -> None:
    assert split_thoughts(text, finished) == ("", text)


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("<think>a</think>b </think> c", "a</think>b", "c"),
        ("a</think>b</think>c", "a</think>b", "c"),
        ("<think>a <think>b</think> c</think> d", "a <think>b</think> c", "d"),
        ("<think>a <think>b</think> c", "a <think>b", "c"),
        ("<think>a</think>Write <think>so</think>.", "a", "Write <think>so</think>."),
        ("Write <think>so</think>.</think>Paris.", "Write <think>so</think>.", "Paris."),
    ],
)
def test_no_closing_tag_that_nothing_opens_stays(text: str, thoughts: str, answer: str) -> None:
    assert split_thoughts(text, True) == (thoughts, answer)
