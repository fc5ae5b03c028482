"""Seconds in words: what was measured to the second, what is expected only as far as it is known."""

import pytest

from shaketable.report.time_words import ESTIMATING, describe_left, duration, rough_duration


@pytest.mark.parametrize(
    ("seconds", "measured", "expected"),
    [
        (0.2, "0 s", "1 s"),
        (7.4, "7 s", "7 s"),
        (43, "43 s", "45 s"),
        (58, "58 s", "1 min"),
        (436, "7 min 16 s", "7 min"),
        (3590, "59 min 50 s", "1 h"),
        (11100, "3 h 05 min", "3 h 05 min"),
        (7270, "2 h 01 min", "2 h"),
    ],
)
def test_what_is_expected_is_rounded_and_what_was_measured_is_not(seconds, measured, expected):
    assert (duration(seconds), rough_duration(seconds)) == (measured, expected)


@pytest.mark.parametrize(
    ("seconds", "between", "words"),
    [
        (None, None, ESTIMATING),
        (436.0, None, "about 7 min left"),
        (30.0, (12.0, 41.0), "10 to 40 s left"),
        (60.0, (31.0, 118.0), "30 s to 2 min left"),
        (430.0, (428.0, 439.0), "about 7 min left"),
        (4000.0, (3600.0, 4600.0), "1 h to 1 h 15 min left"),
        (7000.0, (3600.0, 7200.0), "1 to 2 h left"),
    ],
)
def test_the_time_left_is_a_number_a_range_or_being_estimated(seconds, between, words):
    assert describe_left(seconds, between) == words
