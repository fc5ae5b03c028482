"""Names that are cut in a chart stay different."""

from __future__ import annotations

import altair as alt
import hypothesis.strategies as st
from hypothesis import given

from shaketable.report.charts.looks import names_legend, shorten_names

SAME = "with random noise (sentences: all) in the evidence, at temp "
"""60 characters that two names share."""
LETTERS = 40


def test_two_names_that_share_sixty_characters_read_differently() -> None:
    names = [f"{SAME}0.7", f"{SAME}1.0"]
    assert len(SAME) == 60
    first, second = shorten_names(names, LETTERS).values()
    assert first != second and "…" in first and first.endswith("0.7") and second.endswith("1.0")


def test_names_that_differ_in_the_middle_show_where() -> None:
    names = [f"{SAME}typos{SAME}", f"{SAME}casual{SAME}"]
    first, second = shorten_names(names, LETTERS).values()
    assert "typos" in first and "casual" in second and max(len(first), len(second)) <= LETTERS


def test_short_names_are_whole() -> None:
    assert shorten_names(["unchanged", "synonym"], LETTERS) == {"unchanged": "unchanged", "synonym": "synonym"}


@given(st.sets(st.text(alphabet="ab", min_size=1, max_size=90), min_size=2, max_size=8), st.integers(12, 60))
def test_no_two_names_read_alike(names: set[str], letters: int) -> None:
    shown = shorten_names(sorted(names), letters)
    assert len(set(shown.values())) == len(names)
    assert all(len(text) <= letters + 4 for text in shown.values())


def test_a_legend_writes_what_stays_different() -> None:
    legend = names_legend([f"{SAME}{SAME}0.7", f"{SAME}{SAME}1.0"])
    assert isinstance(legend, alt.Legend)
    written = legend.to_dict()["labelExpr"]
    assert written.count('0.7"') == 2 and written.count('1.0"') == 2, "Each name, and what is written of it."
