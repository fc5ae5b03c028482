"""What a shake may spend: amounts with their units, and what cannot be read."""

from __future__ import annotations

import pytest

from shaketable.cli.budget import parse_budget
from shaketable.errors import StudyError
from shaketable.types import Limits


@pytest.mark.parametrize(
    ("texts", "limits"),
    [
        (["300 calls"], Limits(max_calls=300)),
        (["1 call"], Limits(max_calls=1)),
        (["1,500 calls"], Limits(max_calls=1500)),
        ([" 2.5 USD "], Limits(max_cost=2.5)),
        (["$2"], Limits(max_cost=2)),
        ([".5 dollars"], Limits(max_cost=0.5)),
        (["10 min"], Limits(max_minutes=10)),
        (["90minutes"], Limits(max_minutes=90)),
        (["1.5 h"], Limits(max_minutes=90)),
        (["30 s"], Limits(max_minutes=0.5)),
        (["500 calls, 2 usd"], Limits(max_calls=500, max_cost=2)),
        (["500 calls and 10 min"], Limits(max_calls=500, max_minutes=10)),
        (["500 calls", "10 min"], Limits(max_calls=500, max_minutes=10)),
    ],
)
def test_a_budget_is_calls_money_or_time(texts, limits):
    assert parse_budget(texts) == limits


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'' is no amount"),
        ("300", "300 of what?"),
        ("calls", "'calls' is no amount"),
        ("0 calls", "the amount is 0"),
        ("-3 usd", "the amount is -3"),
        ("0.5 calls", "less than one call"),
        ("5 euro", "unknown unit 'euro'"),
        ("5 cals", "Did you mean 'calls'?"),
        ("many calls", "'many calls' is no amount"),
        ("nan usd", "'nan usd' is no amount"),
        ("2 usd, 3 dollars", "dollars is given twice"),
    ],
)
def test_a_budget_that_cannot_be_read_says_what_to_write(text, told):
    with pytest.raises(StudyError, match=r"'300 calls', '2 usd' or '10 min'|Give each kind") as error:
        parse_budget([text])
    assert told in str(error.value)
    assert str(error.value).startswith(f"--budget '{text}'")
