"""The sentences of guidelines, made by rule; none says more than its interval allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shaketable.report.old_words import (
    at_temperatures,
    cost,
    difference,
    level,
    measured,
    named,
    number,
    questions,
    sentence_case,
)

Row = dict[str, Any]
ORDER = ("ceiling", "onset", "choice", "noise")


def add_sentences(rows: Sequence[Row], not_applied: str) -> None:
    """Gives every row `headline`, `sentence` and `detail`: None, save on the few worth a sentence."""
    noise: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["kind"] == "ceiling" and row.get("decides"):
            if row.get("is_part"):  # That over all wordings says more.
                continue
            if row["reason"] == not_applied:
                row.update(headline="ceiling", sentence=_ignores(row), detail=_levels(row))
            elif row["value"] is not None:
                row.update(headline="ceiling", sentence=_ceiling(row), detail=_levels(row))
        elif row["kind"] == "onset" and row["type"] is None and row["value"] is not None:
            if row["perturbation"] in ("unchanged", None):
                row.update(headline="onset", sentence=_onset(row), detail=_sample(row))
        elif row["kind"] == "choice":
            row.update(headline="choice", sentence=_choice(row), detail=_sample(row))
        elif row["kind"] == "noise" and row["type"] is None and row["verdict"]:
            noise.setdefault((row["metric"], row["system"]), []).append(row)
    for of_system in noise.values():
        row = max(of_system, key=lambda one: one["value"])
        row.update(headline="noise", sentence=_noise(of_system), detail=_largest(row))


def by_importance(rows: Sequence[Row]) -> list[Row]:
    return sorted((row for row in rows if row["sentence"]), key=lambda row: ORDER.index(row["headline"]))


def caveats(rows: Sequence[Row], bound: str, confidence: float, n_resamples: int, not_applied: str) -> tuple[str, ...]:
    told = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions; that of a "
        "ceiling is of the ceilings by mean losses, moved outward to temperatures that were tried.",
        "A ceiling is a rule for questions like these and for the worst evidence tried; few questions make it lower, "
        "because less can be ruled out.",
    ]
    if bound == "point":
        told.append("Ceilings go by point values: chance alone can put them too high.")
    if any(row["reason"] == not_applied for row in rows if row["kind"] == "ceiling"):
        told.append("A model that does not apply the temperature is flat whatever is asked; that is no robustness.")
    if any(row["kind"] == "noise" for row in rows):
        told.append("Which disturbance hurts where is read off many intervals that are not widened for their number.")
    if any(row["n_missing"] for row in rows):
        told.append("Records without a score are left out and counted; they are never zeros.")
    return tuple(told)


# --- how hot --------------------------------------------------------------------------------------


def _ceiling(row: Row) -> str:
    system, metric, unit = row["system"], measured(row["metric"]), row["score_unit"]
    loss = _amount(row["delta"], unit)
    worst = _worst(row)
    if row["next_temperature"] is None:
        held = "no more than" if row["low"] is not None else "by its point values no more than"
        return f"{system} may run as hot as was tried ({row['hottest']:g}): it loses {held} {loss} {metric}{worst}."
    keep = f"Keep {system} at {'or below ' if row['value'] > row['coolest'] else ''}{row['value']:g}"
    beyond = f"{row['next_temperature']:g}"
    if row["next_loss_low"] is not None and row["next_loss_low"] > row["delta"]:
        return f"{keep}: at {beyond}, answers lose more than {loss} {metric}{worst}."
    if row["next_loss_low"] is None:
        return f"{keep}: at {beyond}, answers lose by point values more than {loss} {metric}{worst}."
    return f"{keep}: at {beyond}, a loss of more than {loss} {metric} cannot be ruled out{worst}."


def _ignores(row: Row) -> str:
    return f"{row['system']} does not apply the temperature: it has no ceiling, and its flat line is no robustness."


def _worst(row: Row) -> str:
    """` with the worst evidence (sentence removal, comparison)`."""
    wording = row.get("worst_variation")
    told = [named(row["worst_perturbation"])] if row["worst_perturbation"] else []
    told += [named(wording)] if wording else []
    told += [row["worst_type"]] if row["worst_type"] else []
    worst = "evidence and wording" if wording and row["worst_perturbation"] else "wording" if wording else "evidence"
    return f" with the worst {worst} ({', '.join(told)})" if told else ""


def _levels(row: Row) -> str:
    """Ceiling with its interval, mean scores at both ends, stability baseline."""
    told = []
    if row["value"] is not None and row["low"] is not None:
        told.append(f"The ceiling is {row['value']:g} [{row['low']:g}, {row['high']:g}].")
        if row["point"] is not None and row["point"] > row["value"]:
            told.append(f"By the means alone it would be {row['point']:g}; more questions can tell.")
    if row.get("cool") is not None and row.get("hot") is not None:
        cool, hot = (
            level({"value": row[at], "low": row[f"{at}_low"], "high": row[f"{at}_high"], "unit": row["score_unit"]})
            for at in ("cool", "hot")
        )
        its = f"With undisturbed evidence its {measured(row['metric'])} is"
        told.append(f"{its} {cool} at {row['coolest']:g}, {hot} at {row['hottest']:g}")
        if row["baseline_cv"] is not None:
            told[-1] += f"; its stability baseline is {number(row['baseline_cv'], 'ratio')}"
        told[-1] += f" ({questions(row['n'])})."
    return " ".join(told)


def _onset(row: Row) -> str:
    interval = "" if row["low"] is None else f" [{row['low']:g}, {row['high']:g}]"
    falls = f"begins to fall at about temperature {row['value']:g}{interval}{' or before' if row['is_first'] else ''}"
    loss = {"value": -row["slope"], "low": None, "high": None, "unit": row["score_unit"]}
    if row["slope_low"] is not None:
        loss |= {"low": -row["slope_high"], "high": -row["slope_low"]}
    return f"The {measured(row['metric'])} of {row['system']} {falls}, by {difference(loss)} per unit of temperature."


def _sample(row: Row) -> str:
    return f"Measured on {row['n']:,} question{'' if row['n'] == 1 else 's'} with undisturbed evidence."


# --- which disturbance, which model ---------------------------------------------------------------


def _choice(row: Row) -> str:
    place, metric = f"At temperature {row['temperature']:g}", measured(row["metric"])
    system, other, apart = row["system"], row["other"], difference(row)
    if row["verdict"] == "best":
        return f"{place} {system} has the best {metric}, {apart} above {other}, the next."
    return f"{place} no clear winner was found: {system} and {other} lead in {metric}, {apart} apart."


def _noise(rows: Sequence[Row]) -> str:
    """`Evidence that hurts smollm2: sentence removal at every temperature tried; masking at temperature 0.`"""
    tried = sorted({row["temperature"] for row in rows})
    told = []
    for perturbation in dict.fromkeys(row["perturbation"] for row in rows):
        hurts = [row["temperature"] for row in rows if (row["perturbation"], row["verdict"]) == (perturbation, "hurts")]
        if hurts:
            told.append(f"{named(perturbation)} {at_temperatures(hurts, tried)}")
    system = rows[0]["system"]
    if not told:
        return f"No disturbance was found to hurt {system} at any temperature."
    return f"Evidence that hurts {system}: {'; '.join(told)}."


def _largest(row: Row) -> str:
    what = f"{sentence_case(named(row['perturbation']))} at temperature {row['temperature']:g}"
    return f"{what} costs most: {cost(row)} ({questions(row['n'])})."


def _amount(value: float, unit: str) -> str:
    return f"{100 * value:.3g} points of" if unit == "share" else f"{value:.3g}"
