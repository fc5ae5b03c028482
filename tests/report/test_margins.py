from __future__ import annotations

from shaketable.analyses.evidence.margins import Margin
from shaketable.report.margins import describe_margin


def test_a_margin_is_told_with_where_its_value_is_from() -> None:
    spreads = Margin(metric="bertscore", value=0.1, times=0.5, sd=0.2, unit="score")
    assert describe_margin(spreads) == (
        "The margin is 0.1 of bertscore: 0.5 times its standard deviation between questions in the baseline, 0.200."
    )
    amount = Margin(metric="contains", value=0.05, times=None, sd=None, unit="share")
    assert describe_margin(amount) == "The margin is 5 points of correctness, as the study or the default says."


def test_a_spread_that_is_not_there_is_said_to_be_none() -> None:
    nothing = Margin(metric="bertscore", value=0.0, times=0.2, sd=None, unit="score")
    assert describe_margin(nothing).endswith("and the baseline has none.")
