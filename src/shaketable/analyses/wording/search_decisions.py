"""Does rewording change the decision to search, and is that decision right?"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    ORIGINAL,
    Asked,
    Number,
    Row,
    asked_of,
    by_people,
    finding_of,
    nothing_row,
    number_rows,
    scores_of,
    tell,
    told_variation,
    where,
)
from shaketable.analyses.wording.unaided import Unaided, Wording, act, searching, told_choice, unaided_of
from shaketable.report.old_words import bounds, holds_zero, level, number, questions, sentence_case
from shaketable.statistics.stability import noise_flip
from shaketable.types import OldFinding

NAME = "search_decisions"
QUESTION = "Does rewording change the decision to search?"
ONE_RUN = "too few runs of the original wording to tell rewording from chance; raise repeats"
NO_SEARCHING = "no system of this run searches"


def search_decisions(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    correct: str = "contains",
    closed_book: str = "closed_book",
    need: Wording = "same",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """How often a system searches at all, how often rewording flips that, and over- and under-confidence.

    `need`: shares of all questions where a search was needed; `over_confidence`: needed and not made;
    `under_confidence`: not needed and made. It is needed where the closed-book answer is wrong, to the same wording or
    to the original (`need`).
    `flip_any`: questions where at least one wording of a variation decides otherwise than the original; `flip_pair`:
    pairs of question and wording. `noise_…`: the same between runs of the original wording alone; `excess_…`: the
    difference.
    """
    rows: list[Row] = []
    compared: list[tuple[Asked, Unaided]] = []
    if records is not None and len(table):
        every = asked_of(records, correct=scores_of(table, correct))
        compared = [(asked, unaided_of(every, asked, closed_book, need)) for asked in searching(every)]
        for asked, unaided in compared:
            numbers = _numbers(asked, unaided)
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
        rows = rows or [nothing_row(NAME, NO_SEARCHING)]
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    _add_sentences(rows)
    return finding_of(
        NAME,
        QUESTION,
        rows,
        (
            f"A search is needed where the closed-book answer to the {need} wording is wrong.",
            *told_choice(compared),
            "The noise flip compares runs of the original wording with one another, as many as there are wordings; "
            "what rewording adds is the excess. At temperature 0 a model that computes exactly has no noise.",
        ),
        confidence=confidence,
        n_resamples=n_resamples,
        first="most",
        correct=correct,
        closed_book=closed_book,
        need=need,
    )


def _numbers(asked: Asked, unaided: Unaided) -> list[Number]:
    numbers = []
    acts = asked.means(lambda row: float(act(row)))
    for variation in asked.variations:
        numbers.append(Number(metric="act", variation=variation, values=acts.get(variation, {}), unit="share"))
    for name, number_of in (("need", _need), ("over_confidence", _over), ("under_confidence", _under)):
        found = asked.means(lambda row, number_of=number_of: number_of(row, unaided.of(row)))  # type: ignore[misc]
        for variation in asked.variations:
            values = found.get(variation, {})
            numbers.append(Number(metric=name, variation=variation, values=values, unit="share", reason=unaided.reason))
    for variation in asked.reworded:
        numbers += _flips(asked, variation)
    return numbers


def _need(row: Row, unaided: float | None) -> float | None:
    return None if unaided is None else 1 - unaided


def _over(row: Row, unaided: float | None) -> float | None:
    return None if unaided is None else (not act(row)) * (1 - unaided)


def _under(row: Row, unaided: float | None) -> float | None:
    return None if unaided is None else act(row) * unaided


def _flips(asked: Asked, variation: str) -> list[Number]:
    """Flip rates with their noise and excess, by question."""
    # By question and run: whether each wording of the variation decided otherwise than the original.
    flips: dict[str, dict[int, list[bool]]] = {}
    for original, reworded in asked.pairs():
        if reworded["variation"] == variation:
            of_question = flips.setdefault(original["question_id"], {})
            of_question.setdefault(original["repeat"], []).append(act(original) != act(reworded))
    acts = {
        question: [act(row) for row in rows if row["variation"] == ORIGINAL] for question, rows in asked.answers.items()
    }
    sizes = {question: max(map(len, runs.values())) for question, runs in flips.items()}
    any_ = {question: _mean([float(any(run)) for run in runs.values()]) for question, runs in flips.items()}
    pair = {question: _mean([float(flip) for run in runs.values() for flip in run]) for question, runs in flips.items()}
    numbers = []
    for name, found, noise in (
        ("any", any_, {question: noise_flip(acts[question], sizes[question]) for question in flips}),
        ("pair", pair, {question: noise_flip(acts[question]) for question in flips}),
    ):
        known = {question: value for question, value in noise.items() if value is not None}
        excess = {question: found[question] - value for question, value in known.items()}
        parts: list[tuple[str, Mapping[str, float], str | None]] = [
            (f"flip_{name}", found, None),
            (f"noise_{name}", known, ONE_RUN),
            (f"excess_{name}", excess, ONE_RUN),
        ]
        numbers += [
            Number(
                metric=metric,
                variation=variation,
                values=values,
                unit="share",
                reason=reason,
                is_difference=values is excess,
            )
            for metric, values, reason in parts
        ]
    return numbers


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _add_sentences(rows: list[Row]) -> None:
    """Two for each system and dataset: on what flips most, rewrites by people before others, and on over-confidence."""
    places: dict[tuple[object, ...], dict[str, dict[str, Row]]] = {}
    for row in rows:
        if row["value"] is not None and row["variation"]:
            place = places.setdefault((row["system"], row["dataset"], row["temperature"]), {})
            place.setdefault(row["variation"], {})[row["metric"]] = row
    for place in places.values():
        flips = {variation: found for variation, found in place.items() if "flip_any" in found}
        if not flips or all(found["act"]["value"] == 1 for found in place.values() if "act" in found):
            continue  # What always searches decides nothing.
        people = {variation: found for variation, found in flips.items() if by_people(variation)}
        variation = max(people or flips, key=lambda one: (flips[one]["flip_any"]["value"], one))
        row = flips[variation]["flip_any"]
        noise, excess = flips[variation].get("noise_any"), flips[variation].get("excess_any")
        sentence = (
            f"{sentence_case(told_variation(variation))} changes the decision to search in "
            f"{number(row['value'], 'share')} %{bounds(row)} of questions ({where(row)})"
        )
        if noise and excess:
            sentence += f"; runs of the same wording alone change it in {number(noise['value'], 'share')} %."
            shown = "is not shown to add anything" if holds_zero(excess) else "adds"
            added = "" if holds_zero(excess) else f" {number(excess['value'], 'share')} points{bounds(excess)}"
            detail = f"Rewording {shown}{added} ({questions(row['n'])})."
        else:
            sentence += "."
            detail = f"How much of it is chance is not known: there are {ONE_RUN} ({questions(row['n'])})."
        tell(row, "decision", sentence, detail)
        _tell_confidence(place)


def _tell_confidence(place: Mapping[str, Mapping[str, Row]]) -> None:
    """Of the wording with the most over-confidence, beside the original."""
    over = {variation: found["over_confidence"] for variation, found in place.items() if "over_confidence" in found}
    original = over.pop(ORIGINAL, None)
    if original is None or not over:
        return
    most = max(over.values(), key=lambda row: row["value"])
    tell(
        most,
        "confidence",
        f"After {told_variation(most['variation'])}, {where(most)} leaves out a search that it needs in {level(most)} "
        f"of questions, the most of {len(over)} rewordings; with the original wording in {level(original)}.",
        f"It makes one that it does not need in {level(place[most['variation']]['under_confidence'])} "
        f"({questions(most['n'])}).",
    )
