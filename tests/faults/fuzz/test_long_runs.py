"""No reader of text takes quadratic time: models that run hot write one thing ten thousand times."""

from __future__ import annotations

import pytest
from faults.fuzz.readers import READERS
from faults.fuzz.target import LONGEST_SECONDS, TooSlow, ended_after
from faults.fuzz.texts import RUNS

LONGER = 30_000
"""Characters of which quadratic time is felt."""
KNOWN = (
    ("refusal", "\n"),
    ("refusal", "-\n"),
    ("correct_choice", "9"),
    ("correct_choice", "than "),
    ("correct_choice", "answer "),
    ("correct_question", "\n"),
    ("boxed", "\\boxed{"),
    ("split_end", "."),
    ("sentence_bounds", "."),
    ("split_sentences", "."),
    ("reading_ease", "."),
    ("word_diff", "a "),
)
"""Readers, and the runs on which they once took minutes."""


def read(name: str, run: str, n: int) -> None:
    text = run * (n // len(run))
    for given in (text, f"{text}x", f"x{text}!"):
        try:
            with ended_after(LONGEST_SECONDS):
                READERS[name](given)
        except TooSlow:
            pytest.fail(f"{name} takes more than {LONGEST_SECONDS:g} s for {n:,} characters of {run!r}")


@pytest.mark.parametrize(("name", "run"), KNOWN)
def test_a_reader_is_quick_on_what_once_took_minutes(name: str, run: str) -> None:
    read(name, run, LONGER)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(READERS))
def test_every_reader_is_quick_on_every_run(name: str) -> None:
    for run in (*RUNS, "-\n", "A.\n"):
        read(name, run, LONGER)
