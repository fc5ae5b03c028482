"""How work shows that it moves: a bar on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID
from rich.progress import TextColumn as Words
from rich.progress import TimeElapsedColumn as Elapsed
from rich.text import Text

from shaketable.cli.console import err, say
from shaketable.factors import short_names
from shaketable.report.money_words import format_dollars
from shaketable.report.time_words import describe_left, rough_duration
from shaketable.stages.forecast.afterwards import WORTH_TELLING_SECONDS
from shaketable.stages.meter import Money
from shaketable.stages.scheduler import Tick
from shaketable.stages.vary import WordingTick

LINE_EVERY_SECONDS = 10.0
RATE_AFTER_SECONDS = 2.0
"""Of answering: the first tokens over the first moment are no rate."""
BEGINNING = "waiting for the first answers…"
"""Weights are read, batching is proved, an endpoint is asked: what takes a minute is not silent."""
BAR_WIDTH = 16
BESIDE_STATUS = len("⠋ answering ") + BAR_WIDTH + len(" 0:00:00 ")


@contextlib.contextmanager
def answering(n_todo: int, *, quiet: bool = False, then: float = 0.0) -> Iterator[Callable[[Tick], None]]:
    """A bar with rate and time left on a terminal; a line every ten seconds elsewhere. `then`: seconds that scores,
    analyses and the report take afterwards, as far as is known."""
    if quiet or not n_todo:
        yield lambda tick: None
        return
    if then >= WORTH_TELLING_SECONDS:
        say(f"Scores and the report will take about {rough_duration(then)} more.")
    if not err.is_terminal:
        yield _lines(n_todo)
        return
    columns = (SpinnerColumn(), Words("answering"), BarColumn(BAR_WIDTH), MofNCompleteColumn(), Elapsed(), _Status())
    with Progress(*columns, console=err) as bar:
        task = bar.add_task("answering", total=n_todo, status=(BEGINNING,))

        def update(tick: Tick) -> None:
            bar.update(task, completed=n_finished(tick), status=describe_tick(tick, n_todo))

        yield update


class _Status(ProgressColumn):
    """As much of what there is to say as the line has room for, the most important first."""

    def render(self, task: Task) -> Text:
        room = err.width - BESIDE_STATUS - 2 * len(f" {task.total:.0f}")
        shown = task.fields["status"][0]
        for words in task.fields["status"][1:]:
            if len(shown) + len(words) + 3 <= room:
                shown += f" · {words}"
        return Text(shown, no_wrap=True, overflow="ellipsis")


def n_finished(tick: Tick) -> int:
    return tick.n_done + tick.n_failed + tick.n_shared


def describe_tick(tick: Tick, n_todo: int) -> tuple[str, ...]:
    """What there is to say, the most important first: time left, failures, money, rate."""
    left = describe_left(tick.seconds_left, tick.seconds_range) if n_finished(tick) < n_todo else ""
    failed = f"{tick.n_failed:,} failed" if tick.n_failed else ""
    rate = f"{tick.n_tokens / tick.seconds:,.0f} tokens/s" if tick.seconds >= RATE_AFTER_SECONDS else ""
    return tuple(words for words in (left, failed, money_words(tick.money), rate) if words) or ("",)


@contextlib.contextmanager
def wording(*, quiet: bool = False) -> Iterator[Callable[[WordingTick], None]]:
    """A bar for each variation on a terminal; elsewhere a line every ten seconds, and when it ends."""
    if quiet:
        yield lambda tick: None
        return
    if not err.is_terminal:
        yield _wording_lines()
        return
    columns = (
        SpinnerColumn(),
        Words("rewording, {task.description}", markup=False),
        BarColumn(BAR_WIDTH),
        MofNCompleteColumn(),
        Elapsed(),
    )
    with Progress(*columns, console=err) as bar:
        tasks: dict[str, TaskID] = {}

        def update(tick: WordingTick) -> None:
            if tick.variation not in tasks:
                tasks[tick.variation] = bar.add_task(tick.variation, total=tick.n_questions)
            bar.update(tasks[tick.variation], completed=tick.n_done)

        yield update


def _wording_lines() -> Callable[[WordingTick], None]:
    last = time.perf_counter()

    def update(tick: WordingTick) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < LINE_EVERY_SECONDS and tick.n_done < tick.n_questions:
            return
        last = now
        say(f"reworded {tick.n_done:,} of {tick.n_questions:,} questions by {tick.variation}")

    return update


def _lines(n_todo: int) -> Callable[[Tick], None]:
    last = time.perf_counter()

    def update(tick: Tick) -> None:
        nonlocal last
        now = time.perf_counter()
        finished = n_finished(tick)
        if now - last < LINE_EVERY_SECONDS and finished < n_todo:
            return
        last = now
        say(
            ", ".join(
                words for words in (f"answered {finished:,} of {n_todo:,}", *describe_tick(tick, n_todo)) if words
            )
        )

    return update


def money_words(money: Sequence[Money]) -> str:
    """Spent and expected in all, by system: `0.12 USD of about 0.50 USD`; empty: nobody is paid, as far as
    is known."""
    if all(system.spent is None for system in money):
        return ""
    lines = []
    names = short_names(system.model for system in money)
    for system in money:
        name = f"{names[system.model]} · {system.method}: " if len(money) > 1 else ""
        if system.spent is None:
            lines.append(f"{name}cost not known")
        else:
            in_all = "" if not system.left else f" of about {format_dollars(system.spent + system.left)}"
            lines.append(f"{name}{format_dollars(system.spent)}{in_all}")
    return "; ".join(lines)
