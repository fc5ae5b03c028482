"""Comparisons → a page of one file, in the look of the report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.analyses.compared import Compared, Comparisons, Contender
from shaketable.analyses.efforts import Measured
from shaketable.factors import Cell, title_of, word_for
from shaketable.report.cards import N_CARDS, Card
from shaketable.report.claim_words import FAMILY, UNADJUSTED
from shaketable.report.comparison.figures import draw_flips, make_figures
from shaketable.report.comparison.moves import ShownMove, show_moves
from shaketable.report.comparison.tables import (
    tabulate_conditions,
    tabulate_differences,
    tabulate_efforts,
    tabulate_power,
)
from shaketable.report.comparison_words import (
    amount_and_interval,
    describe_comparison,
    describe_effort,
    describe_flips,
    describe_moves,
    describe_needed,
    describe_unpaired,
    effort_and_levels,
    verdict_and_evidence,
    worst_and_evidence,
)
from shaketable.report.drawing import Drawing, draw_figures
from shaketable.report.page import make_scripts
from shaketable.report.section import Headline, Table
from shaketable.report.templates import environment
from shaketable.report.words import (
    MISSING,
    format_interval,
    format_margin,
    format_value,
    name_questions,
    sentence_case,
)
from shaketable.types import Estimate

N_OPEN = 8
"""Questions that moved most and are open on the page; others are folded."""
KICKERS: dict[Measured, str] = {"dollars": "Cost, USD", "seconds": "Latency, seconds", "n_tokens": "Tokens written"}
"""What an answer takes that makes a card."""
METHOD = (
    "Everything is paired: the same question under the same wording, evidence and temperature. Runs of a question are "
    "averaged first, and a question under several conditions counts once, with its mean.",
    "Differences of shares have studentized intervals with one pseudo-loss and one pseudo-gain, never [0, 0]; they are "
    "tested by flipping the signs of questions at random, which for single runs is McNemar's exact test.",
    FAMILY,
    UNADJUSTED,
    "What is not shown is not shown to be absent. Equivalence is claimed only where the whole interval lies within the "
    "margin.",
    "What an answer takes is measured on answered trials alone, and not part of the claims.",
    MISSING,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One pair of systems on the page."""

    id: str
    """What tells its places from those of other pairs; empty: there is one pair."""
    title: str
    """Empty: there is one pair."""
    compared: Compared
    sentences: tuple[str, ...]
    differences: tuple[Drawing, ...]
    flips: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    efforts: Table
    told_efforts: tuple[str, ...]
    told_moves: str
    moves: tuple[ShownMove, ...]
    needed: str
    power: Table | None
    unpaired: tuple[str, ...]


def render_comparison(told: Comparisons) -> str:
    """The page as text. Autoescape is on; only our own drawings, styles and script pass as markup."""
    shown = [
        _show(compared, told, place if len(told.compared) > 1 else None) for place, compared in enumerate(told.compared)
    ]
    first = told.compared[0]
    return environment.get_template("comparison.html").render(
        title=_title(told),
        facts=_facts(told),
        cards=[card for own in shown for card in _cards(own, told, is_alone=len(shown) == 1)],
        pairs=shown,
        n_open=N_OPEN,
        metric=word_for(first.comparison.metric),
        metric_title=title_of(first.comparison.metric),
        contents=_contents(shown),
        contenders=[contender for own in told.compared for contender in (own.first, own.second)],
        method=METHOD,
        command=_command(told),
        scripts=make_scripts(has_figures=True),
    )


def _show(compared: Compared, told: Comparisons, place: int | None) -> Shown:
    name = "" if place is None else f"-{place + 1}"
    flips = compared.comparison.flips
    return Shown(
        id=name,
        title="" if place is None else _name(compared),
        compared=compared,
        sentences=tuple(describe_comparison(compared, told)),
        differences=tuple(draw_figures(make_figures(compared, told, name))),
        flips=tuple(draw_figures([draw_flips(compared, flips, name)] if flips else [])),
        tables=(
            tabulate_differences(compared, told),
            *([tabulate_conditions(compared)] if compared.comparison.conditions else []),
        ),
        efforts=tabulate_efforts(compared, told),
        told_efforts=tuple(
            describe_effort(effort, compared) for effort in compared.efforts if effort.change.difference.value
        ),
        told_moves=describe_moves(compared),
        moves=tuple(show_moves(compared)),
        needed=describe_needed(compared, told),
        power=tabulate_power(compared, told),
        unpaired=tuple(describe_unpaired(compared)),
    )


# --- the first screen -----------------------------------------------------------------------------


def _title(told: Comparisons) -> str:
    first = told.compared[0]
    if len(told.compared) == 1:
        return _name(first)
    return f"{_folder(first.first.run)} → {_folder(first.second.run)}"


def _name(compared: Compared) -> str:
    """The pair; of two runs of equal systems also which system it is."""
    names = f"{compared.first.name} → {compared.second.name}"
    is_same = compared.first.system == compared.second.system
    return f"{compared.first.label}: {names}" if is_same else names


def _folder(run: str) -> str:
    return run.replace("\\", "/").rstrip("/").rpartition("/")[2] or run


def _name_run(contender: Contender) -> str:
    folder = _folder(contender.run)
    return folder if folder == contender.study else f"{folder} ({contender.study})"


def _facts(told: Comparisons) -> list[tuple[str, str]]:
    """What was compared, one line each."""
    facts = []
    for own in told.compared:
        comparison = own.comparison
        pairs = f"{name_questions(comparison.n_questions)} under {_count(comparison.n_conditions, 'condition')}"
        facts.append((_name(own), f"{pairs}, {_count(comparison.n_pairs, 'pair')}"))
    first, margin = told.compared[0], told.compared[0].comparison.margin
    least = f"; less than {format_margin(margin.value, margin.unit)} is too little to matter" if margin.value else ""
    runs = list(dict.fromkeys(_name_run(own) for own in (first.first, first.second)))
    return [
        ("Runs" if len(runs) > 1 else "Run", " → ".join(runs)),
        *facts,
        ("Number", f"{title_of(first.comparison.metric)} ({first.comparison.metric}){least}"),
    ]


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _cards(own: Shown, told: Comparisons, *, is_alone: bool) -> list[Card]:
    compared, comparison = own.compared, own.compared.comparison
    verdict, evidence = verdict_and_evidence(compared, told)
    cards = [
        _card(
            title_of(comparison.metric) if is_alone else own.title,
            f"{verdict}.",
            amount_and_interval(comparison.overall),
            f"forest{own.id}",
            detail=sentence_case(evidence),
        )
    ]
    if not is_alone:
        return cards
    if (worst := comparison.worst_case) is not None:
        verdict, evidence = worst_and_evidence(compared, told)
        amount = amount_and_interval(worst)
        cards.append(_card("The worst case", f"{verdict}.", amount, "forest", detail=sentence_case(evidence)))
    if (flips := comparison.flips) is not None and own.flips:
        turned = (
            f"{format_value(flips.lost)} of the answers turn from right to wrong, {format_value(flips.gained)} back."
        )
        cards.append(_written("Flips", turned, "flipped", *_split(flips.lost), detail=describe_flips(compared)))
    moves = compared.moves
    n_moved = moves.n_up + moves.n_down + moves.n_both
    cards.append(_written("Questions", own.told_moves, "moved", f"{n_moved:,}", f"of {n_moved + moves.n_same:,} moved"))
    for effort in compared.efforts:
        if effort.measured in KICKERS and effort.is_claimed and len(cards) < N_CARDS:
            claim, levels = effort_and_levels(effort, compared)
            kicker, amount = KICKERS[effort.measured], amount_and_interval(effort.change, is_effort=True)
            cards.append(_card(kicker, f"{claim}.", amount, "effort", detail=f"On average {levels}."))
    return cards


def _card(kicker: str, sentence: str, amount: tuple[str, str], link: str, *, detail: str = "") -> Card:
    return _written(kicker, sentence, link, *amount, detail)


def _split(level: Estimate) -> tuple[str, str]:
    return format_value(level), format_interval(level)


def _written(kicker: str, sentence: str, link: str, number: str, interval: str, detail: str = "") -> Card:
    headline = Headline(
        kind="comparison",
        cell=Cell(),
        system="",
        sentence=sentence,
        detail=detail,
        number=number,
        interval=interval,
    )
    return Card(kicker=kicker, headline=headline, svg=None, link=link)


def _contents(pairs: Sequence[Shown]) -> list[tuple[str, str]]:
    """What is empty is not there."""
    chapters = [
        ("verdict", "The verdict", True),
        ("differences", "Differences", True),
        ("flips", "Flips", any(own.flips for own in pairs)),
        ("effort", "Cost", True),
        ("moved", "Questions", True),
        ("power", "Power", True),
        ("missing", "No partner", True),
        ("method", "Method", True),
    ]
    return [(id, title) for id, title, is_there in chapters if is_there]


def _command(told: Comparisons) -> str:
    """What makes this page again."""
    first = told.compared[0]
    runs = list(dict.fromkeys([first.first.run, first.second.run]))
    words = ["shaketable", "compare", *runs]
    if len(told.compared) == 1:
        words += ["--systems", first.first.label, first.second.label]
    return shlex.join([*words, "--metric", first.comparison.metric, "--out", "comparison.html"])
