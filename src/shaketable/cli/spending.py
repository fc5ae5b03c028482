"""What a run has spent, and where it stopped, in words."""

from __future__ import annotations

from shaketable.cli.console import say
from shaketable.report.about import describe_limit, resume_command
from shaketable.report.money_words import LOCAL, NO_PRICE, describe_money, describe_reused, format_dollars
from shaketable.report.repeat_words import describe_repeats
from shaketable.report.time_words import rough_duration
from shaketable.stages.answer import Answered
from shaketable.store import Run


def tell_stop(run: Run, answered: Answered) -> None:
    """Why a run stopped before its end, what is left, what that would take, and how to go on."""
    stop = answered.stop
    if stop is None:
        return
    summary = run.summary()
    ended = summary.done + summary.failed
    rest = [
        *([] if stop.calls is None else [f"{stop.calls:,.0f} calls"]),
        *([] if stop.dollars is None else [format_dollars(stop.dollars)]),
        *([] if stop.seconds is None else [rough_duration(stop.seconds)]),
    ]
    would_take = f"; they would take about {', '.join(rest)}" if rest else ""
    say(
        f"Stopped at its limit ({describe_limit(summary)}) after {ended:,} of {summary.trials:,} trials: what there is "
        f"is kept, and results are of that alone. {stop.n_left:,.0f} trials are left{would_take}.\n"
        f"Raise the limit to go on: {resume_command(summary, run.folder)}"
    )


def say_spent(run: Run, json_: bool) -> None:
    """What the answers cost, where a price is known, how many were taken from other runs, and how many were not
    needed."""
    summary = run.summary()
    money, reused = describe_money(summary), describe_reused(summary)
    if money not in ("", NO_PRICE, LOCAL):
        say(f"Spent on answers: {money}.", quiet=json_)
    if reused:
        say(f"Taken from the cache: {reused}.", quiet=json_)
    if summary.repeats is not None:
        say(f"Repeats: {describe_repeats(summary.repeats)}.", quiet=json_)
