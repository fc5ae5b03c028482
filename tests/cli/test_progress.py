"""What the line of progress says in the first seconds, when it is narrow, and when nobody watches."""

import io
import re

import pytest

from shaketable.cli import progress
from shaketable.cli.console import SafeConsole
from shaketable.cli.progress import BEGINNING, answering, describe_tick
from shaketable.report.time_words import ESTIMATING
from shaketable.stages.meter import Money
from shaketable.stages.scheduler import Tick

EARLY = Tick(n_done=1, n_failed=0, n_tokens=40, seconds=0.001)
LATER = Tick(
    n_done=400,
    n_failed=3,
    n_tokens=9000,
    seconds=90.0,
    seconds_left=200.0,
    seconds_range=(130.0, 330.0),
    money=(Money(model="a", method="m", spent=0.25, left=0.5),),
)


def shown(monkeypatch, width, *ticks, n_todo=1728, then=0.0, is_terminal=True):
    """The last line of the bar after each tick, the first one before any; or all lines."""
    text = io.StringIO()
    console = SafeConsole(file=text, width=width, force_terminal=is_terminal, color_system=None)
    monkeypatch.setattr(progress, "err", console)
    monkeypatch.setattr("shaketable.cli.console.err", console)
    with answering(n_todo, then=then) as tell:
        for tick in ticks:
            tell(tick)
    return text.getvalue()


def test_before_the_first_answer_it_says_what_it_waits_for(monkeypatch):
    assert BEGINNING in shown(monkeypatch, 100)


def test_in_the_first_seconds_nothing_is_promised():
    assert describe_tick(EARLY, 1728) == (ESTIMATING,)


def test_later_the_most_important_comes_first():
    words = describe_tick(LATER, 1728)
    assert words == ("2 to 6 min left", "3 failed", "0.25 USD of about 0.75 USD", "100 tokens/s")
    assert describe_tick(LATER, 403) == words[1:]


@pytest.mark.parametrize(
    ("width", "said", "left_out"),
    [
        (80, ["403/1728", "2 to 6 min left · 3 failed"], ["tokens/s", "USD"]),
        (130, ["403/1728", "2 to 6 min left · 3 failed · 0.25 USD of about 0.75 USD · 100 tokens/s"], []),
    ],
)
def test_a_narrow_terminal_loses_the_least_important_and_no_count(monkeypatch, width, said, left_out):
    text = shown(monkeypatch, width, LATER)
    last = text[text.rindex("answering") :]
    assert all(words in last for words in said), last
    assert not any(words in last for words in left_out)
    assert "0:00:0" in last
    lines = re.split(r"[\r\n]|\x1b\[[0-9;?]*\w", text)
    assert max(map(len, lines)) <= width


def test_what_comes_afterwards_is_said_once_and_before(monkeypatch):
    text = shown(monkeypatch, 80, EARLY, LATER, then=78.0)
    assert text.startswith("Scores and the report will take about 1 min more.")
    assert text.count("Scores and the report") == 1


def test_where_nobody_watches_there_are_lines_and_no_bar(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    text = shown(monkeypatch, 80, EARLY, LATER, is_terminal=False)
    assert text.splitlines() == [
        f"answered 1 of 1,728, {ESTIMATING}",
        "answered 403 of 1,728, 2 to 6 min left, 3 failed, 0.25 USD of about 0.75 USD, 100 tokens/s",
    ]


def test_nothing_is_shown_where_nothing_is_to_be_answered(monkeypatch):
    assert shown(monkeypatch, 80, n_todo=0, then=60.0) == ""
