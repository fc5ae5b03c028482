"""The chapter on facts: its figures and its blocks, made from the findings of factual robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.analyses.facts.facts import pooled_rows
from shaketable.report.cases import Store
from shaketable.report.charts.certainty_histogram import certainty_histogram, histogram_rows
from shaketable.report.charts.entropy_by_breaking import entropy_by_breaking
from shaketable.report.charts.fact_panels import fact_rows, scored_facts
from shaketable.report.charts.facts_by_temperature import accuracy_rows, facts_by_temperature
from shaketable.report.charts.fragility_curves import curve_rows, fragility_curves
from shaketable.report.charts.robustness_density import density_rows, robustness_density
from shaketable.report.charts.robustness_scatter import robustness_scatter
from shaketable.report.charts.robustness_surfaces import robustness_surfaces, surface_rows
from shaketable.report.charts.type_ratios import type_ratios, type_rows
from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_blocks import Block, Table
from shaketable.report.old_figures import Figure, finding_figure
from shaketable.report.old_words import level, named
from shaketable.types import Completion, Generate, OldFinding, Record

Row = Mapping[str, Any]
CHAPTER = "facts"
SYSTEM = {"system": "System", "panel": "Dataset"}
N_SHOWN = 400
"""Rows of a figure's table on the page; its CSV has all."""
ESTIMATE = {"value": "Value", "low": "Low", "high": "High", "n": "Questions"}


# --- figures --------------------------------------------------------------------------------------


def fact_figures(findings: Sequence[OldFinding]) -> list[Figure]:
    """What can be drawn of the findings at hand, in the order of the chapter."""
    of = {finding.analysis: finding for finding in findings}
    drawn: list[Figure] = []
    if accuracy := of.get("fact_accuracy"):
        drawn += _figure(
            "facts_by_temperature",
            "Known facts against temperature",
            "Accuracy on the facts that each system knows at temperature 0; bands are intervals. Temperatures at "
            "which the scan had left some facts are not drawn.",
            accuracy_rows(accuracy),
            SYSTEM | {"temperature": "Temperature"} | ESTIMATE,
            lambda: facts_by_temperature(accuracy),
            accuracy,
        )
    if robust := of.get("factual_robustness"):
        drawn += _robustness(robust)
    if breaking := of.get("breaking"):
        drawn += _figure(
            "entropy_by_breaking",
            "Entropy against breaking temperature",
            "Mean entropy of the facts that break at each temperature; bands are intervals.",
            fact_rows(breaking, "entropy"),
            SYSTEM | {"temperature": "Breaking temperature"} | ESTIMATE,
            lambda: entropy_by_breaking(breaking),
            breaking,
        )
    if certainty := of.get("certainty_bins"):
        drawn += _figure(
            "certainty_histogram",
            "Certainty of sampled answers",
            "Share of answers by the mean probability of their tokens, wrong answers stacked on correct ones.",
            histogram_rows(certainty),
            {"group": "System", "temperature": "Temperature", "bin": "Bin from", "answer": "Answer"} | ESTIMATE,
            lambda: certainty_histogram(certainty),
            certainty,
        )
    if types := of.get("question_types"):
        drawn += _figure(
            "type_ratios",
            "Types of question",
            "Left: the share of a type's extreme facts that are among the most robust. Right: its mean score.",
            type_rows(types),
            {"system": "System", "name": "Type", "kind": "Kind"} | ESTIMATE,
            lambda: type_ratios(types),
            types,
        )
    if weakest := of.get("weakest_facts"):
        drawn += _figure(
            "fragility_curves",
            "The weakest facts, as curves",
            "Probability of a correct answer with its interval, inside certified bounds (grey); the broken line marks "
            "the breaking temperature.",
            curve_rows(weakest),
            {"fact": "Fact", "temperature": "Temperature", "certain_low": "At least", "certain_high": "At most"}
            | {"value": "Estimate", "low": "Low", "high": "High"},
            lambda: fragility_curves(weakest),
            weakest,
        )
    return drawn


def _robustness(finding: OldFinding) -> list[Figure]:
    every_d: Any = finding.settings["d"]
    if not fact_rows(finding, "fact"):
        return []
    columns = SYSTEM | {"question_id": "Question", "entropy": "Entropy", "breaking": "Breaking temperature"}
    drawn = []
    for d in every_d:
        is_first = d == every_d[0]
        drawn += _figure(
            "robustness_scatter" if is_first else f"robustness_scatter_d{d}",
            f"Entropy and robustness of single facts, d = {d}",
            "Each point is a known fact; those that never break score 1 and are ringed. The line on the right is the "
            "density of the others.",
            scored_facts(finding, d),
            columns | {"frs": "Score"},
            lambda d=d: robustness_scatter(finding, d=d),  # type: ignore[misc]
            finding,
            is_on_page=is_first,
        )
    drawn += _figure(
        "robustness_density",
        "How robustness is spread",
        "Densities of the scores of broken facts; the spike at 1 is ten times as high as the share of unbroken ones.",
        density_rows(finding, every_d[0]),
        SYSTEM | {"frs": "Score", "density": "Density", "unbroken": "Unbroken", "n": "Facts"},
        lambda: robustness_density(finding, d=every_d[0]),
        finding,
    )
    drawn += _figure(
        "robustness_surfaces",
        "The score as a function",
        "f and the score over entropy and breaking temperature. They are formulas, the same for every run.",
        surface_rows(tuple(every_d)),
        {"column": "d", "entropy": "Entropy from", "breaking": "Breaking temperature from", "f": "f", "frs": "Score"},
        lambda: robustness_surfaces(finding),
        finding,
        is_main=False,
    )
    return drawn


def _figure(
    name: str,
    title: str,
    note: str,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    draw: Callable[[], alt.TopLevelMixin],
    finding: OldFinding,
    *,
    is_main: bool = True,
    is_on_page: bool = True,
) -> list[Figure]:
    """None without rows."""
    if not rows:
        return []
    return [
        finding_figure(
            finding,
            draw(),
            rows,
            columns,
            chapter=CHAPTER,
            name=name,
            title=title,
            note=note if len(rows) <= N_SHOWN else f"{note} The table shows the first {N_SHOWN} rows, the CSV all.",
            is_main=is_main,
            is_on_page=is_on_page,
            shown=[{column: row.get(column) for column in columns} for row in rows[:N_SHOWN]],
        )
    ]


# --- blocks ---------------------------------------------------------------------------------------


def fact_blocks(findings: Sequence[OldFinding], store: Store) -> list[Block]:
    """One for each finding about facts that has something to tell."""
    makers: dict[str, Callable[[OldFinding], Block]] = {
        "factual_robustness": _scores,
        "robustness_with_evidence": _with_evidence,
        "breaking": _breaking,
        "predict_breaking": _foretold,
        "question_types": _types,
        "weakest_facts": lambda finding: _weakest(finding, store),
        "latent_facts": lambda finding: _latent(finding, store),
    }
    made = [make(finding) for name, make in makers.items() for finding in findings if finding.analysis == name]
    return [block for block in made if block.sentences or block.tables]


def _block(finding: OldFinding, title: str, *tables: Table | None) -> Block:
    return Block(
        chapter=CHAPTER,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences,
        notes=[caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)],
        tables=[table for table in tables if table is not None],
    )


def _scores(finding: OldFinding) -> Block:
    """The study's Table 1 first: a line per d, a column per system."""
    rows = rows_of(finding)
    scores = [row for row in rows if row["kind"] == "score"]
    capped = [row for row in scores if row["is_capped"]]
    return _block(
        finding,
        "Factual robustness score",
        _by_d("Mean score of known facts", pooled_rows([dict(row) for row in capped])),
        _by_d(
            "Beyond temperature 2, by the curves", pooled_rows([dict(row) for row in scores if not row["is_capped"]])
        ),
        _by_d("On the facts that all systems know", [row for row in rows if row["kind"] == "shared"]),
        _lines(
            "Known, and never broken",
            [row for row in rows if row["kind"] in ("accuracy", "unbroken")],
            kind={"accuracy": "known of all asked", "unbroken": "unbroken of the known"},
        ),
        _by_d("By dataset", [row for row in capped if row["dataset"]], by_dataset=True, is_folded=True)
        if len({row["dataset"] for row in capped}) > 1
        else None,
    )


def _with_evidence(finding: OldFinding) -> Block:
    """A line for each kind of evidence: its score, and what it brings or costs."""
    every_d: Any = finding.settings["d"]
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    names = ("system", "dataset", "method", "retriever", "perturbation")
    for row in rows_of(finding):
        if row["d"] == every_d[0]:
            line = lines.setdefault(tuple(row[name] for name in names), {name: row[name] for name in names})
            line[row["kind"]] = row["reason"] if row["value"] is None else level(row)
            line["n"] = max(row["n"], line.get("n", 0))
    columns = {
        "system": "System",
        "dataset": "Dataset",
        "method": "Method",
        "perturbation": "Evidence",
        "score": "Score",
        "gain": "More than closed book",
        "loss": "Less than with original evidence",
        "spread": "Range over wordings",
        "n": "Facts",
    }
    told = [{**dict.fromkeys(columns), **line, "perturbation": _evidence(line)} for line in lines.values()]
    shown = [name for name in columns if any(line[name] is not None for line in told)]
    table = Table(title=f"d = {every_d[0]}", columns={name: columns[name] for name in shown}, rows=told)
    return _block(finding, "Robustness with evidence", table if told else None)


def _evidence(line: Row) -> str:
    if line["perturbation"] is None:
        return "closed book"
    return f"{line['retriever']}, {named(line['perturbation'])}"


def _by_d(title: str, rows: Sequence[Row], *, by_dataset: bool = False, is_folded: bool = False) -> Table | None:
    lines: dict[int, dict[str, Any]] = {}
    for row in rows:
        column = f"{row['system']} · {row['dataset']}" if by_dataset else row["system"]
        lines.setdefault(row["d"], {"d": str(row["d"])})[column] = None if row["value"] is None else level(row)
    columns = {name: name for line in lines.values() for name in line}
    filled = [dict.fromkeys(columns) | line for line in lines.values()]
    return Table(title=title, columns=columns, rows=filled, is_folded=is_folded) if lines else None


def _lines(title: str, rows: Sequence[Row], *, kind: Mapping[str, str], is_folded: bool = False) -> Table | None:
    """A line per system, dataset and kind of number."""
    shown = [
        {
            "system": row["system"],
            "dataset": row["dataset"] or "all",
            "kind": kind[row["kind"]],
            "estimate": row.get("reason") if row["value"] is None else level(row),
            "n": row["n"],
        }
        for row in rows
    ]
    columns = {"system": "System", "dataset": "Dataset", "kind": "", "estimate": "Estimate", "n": "Questions"}
    return Table(title=title, columns=columns, rows=shown, is_folded=is_folded) if shown else None


def _breaking(finding: OldFinding) -> Block:
    names = {
        "pearson": "r of entropy and breaking temperature",
        "too_early": "broken too early by samples",
        "too_early_expected": "the same, expected by chance",
    }
    return _block(
        finding,
        "When facts break",
        _lines(
            "Entropy and breaking temperature", [row for row in rows_of(finding) if row["kind"] in names], kind=names
        ),
    )


def _foretold(finding: OldFinding) -> Block:
    rows = [
        {
            "system": row["system"],
            "predictors": row["predictors"],
            "kind": {"r2": "R²", "gain": "more than entropy alone"}[row["kind"]],
            "estimate": row["reason"] if row["value"] is None else level(row),
            "n": row["n"],
        }
        for row in rows_of(finding)
    ]
    columns = {"system": "System", "predictors": "Foretold by", "kind": "", "estimate": "Estimate", "n": "Facts"}
    table = Table(title="Cross-validated regression of log(1 + breaking temperature)", columns=columns, rows=rows)
    return _block(finding, "Foretelling the break", table if rows else None)


def _types(finding: OldFinding) -> Block:
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows_of(finding):
        if row["kind"] == "untyped":
            continue
        line = lines.setdefault((row["system"], row["type"]), {"system": row["system"], "type": row["type"]})
        line[row["kind"]] = row["reason"] if row["value"] is None else level(row)
        if row["kind"] == "ratio":
            line |= {"top": row["n_top"], "bottom": row["n_bottom"], "tied": row["n_tied"]}
    columns = {
        "system": "System",
        "type": "Type",
        "top": "In the top group",
        "bottom": "In the bottom group",
        "ratio": "Top of both",
        "tied": "Tied at the cut",
        "mean": "Mean score",
    }
    table = Table(title="Most and least robust facts by type", columns=columns, rows=list(lines.values()))
    return _block(finding, "Types of question", table if lines else None)


def _weakest(finding: OldFinding, store: Store) -> Block:
    facts = [row for row in rows_of(finding) if row["kind"] == "fact"]
    told = _told(facts, store)
    rows = [
        {
            "system": row["system"],
            "question": told[row["key"]][0],
            "answer": told[row["key"]][1],
            "breaking": None if row["breaking"] is None else f"{row['breaking']:.3g}",
            "token": _token(told[row["key"]][2], row["position"]),
            "wrong": row["wrong"],
            "score": f"{row['value']:.3f}",
        }
        for row in facts
    ]
    columns = {
        "system": "System",
        "question": "Question",
        "answer": "Answer at 0",
        "breaking": "Breaks at",
        "token": "Token that breaks first",
        "wrong": "Likeliest wrong answer",
        "score": "Score",
    }
    return _block(finding, "The weakest facts", Table(title="", columns=columns, rows=rows) if rows else None)


def _latent(finding: OldFinding, store: Store) -> Block:
    facts = [row for row in rows_of(finding) if row["kind"] == "fact"]
    told = _told(facts, store)
    rows = [
        {
            "system": row["system"],
            "question": told[row["key"]][0],
            "answer": told[row["key"]][1],
            "peak": f"{100 * row['value']:.0f} % at {row['peak_temperature']:g}",
        }
        for row in facts
    ]
    columns = {"system": "System", "question": "Question", "answer": "Wrong answer at 0", "peak": "Most often right"}
    return _block(finding, "Latent facts", Table(title="", columns=columns, rows=rows) if rows else None)


def _told(facts: Sequence[Row], store: Store) -> dict[str | None, tuple[str, str, tuple[str, ...]]]:
    """Question, greedy answer and its tokens, by key; the id of the question where the record is gone."""
    keys = [row["key"] for row in facts if row["key"]]
    if not keys:
        return {row["key"]: (row["question_id"], "", ()) for row in facts}
    records = {record.trial.key: record for record in store.records_of(keys)}
    return {
        row["key"]: (record.trial.variant.text, record.answer.text if record.answer else "", _tokens(record))
        if (record := records.get(row["key"]))
        else (row["question_id"], "", ())
        for row in facts
    }


def _tokens(record: Record) -> tuple[str, ...]:
    replies = [event.reply for event in record.trace if isinstance(event.step, Generate)]
    return replies[-1].tokens if replies and isinstance(replies[-1], Completion) else ()


def _token(tokens: Sequence[str], position: int | None) -> str | None:
    if position is None:
        return None
    return f"{position + 1}: “{tokens[position].strip()}”" if position < len(tokens) else f"{position + 1}"
