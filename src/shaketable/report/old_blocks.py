"""What the analyses of evidence and temperature found, as blocks of a chapter: sentences, matrices, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_words import bounds, difference, measured, named, number
from shaketable.types import OldFinding

Row = Mapping[str, Any]


class Cell(NamedTuple):
    kind: str
    """How it looks: `good`, `bad`, `even` or `quiet`; words and marks say the same."""
    mark: str
    lines: tuple[str, ...] = ()


NOTHING = Cell("quiet", "–")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    title: str
    """Empty: the block's title is enough."""
    columns: Sequence[str]
    groups: Sequence[tuple[str, Sequence[tuple[str, Sequence[Cell]]]]]
    """Systems, each with its disturbances and their cells."""
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Block:
    chapter: str
    name: str
    title: str
    sentences: Sequence[str]
    notes: Sequence[str]
    """How to read it."""
    matrices: Sequence[Matrix] = ()
    tables: Sequence[Table] = ()


def make_blocks(findings: Sequence[OldFinding]) -> list[Block]:
    """One for each finding that has something to show, in the order of the chapters."""
    made = [make(finding) for name, make in MAKERS.items() for finding in findings if finding.analysis == name]
    seen: set[str] = set()
    blocks = []
    for block in made:
        if block.name not in seen and (block.sentences or block.matrices or block.tables):
            seen.add(block.name)
            blocks.append(block)
    return blocks


# --- dice -----------------------------------------------------------------------------------------


def _guidelines(finding: OldFinding) -> Block:
    onsets = {_line_key(row): row for row in rows_of(finding) if row["kind"] == "onset"}
    deciding, others = [], []
    for row in rows_of(finding):
        if row["kind"] != "ceiling":
            continue
        shared = _line(row, ceiling=row["reason"] or f"{row['value']:g}{_ends(row)}")
        if row["decides"]:
            places = [_line_key({**row, "type": None, "perturbation": name}) for name in ("unchanged", None)]
            original = next((onsets[place] for place in places if place in onsets), None)
            deciding.append(shared | {"worst": _worst(row), "next": _next_loss(row)} | _onset(original))
        else:
            others.append(shared | {"evidence": _evidence(row)} | _onset(onsets.get(_line_key(row))))
    margins = {_margin(row["delta"], row["score_unit"]) for row in rows_of(finding) if row["decides"]}
    return _block(
        finding,
        "dice",
        "Ceiling and onset",
        sentences=_headlines(finding, "ceiling", "onset", "choice"),
        tables=[
            *_table(
                f"Ceilings for a loss of at most {' or '.join(sorted(margins))}",
                deciding,
                ceiling="Keep at or below",
                worst="Decided by",
                next="Loss one step above",
                onset="Begins to fall at",
            ),
            *_table(
                "By evidence and type of question",
                others,
                is_folded=True,
                evidence="Evidence",
                ceiling="Ceiling",
                slope="Change per unit beyond the onset",
                onset="Begins to fall at",
            ),
        ],
    )


def _onset(row: Row | None) -> dict[str, Any]:
    if row is None:
        return {"onset": None, "slope": None}
    slope = {"value": row["slope"], "low": row["slope_low"], "high": row["slope_high"], "unit": "score"}
    return {
        "onset": row["reason"] or f"{row['value']:g}{_ends(row)}",
        "slope": None if slope["value"] is None else number(slope["value"], "score") + bounds(slope),
    }


def _ends(row: Row) -> str:
    return "" if row["low"] is None else f" [{row['low']:g}, {row['high']:g}]"


def _margin(delta: float, unit: str) -> str:
    return f"{100 * delta:.3g} points" if unit == "share" else f"{delta:.3g}"


def _worst(row: Row) -> str:
    parts = (named(row["worst_perturbation"] or ""), row.get("worst_variation"), row["worst_type"])
    return ", ".join(part for part in parts if part)


def _next_loss(row: Row) -> str | None:
    if row["next_loss"] is None:
        return None
    loss = {name: row[f"next_loss{end}"] for name, end in (("value", ""), ("low", "_low"), ("high", "_high"))}
    return f"{difference({**loss, 'unit': row['score_unit']})} at {row['next_temperature']:g}"


def _variability(finding: OldFinding) -> Block:
    def spread(row: Row) -> str:
        return f"{number(row['value'], 'ratio')}{bounds(row)} at {row['temperature']:g}"

    metric = finding.settings.get("main_metric")
    told = [row for row in rows_of(finding) if row["metric"] == metric and row["value"] is not None]
    places = _grouped([row for row in told if not row["contrast"]])
    rows = []
    for place in places:
        cool, hot = (pick(place, key=lambda row: row["temperature"]) for pick in (min, max))
        baseline = None if cool["baseline"] is None else number(cool["baseline"], "ratio")
        over = number(sum(row["value"] for row in place) / len(place), "ratio")
        rows.append(
            _line(cool, evidence=_evidence(cool), cool=spread(cool), hot=spread(hot), over=over, baseline=baseline)
        )
    tables = _table(
        "Coefficient of variation",
        rows,
        is_folded=True,
        evidence="Evidence",
        cool="Coolest",
        hot="Hottest",
        over="Over temperatures",
        baseline="Stability baseline",
    )
    by_type = _table(
        "Coefficient of variation, types of question compared",
        [
            _line(
                row,
                types=row["contrast"],
                at="all" if row["temperature"] is None else f"{row['temperature']:g}",
                difference=number(row["value"], "ratio") + bounds(row),
            )
            for row in told
            if row["contrast"]
        ],
        is_folded=True,
        types="Types",
        at="Temperature",
        difference="Difference",
    )
    return _block(finding, "dice", "Spread of repeated answers", tables=[*tables, *by_type])


# --- evidence -------------------------------------------------------------------------------------


def _equivalence(finding: OldFinding) -> Block:
    looks = {
        "equivalent": ("good", "≈ equivalent"),
        "different": ("bad", "≠ different"),
        "undecided": ("quiet", "? undecided"),
    }

    def cell(row: Row) -> Cell:
        if row["verdict"] is None:
            return _none(row)
        return Cell(*looks[row["verdict"]], _short(row))

    margins = sorted({(row["delta"], row["unit"]) for row in rows_of(finding) if row["delta"] is not None})
    within = ", ".join(_margin(*margin) for margin in margins)
    return _block(
        finding,
        "evidence",
        "Where is disturbed evidence as good as the original?",
        note=f"Cells hold original minus disturbed with its interval; the margin is {within}.",
        matrices=_matrices(rows_of(finding), cell),
    )


def _ranking(finding: OldFinding) -> Block:
    def cell(row: Row) -> Cell:
        if row["rank"] is None:
            return NOTHING
        return Cell("even" if row["rank"] > 1 else "bad", f"rank {row['rank']}", _short(row))

    def drop(row: Row) -> str:
        return f"{' '.join(_short(row))} at {row['temperature']:g}"

    of = {kind: [row for row in rows_of(finding) if row["kind"] == kind] for kind in ("drop", "contrast", "tau")}
    contrasts = []
    for pair in _grouped(of["contrast"], "other"):
        known = [row for row in pair if row["value"] is not None]
        if known:
            first = pair[0]
            least, most = (pick(known, key=lambda row: row["value"]) for pick in (min, max))
            contrasts.append(
                _line(
                    first,
                    pair=f"{named(first['perturbation'])} − {named(first['other'])}",
                    verdict=first["verdict"],
                    p=_p(first["p_holm"]),
                    least=drop(least),
                    most=drop(most),
                )
            )
    coolest = min((row["temperature"] for row in of["tau"]), default=None)
    taus = [
        _line(
            row,
            between=f"{row['temperature']:g} and {row['other_temperature']:g}",
            tau=row["reason"] if row["value"] is None else number(row["value"], "ratio") + bounds(row),
        )
        for row in of["tau"]
        if row["temperature"] == coolest
    ]
    return _block(
        finding,
        "evidence",
        finding.question,
        note="Cells hold the rank, 1 for the largest drop, and the drop with its interval.",
        matrices=_matrices(of["drop"], cell),
        tables=[
            *_table(
                "Pairs of disturbances",
                contrasts,
                pair="Drop of",
                verdict="With temperature",
                p="Interaction test",
                least="Least",
                most="Most",
            ),
            *_table(
                "Kendall's tau of the ranking with that at the coolest temperature",
                taus,
                is_folded=True,
                between="Temperatures",
                tau="Tau",
            ),
        ],
    )


def _amplification(finding: OldFinding) -> Block:
    def cell(row: Row) -> Cell:
        if row["value"] is None:
            return _none(row)
        ratio, *interval = _short(row)
        return Cell("even", f"× {ratio}", tuple(interval))

    slopes = {_line_key(row): row for row in rows_of(finding) if row["kind"] == "slope"}

    def slope(line: Sequence[Row]) -> Cell:
        row = slopes.get(_line_key(line[0]))
        if row is None or row["value"] is None:
            return NOTHING
        is_clear = row["low"] is not None and not row["low"] <= 0 <= row["high"]
        grows = row["value"] > 0
        mark = ("▲ grows" if grows else "▼ shrinks") if is_clear else "○ no change found"
        return Cell(("bad" if grows else "even") if is_clear else "quiet", mark, _short(row))

    ratios = [row for row in rows_of(finding) if row["kind"] == "ratio"]
    return _block(
        finding,
        "evidence",
        finding.question,
        note="Cells hold the drop as a multiple of that at the coolest temperature.",
        matrices=_matrices(ratios, cell, last=("Slope per unit", slope)),
    )


MAKERS: dict[str, Callable[[OldFinding], Block]] = {
    "guidelines": _guidelines,
    "variability": _variability,
    "equivalence": _equivalence,
    "ranking": _ranking,
    "amplification": _amplification,
}


# --- what blocks are made of ----------------------------------------------------------------------


def _block(
    finding: OldFinding,
    chapter: str,
    title: str,
    *,
    note: str = "",
    sentences: Sequence[str] | None = None,
    matrices: Sequence[Matrix] = (),
    tables: Sequence[Table] = (),
) -> Block:
    """How to read it comes before its caveats; models without temperature have a banner of their own."""
    caveats = [caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)]
    return Block(
        chapter=chapter,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences if sentences is None else sentences,
        notes=[note, *caveats] if note else caveats,
        matrices=matrices,
        tables=tables,
    )


def _headlines(finding: OldFinding, *kinds: str) -> list[str]:
    """Its sentences of these kinds, in their order."""
    wanted = {
        f"{row['sentence']} {row['detail']}" if row["detail"] else row["sentence"]
        for row in rows_of(finding)
        if row["headline"] in kinds
    }
    return [sentence for sentence in finding.sentences if sentence in wanted]


def _matrices(
    rows: Iterable[Row],
    cell: Callable[[Row], Cell],
    *,
    last: tuple[str, Callable[[Sequence[Row]], Cell]] | None = None,
) -> list[Matrix]:
    """Disturbance × temperature, of all questions and, folded, by type."""
    pooled = [row for row in rows if row["type"] is None]
    typed = [row for row in rows if row["type"] is not None]
    made = [_matrix(pooled, cell, last, "", is_folded=False)] if pooled else []
    return made + ([_matrix(typed, cell, last, "By type of question", is_folded=True)] if typed else [])


def _matrix(
    rows: Sequence[Row],
    cell: Callable[[Row], Cell],
    last: tuple[str, Callable[[Sequence[Row]], Cell]] | None,
    title: str,
    *,
    is_folded: bool,
) -> Matrix:
    temperatures = sorted({row["temperature"] for row in rows})
    lines: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        lines.setdefault(f"{_place(row)}, {measured(row['metric'])}", {}).setdefault(row["perturbation"], []).append(
            row
        )

    def cells(line: Sequence[Row]) -> list[Cell]:
        at = {row["temperature"]: row for row in line}
        made = [cell(at[temperature]) if temperature in at else NOTHING for temperature in temperatures]
        return made + ([last[1](line)] if last else [])

    return Matrix(
        title=title,
        columns=[*(f"{temperature:g}" for temperature in temperatures), *([last[0]] if last else [])],
        groups=[
            (place, [(named(perturbation), cells(line)) for perturbation, line in of_place.items()])
            for place, of_place in lines.items()
        ],
        is_folded=is_folded,
    )


def _line(row: Row, **cells: Any) -> dict[str, Any]:
    """A line of a table: the place, what is shown of it, and the number of questions."""
    return {"system": _place(row), "metric": row["metric"], **cells, "n": row["n"]}


def _table(title: str, rows: Sequence[Row], *, is_folded: bool = False, **columns: str) -> list[Table]:
    """None without rows. A metric that all rows share stands in the title, not in each row."""
    metrics = {row["metric"] for row in rows}
    if not metrics:
        return []
    named_columns = {"system": "System", "metric": "Metric", **columns, "n": "Questions"}
    if len(metrics) == 1:
        title = f"{title}: {measured(metrics.pop())}"
        del named_columns["metric"]
    return [Table(title=title, columns=named_columns, rows=rows, is_folded=is_folded)]


def _grouped(rows: Iterable[Row], *more: str) -> list[list[Row]]:
    """The rows of one place and disturbance together, in their order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*_line_key(row), *(row[name] for name in more)), []).append(row)
    return list(groups.values())


def _evidence(row: Row) -> str:
    return named(row["perturbation"] or "no evidence")


def _line_key(row: Row) -> tuple[Any, ...]:
    return row["metric"], row["system"], row["type"], row["perturbation"]


def _place(row: Row) -> str:
    """`smollm2 · bridge`."""
    return f"{row['system']} · {row['type']}" if row["type"] else str(row["system"])


def _none(row: Row) -> Cell:
    return Cell("quiet", "–", (row["reason"],) if row["reason"] else ())


def _short(row: Row) -> tuple[str, ...]:
    """A difference and its interval with a fixed number of decimals, so that cells stay narrow and line up."""
    is_share = row["unit"] == "share"
    places = {"share": 0, "ratio": 2}.get(row["unit"], 3)

    def text(value: float) -> str:
        # Adding 0 turns a rounded −0.000 into 0.000.
        return f"{round(100 * value if is_share else value, places) + 0:.{places}f}".replace("-", "−")

    first = text(row["value"]) + (" points" if is_share else "")
    return (first,) if row["low"] is None else (first, f"[{text(row['low'])}, {text(row['high'])}]")


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
