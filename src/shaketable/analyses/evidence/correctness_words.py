"""The sentences of correctness, made by rule; none says more than its interval allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shaketable.analyses.conditions import ORIGINAL
from shaketable.analyses.evidence.flagged import AS_ASKED
from shaketable.report.old_words import (
    bounds,
    difference,
    holds_zero,
    level,
    measured,
    named,
    number,
    questions,
    sentence_case,
)
from shaketable.statistics.intervals import agreed

Row = dict[str, Any]


def add_sentences(rows: list[Row], main_metric: str | None) -> None:
    """Gives every row `headline`, `sentence` and `detail`: None, save on the few worth a sentence."""
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    pooled = [row for row in rows if row["metric"] == main_metric and row["type"] is None and row["value"] is not None]
    if not pooled:
        return
    coolest = min(row["temperature"] for row in pooled)
    hottest = max(row["temperature"] for row in pooled)
    places = {_place(row, row["temperature"]): row for row in pooled}
    for row in pooled:
        contrast = row["contrast"] or ""
        if contrast.startswith("temperature") and row["perturbation"] in (ORIGINAL, None):
            cool, hot = (places[_place(row | {"contrast": None}, t)] for t in (coolest, hottest))
            row.update(headline="heat", sentence=_heat(row, coolest), detail=_from_to(cool, hot))
        elif contrast.startswith(ORIGINAL) and row["temperature"] == coolest and not contrast.endswith(AS_ASKED):
            hot_drop = places.get(_place(row, hottest)) if hottest > coolest else None
            detail = _when_hot(row, hot_drop) + _as_asked(places.get(_as_asked_place(row)))
            row.update(headline="evidence", sentence=_evidence(row), detail=detail)
        elif not contrast and coolest == hottest and row["perturbation"] in (ORIGINAL, None):
            row.update(headline="level", sentence=f"{_subject(row)} {_is_right(row)}.", detail=_sample(row))


def by_importance(rows: Sequence[Row]) -> list[Row]:
    """The rows with a sentence: heat before evidence before levels, clear and large effects first."""
    order = ("heat", "evidence", "level")
    return sorted(
        (row for row in rows if row["sentence"]),
        key=lambda row: (order.index(row["headline"]), bool(row["contrast"]) and holds_zero(row), -abs(row["value"])),
    )


def caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    said = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions; "
        "they speak of questions like these, not of others.",
        "Many comparisons are shown, and the intervals are not widened for that: some will miss by chance.",
        *agreed(rows),
    ]
    if any(row["low"] is not None and row["low"] == row["high"] for row in rows):
        said.append("An interval without width means that all questions agreed, not that the value is certain.")
    if any((row["perturbation"] or "").endswith(AS_ASKED) for row in rows):
        said.append("'As asked' leaves out questions whose evidence carries a flag, such as a fallback; see the flags.")
    if any(row["n_missing"] for row in rows):
        said.append("Records without a score are left out of the means and counted; they are never zeros.")
    return tuple(said)


def _place(row: Row, temperature: float) -> tuple[Any, ...]:
    return row["system"], row["perturbation"], row["contrast"], temperature


def _as_asked_place(row: Row) -> tuple[Any, ...]:
    asked = {name: f"{row[name]}{AS_ASKED}" for name in ("perturbation", "contrast")}
    return _place(row | asked, row["temperature"])


def _as_asked(row: Row | None) -> str:
    """What stays without the questions whose evidence carries a flag."""
    return "" if row is None else f" Where it was done as asked: {difference(row)} ({questions(row['n'])})."


def _subject(row: Row) -> str:
    evidence = f" with {named(row['perturbation'])} evidence" if row["perturbation"] else ""
    return f"{row['system']}{evidence}"


def _is_right(row: Row) -> str:
    value = f"{level(row)} at temperature {row['temperature']:g}"
    return (
        f"is correct in {value}"
        if measured(row["metric"]) == "correctness"
        else f"has a mean {row['metric']} of {value}"
    )


def _sample(row: Row) -> str:
    return f"Measured on {row['n']:,} questions."


def _effect(row: Row, cause: str) -> str:
    """`Cause costs smollm2 19 points of correctness [8, 30]`, in neutral words for other metrics."""
    amount = number(abs(row["value"]), row["unit"]) + (" points" if row["unit"] == "share" else "")
    size = row if row["value"] >= 0 else row | {"low": -row["high"], "high": -row["low"]}
    if measured(row["metric"]) == "correctness":
        verb = "costs" if row["value"] > 0 else "gains"
        return f"{cause} {verb} {row['system']} {amount} of correctness{bounds(size)}"
    verb = "lowers" if row["value"] > 0 else "raises"
    return f"{cause} {verb} the {row['metric']} of {row['system']} by {amount}{bounds(size)}"


def _heat(row: Row, coolest: float) -> str:
    temperatures = f"temperature {coolest:g} to {row['temperature']:g}"
    if holds_zero(row):
        return f"Heating from {temperatures}: no difference was found for {row['system']} ({difference(row)})."
    return _effect(row, f"Heating from {temperatures}") + "."


def _from_to(cool: Row, hot: Row) -> str:
    return f"{_subject(cool)} {_is_right(cool)}, {level(hot)} at {hot['temperature']:g} ({questions(cool['n'])})."


def _evidence(row: Row) -> str:
    cause, place = named(row["perturbation"]), f"at temperature {row['temperature']:g}"
    if holds_zero(row):
        return f"{sentence_case(cause)}: no difference was found for {row['system']} {place} ({difference(row)})."
    return f"{sentence_case(_effect(row, cause))} {place}."


def _when_hot(row: Row, hot: Row | None) -> str:
    if hot is None:
        return _sample(row)
    place = f"At temperature {hot['temperature']:g}"
    if holds_zero(hot):
        return f"{place} no difference was found ({difference(hot)}; {questions(row['n'])})."
    return f"{place} the difference is {difference(hot)} ({questions(row['n'])})."
