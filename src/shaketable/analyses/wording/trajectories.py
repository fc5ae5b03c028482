"""Where do the searches of a reworded question go?"""

from __future__ import annotations

import polars as pl

from shaketable.analyses.wording.hops import MissingHops, Trails, trails_of
from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    Asked,
    Number,
    Row,
    asked_of,
    differences,
    finding_of,
    nothing_row,
    number_rows,
    tell,
    told_variation,
    where,
)
from shaketable.analyses.wording.unaided import searching
from shaketable.analyses.wording.vectors import ENCODER
from shaketable.report.old_words import level, questions
from shaketable.types import OldFinding

NAME = "trajectories"
NO_SEARCHES = "no search was recorded"


def trajectories(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    searches: pl.DataFrame | None = None,
    encoder: str = ENCODER,
    missing_hops: MissingHops = "skip",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Drift of queries and of what they find, against the original wording, in all and hop by hop.

    `mss`: mean similarity of the queries of aligned hops. `rfr`: share of hops without a supporting document.
    `collapse`: one minus the mean overlap (Jaccard) of the passages found at aligned hops; `disjoint`: share of aligned
    hops with nothing in common. `gold`: share of searches that hold a supporting document, by `hop`.
    """
    rows: list[Row] = []
    if records is not None and searches is not None and len(table):
        trails = trails_of(searches, encoder, missing_hops)
        for asked in searching(asked_of(records)):
            numbers = _numbers(asked, trails)
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
        rows = rows or [nothing_row(NAME, NO_SEARCHES)]
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS if records is None else NO_SEARCHES)]
    _add_sentences(rows)
    skipped = "are left out" if missing_hops == "skip" else "count as similarity 0"
    return finding_of(
        NAME,
        "Where do the searches of a reworded question go?",
        rows,
        (
            f"Queries are compared as vectors of {encoder}; hops that only one of two trials made {skipped}.",
            "A supporting document is told by its title. Questions that name none are left out of rfr and gold. "
            "Later hops are those of trials that came so far.",
        ),
        confidence=confidence,
        n_resamples=n_resamples,
        first="least",
        encoder=encoder,
        missing_hops=missing_hops,
    )


def _numbers(asked: Asked, trails: Trails) -> list[Number]:
    numbers: list[Number] = []
    for metric, unit, compare, reason in (
        ("mss", "score", trails.mss, trails.vectors.reason),
        ("collapse", "score", trails.collapse, None),
        ("disjoint", "share", trails.disjoint, None),
    ):
        found = asked.paired(lambda a, b, compare=compare: compare(a["key"], b["key"]))  # type: ignore[misc]
        numbers += [
            Number(metric=metric, variation=variation, values=found.get(variation, {}), unit=unit, reason=reason)
            for variation in asked.reworded
        ]
    numbers += differences(asked, "rfr", lambda row: trails.failure_rate(row["key"]), "share")
    n_hops = max((len(trails.of(row["key"])) for rows in asked.answers.values() for row in rows), default=0)
    for hop in range(n_hops):
        numbers += _at_hop(asked, trails, hop)
    return numbers


def _at_hop(asked: Asked, trails: Trails, hop: int) -> list[Number]:
    def similarity(original: Row, reworded: Row) -> float | None:
        found = trails.similarities(original["key"], reworded["key"])
        return found[hop] if hop < len(found) else None

    def gold(row: Row) -> float | None:
        made = trails.of(row["key"])
        is_hit = made[hop].is_hit if hop < len(made) else None
        return None if is_hit is None else float(is_hit)

    numbers = []
    for metric, unit, found in (
        ("mss", "score", asked.paired(similarity)),
        ("gold", "share", asked.means(gold)),
    ):
        numbers += [
            Number(metric=metric, variation=variation, values=found[variation], unit=unit, more={"hop": hop + 1})
            for variation in asked.variations
            if variation in found
        ]
    return numbers


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset: the rewording whose queries drift most."""
    places: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row["metric"] in ("mss", "rfr") and not row.get("hop") and row["value"] is not None:
            places.setdefault((row["system"], row["dataset"], row["temperature"]), []).append(row)
    for found in places.values():
        drifts = [row for row in found if row["metric"] == "mss"]
        if not drifts:
            continue
        most = min(drifts, key=lambda row: row["value"])
        rates = {row["variation"]: row for row in found if row["metric"] == "rfr" and not row["contrast"]}
        sentence = (
            f"After {told_variation(most['variation'])} the queries of {where(most)} keep a similarity of "
            f"{level(most)} to those after the original wording, the least of {len(drifts)} rewordings."
        )
        detail = "Hops that both trials made"
        if most["variation"] in rates and "original" in rates:
            detail = (
                f"Searches without a supporting document: {level(rates[most['variation']])}, "
                f"{level(rates['original'])} with the original wording"
            )
        tell(most, "drift", sentence, f"{detail} ({questions(most['n'])}).")
