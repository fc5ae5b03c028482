"""Numbers of wordings → tables: a line per system and way of asking, a column per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.section import Page, Table
from shaketable.report.wording_noise import pair_with_noise
from shaketable.report.wording_words import WITHOUT_PEOPLE, name_dataset, name_system_and_heat, name_way, order_of_way
from shaketable.report.words import Entry, format_level, name_part
from shaketable.types import Estimate

NAMES = ("System", "Dataset", "Asked")
TESTED = ("p, not adjusted", "Verdict")
Column = tuple[str, bool]
"""A metric, and whether it is of answered trials only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    number: WordingNumber
    """The first of the line."""
    way: str
    entries: dict[Column, str] = field(default_factory=dict)
    counts: list[tuple[int, int]] = field(default_factory=list)
    """Questions and failed trials of each entry."""


def make_tables(
    numbers: Sequence[WordingNumber], titles: Mapping[Column, str], page: Page, *, kind: str = ""
) -> tuple[Table, ...]:
    """Means side by side, and, folded, what rewording takes away, each with its p and the verdict of claims of this
    kind; numbers of single hops aside."""
    shown = [number for number in numbers if number.hop is None]
    tables = (
        _levels([number for number in shown if not number.is_loss], titles, page),
        _losses([number for number in shown if number.is_loss], titles, page, kind),
    )
    return tuple(table for table in tables if table is not None)


PAPER_METHODS = {"closed_book": "NR", "single_retrieval": "WR", "dragin": "LB", "search_o1": "GB"}
"""Our methods → the names in "How You Ask Matters!", arXiv 2604.10745."""


def make_paper_table(
    numbers: Sequence[WordingNumber], metric: str, title: str, page: Page, *, whole: Mapping[str, str] | None = None
) -> tuple[Table, ...]:
    """One in the layout and with the names of the paper: dataset and method down, wordings across; none where a
    question has a single wording.

    `whole`: metrics of all wordings together → the titles of their columns, after those of single wordings.
    """
    whole = whole or {}
    shown = [
        own for own in numbers if not (own.is_loss or own.answered_only or own.hop) and own.estimate.value is not None
    ]
    single = [own for own in shown if own.metric == metric and own.cell.variation is not None]
    ways = sorted({str(own.cell.variation) for own in single}, key=order_of_way)
    if not set(ways) - {ORIGINAL}:
        return ()
    cells = {replace(own.cell, variation=None): own.cell for own in single}
    several = {
        name: len({key(cell) for cell in cells} - {"–"}) > 1
        for name, key in (("Model", _model), ("Evidence", _evidence), ("Temperature", _temperature))
    }
    entries = {(replace(own.cell, variation=None), str(own.cell.variation)): _plain(own.estimate) for own in single}
    entries |= {(own.cell, own.metric): _plain(own.estimate) for own in shown if own.metric in whole}
    rows = [
        (
            *(key(cell) for name, key in (("Model", _model),) if several[name]),
            name_dataset(cell),
            _paper_method(cell),
            *(key(cell) for name, key in (("Evidence", _evidence), ("Temperature", _temperature)) if several[name]),
            *(entries.get((cell, name)) for name in (*ways, *whole)),
        )
        for cell in cells
    ]
    columns = (
        *(["Model"] if several["Model"] else []),
        "Dataset",
        "Method",
        *(name for name in ("Evidence", "Temperature") if several[name]),
        *(name_way(way) for way in ways),
        *whole.values(),
    )
    return (Table(title=f"{title}, as the paper prints it", columns=columns, rows=tuple(rows), is_folded=True),)


def _model(cell: Cell) -> str:
    return cell.system.model if cell.system else ""


def _evidence(cell: Cell) -> str:
    return cell.perturbation or "–"


def _temperature(cell: Cell) -> float | None:
    return cell.temperature


def _paper_method(cell: Cell) -> str:
    method = cell.system.method if cell.system else ""
    name = PAPER_METHODS.get(method.partition("(")[0])
    return f"{name} ({name_part(method)})" if name else name_part(method)


def _plain(estimate: Estimate) -> str:
    """With the digits of the paper; intervals stand in our own tables."""
    value = estimate.value or 0.0
    return f"{100 * value:.1f} %" if estimate.unit == "share" else f"{value:.3f}"


def make_noise_tables(
    numbers: Sequence[WordingNumber], titles: Mapping[Column, str], page: Page, *, kind: str
) -> tuple[Table, ...]:
    """One, a line per number that has been measured between runs of the original wording too; none without any."""
    pairs = pair_with_noise(numbers, *(metric for metric, _ in titles))
    rows = tuple(
        (
            *_names(pair.raw, _way(pair.raw), page),
            titles[pair.raw.metric, pair.raw.answered_only],
            format_level(pair.raw.estimate),
            format_level(pair.noise.estimate),
            format_level(pair.excess.estimate),
            _format_bare_p(pair.excess.p),
            _verdict(pair.excess, kind, page),
            pair.excess.estimate.n,
            pair.excess.n_runs,
        )
        for pair in pairs
        if pair.noise is not None and pair.excess is not None
    )
    columns = (*NAMES, "Number", "Reworded", "Same wording again", "Excess", *TESTED, "Questions", "Runs")
    return (Table(title="Beside runs of the same wording", columns=columns, rows=rows),) if rows else ()


def _levels(numbers: Sequence[WordingNumber], titles: Mapping[Column, str], page: Page) -> Table | None:
    lines: dict[object, _Line] = {}
    for number in numbers:
        way = _way(number)
        line = lines.setdefault((number.cell, way), _Line(number=number, way=way))
        line.entries[number.metric, number.answered_only] = format_level(number.estimate)
        line.counts.append((number.estimate.n, number.n_failed))
    columns = [column for column in titles if any(column in line.entries for line in lines.values())]
    if not columns:
        return None
    return Table(
        columns=(*NAMES, *(titles[column] for column in columns), "Questions", "Trials missing"),
        rows=tuple(
            (
                *_names(line.number, line.way, page),
                *(line.entries.get(column) for column in columns),
                max(n for n, _ in line.counts),
                max(n_failed for _, n_failed in line.counts),
            )
            for line in sorted(lines.values(), key=lambda line: _order(line, page))
        ),
    )


def _losses(numbers: Sequence[WordingNumber], titles: Mapping[Column, str], page: Page, kind: str) -> Table | None:
    """A line per difference."""
    rows = tuple(
        (
            *_names(number, name_way(number.cell.variation), page),
            titles.get((number.metric, number.answered_only), number.metric),
            format_level(number.estimate),
            _format_bare_p(number.p),
            _verdict(number, kind, page),
            number.estimate.n,
        )
        for number in numbers
        if number.estimate.value is not None
    )
    columns = (*NAMES, "Number", "Original minus reworded", *TESTED, "Questions")
    return Table(title="Against the original wording", columns=columns, rows=rows, is_folded=True) if rows else None


def _names(number: WordingNumber, way: str, page: Page) -> tuple[Entry, Entry, Entry]:
    return name_system_and_heat(number.cell, page), name_dataset(number.cell), way


def _way(number: WordingNumber) -> str:
    return name_way(number.cell.variation) if number.with_people else WITHOUT_PEOPLE


def _verdict(difference: WordingNumber, kind: str, page: Page) -> str:
    """As sentences have it; a dash for what is only explored."""
    claim = None if difference.answered_only else page.claim(kind, difference.cell, difference.metric)
    return "–" if claim is None else "shown" if claim.is_shown else "not shown"


def _order(line: _Line, page: Page) -> tuple[object, ...]:
    """By system, dataset and temperature, the original wording first."""
    cell = line.number.cell
    return name_system_and_heat(cell, page), name_dataset(cell), cell.variation != ORIGINAL


def _format_bare_p(p: float | None) -> str:
    """In a column that says p."""
    if p is None:
        return "–"
    return f"{p:.2g}" if p >= 0.001 else "< 0.001"
