"""How a margin is told."""

from __future__ import annotations

from shaketable.analyses.evidence.margins import Margin
from shaketable.factors import word_for
from shaketable.report.words import format_margin, format_number


def describe_margin(margin: Margin) -> str:
    """With its value, and where that is from."""
    metric, amount = word_for(margin.metric), format_margin(margin.value, margin.unit)
    if margin.times is None:
        return f"The margin is {amount} of {metric}, as the study or the default says."
    if margin.sd is None:
        return f"The margin is 0: it is told in spreads of {metric}, and the baseline has none."
    return (
        f"The margin is {amount} of {metric}: {margin.times:g} times its standard deviation between questions in the "
        f"baseline, {format_number(margin.sd, 'score')}."
    )
