from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.report.words import (
    format_amount,
    format_apart,
    format_cost,
    format_difference,
    format_entry,
    format_interval,
    format_level,
    format_lines,
    format_loss,
    format_lost_lines,
    format_number,
    format_p,
    holds_zero,
    join_temperatures,
    join_words,
    name_part,
    negate,
)
from shaketable.types import Estimate

SHARE = Estimate(value=0.52, low=0.41, high=0.63, level=0.95, n=24, how="by hand", unit="share")
SCORE = replace(SHARE, value=0.912, low=0.9, high=0.92, unit="score")
NOTHING = replace(SHARE, value=None, low=None, high=None, reason="a single run")


def test_numbers_in_tables_are_written_for_people() -> None:
    assert format_entry(0.12345, "share") == "12.3 %"
    assert format_entry(0.98765, "score") == "0.988"
    assert format_entry(12345) == "12,345"
    assert format_entry(None, "share") == "–"


def test_levels_of_shares_are_percent_and_their_differences_points() -> None:
    assert format_level(SHARE) == "52 % [41, 63]"
    assert format_difference(SHARE) == "52 points [41, 63]"
    assert format_cost(SHARE, "contains") == "52 points [41, 63] of correctness"
    assert format_level(SCORE) == format_difference(SCORE) == "0.912 [0.900, 0.920]"
    assert format_cost(SCORE, "bertscore") == "0.912 [0.900, 0.920] bertscore"


def test_small_shares_keep_two_digits_and_a_minus_is_a_minus() -> None:
    assert format_level(replace(SHARE, value=0.0123, low=0.0, high=0.04)) == "1.2 % [0, 4]"
    assert format_difference(negate(SHARE)) == "−52 points [−63, −41]"


def test_what_has_no_value_says_why() -> None:
    assert format_level(NOTHING) == format_amount(NOTHING) == "a single run"
    assert format_interval(NOTHING) == ""
    assert format_lines(NOTHING) == ("a single run",)


def test_cells_of_a_matrix_have_a_fixed_number_of_decimals() -> None:
    assert format_lines(SHARE) == ("52 points", "[41, 63]")
    assert format_lines(replace(SCORE, value=-0.0001, low=-0.0004, high=0.1)) == ("0.000", "[0.000, 0.100]")


@pytest.mark.parametrize(("p", "text"), [(None, "–"), (0.04, "p = 0.04"), (0.0009, "p < 0.001")])
def test_small_p_values_are_not_spelled_out(p: float | None, text: str) -> None:
    assert format_p(p) == text


def test_without_an_interval_nothing_is_claimed() -> None:
    assert holds_zero(NOTHING) and not holds_zero(SHARE) and holds_zero(replace(SHARE, low=0.0))


def test_neighbouring_temperatures_are_drawn_together() -> None:
    tried = [0.0, 0.2, 0.4, 0.6, 2.0]
    assert join_temperatures([0.0, 0.2, 0.4, 2.0], tried) == "at temperature 0 to 0.4, 2"
    assert join_temperatures(tried, tried) == "at every temperature tried"
    assert join_temperatures([0.0], [0.0]) == "at temperature 0"


def test_settings_of_a_part_stay_as_they_are_written() -> None:
    assert name_part("sentence_removal(min_left=1)") == "sentence removal (min left: 1)"
    assert name_part("random_noise(sentences='all')") == "random noise (sentences: all)"


@pytest.mark.parametrize("value", [9.3e-18, -9.3e-18, 0.0])
def test_what_rounding_leaves_of_a_zero_is_a_zero(value: float) -> None:
    assert format_number(value, "share") == format_number(value, "score") == "0"


LOSS = replace(SHARE, value=0.11, low=-0.06, high=0.26)


@pytest.mark.parametrize(
    ("loss", "metric", "told"),
    [
        (LOSS, "correct", "a loss of 11 points [−6, 26]"),
        (negate(LOSS), "correct", "a gain of 11 points [−6, 26]"),
        (LOSS, "answer_tokens", "a fall of 11 points [−6, 26]"),
        (negate(LOSS), "refusal", "a rise of 11 points [−6, 26]"),
        (replace(LOSS, value=0.0, low=-0.2), "correct", "a difference of 0 points [−20, 26]"),
        (NOTHING, "correct", "a single run"),
    ],
)
def test_a_word_says_which_way_a_difference_goes_and_its_interval_goes_that_way(loss, metric, told) -> None:
    assert format_loss(loss, metric) == told


def test_cells_say_it_with_the_same_word() -> None:
    assert format_lost_lines(negate(LOSS), "correct") == ("gain 11 points", "[−6, 26]")


def test_words_are_joined_as_people_do() -> None:
    assert [join_words(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


@pytest.mark.parametrize(
    ("first", "second", "unit", "texts"),
    [
        (1.0, 0.425, "share", ("100.0", "42.5", "57.5")),
        (0.9, 0.5, "share", ("90", "50", "40")),
        (0.5625, 0.5042, "share", ("56.2", "50.4", "5.8")),
        (1 / 3, 2 / 3, "share", ("33.3", "66.7", "33.4")),
        (0.155, 0.15876, "seconds", ("0.15500", "0.15876", "0.00376")),
        (18.0, 30.0, "count", ("18.0", "30.0", "12.0")),
    ],
)
def test_two_levels_and_their_difference_add_up(first, second, unit, texts) -> None:
    assert format_apart(first, second, unit) == texts


@given(st.integers(0, 120), st.integers(0, 120), st.integers(1, 120))
def test_shares_of_any_sample_add_up(a: int, b: int, n: int) -> None:
    first, second, apart = (Decimal(text) for text in format_apart(min(a, n) / n, min(b, n) / n, "share"))
    assert abs(first - second) == apart
    assert abs(apart - 100 * Decimal(abs(min(a, n) - min(b, n))) / n) < 1


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_amounts_add_up(a: float, b: float) -> None:
    texts = format_apart(a, b, "seconds")
    first, second, apart = (Decimal(text.replace(",", "").replace("−", "-")) for text in texts)  # 1.00e−07
    assert abs(first - second) == apart
