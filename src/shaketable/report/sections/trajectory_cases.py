"""Two trajectories side by side: the searches of both wordings hop by hop, and what was answered."""

from __future__ import annotations

from shaketable.analyses.wording.trajectory_cases import (
    TrajectoryCase,
    TrajectoryCases,
    TrajectoryHop,
    TrajectorySide,
)
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.wording_words import (
    make_headline,
    name_dataset,
    name_rewording,
    name_system_and_heat,
    name_way,
    name_where,
)
from shaketable.report.words import Entry

HITS = {True: "found", False: "not found", None: "–"}
VERDICTS = {1.0: "right", 0.0: "wrong"}
RULE = (
    "Of each system and dataset the pair of trials of one run is shown whose answer was right with the original "
    "wording and wrong with another, where there is one; among these the one that lost most hits on supporting "
    "documents, then the one with the least similar queries, then the first by id. They show how searches fail, not "
    "how often."
)


def section(result: TrajectoryCases, page: Page) -> Section:
    compared = f"Queries are compared as vectors of {result.encoder}."
    return Section(
        chapter="wording",
        title="Two trajectories side by side",
        question="Where did the searches of a reworded question go astray?",
        headlines=tuple(_headline(case, page) for case in result.cases),
        tables=tuple(_table(case, page, is_folded=i > 0) for i, case in enumerate(result.cases)),
        caveats=(RULE, compared) if result.cases else (),
    )


def _headline(case: TrajectoryCase, page: Page) -> Headline:
    before, after = (_verdict(side) or "unknown" for side in (case.original, case.reworded))
    turned = f"its answer goes from {before} to {after}" if before != after else f"both answers are {before}"
    hits_before, hits_after = (
        sum(hop.original_is_hit is True for hop in case.hops),
        sum(hop.reworded_is_hit is True for hop in case.hops),
    )
    made_before, made_after = (
        sum(hop.original_query is not None for hop in case.hops),
        sum(hop.reworded_query is not None for hop in case.hops),
    )
    drift = "" if case.mss is None else f" Their queries have a mean similarity of {case.mss:.2f}."
    return make_headline(
        "trajectory",
        case.cell,
        f"Question {case.question_id} after {name_rewording(case.cell.variation)}, "
        f"{name_where(case.cell, page)}: {turned}.",
        f"{hits_before} of {made_before} searches of the original wording found a supporting document, "
        f"{hits_after} of {made_after} of the other.{drift}",
        page,
    )


def _table(case: TrajectoryCase, page: Page, *, is_folded: bool) -> Table:
    way = name_way(case.cell.variation)
    mean = None if case.mss is None else f"mean {case.mss:.2f}"
    return Table(
        title=f"{name_system_and_heat(case.cell, page)} on {name_dataset(case.cell)}: question {case.question_id}",
        columns=("Search", "Original", way.capitalize(), "Similarity", "Gold, original", f"Gold, {way}"),
        rows=(
            ("asked", case.original.wording, case.reworded.wording, None, None, None),
            *(_row(hop) for hop in case.hops),
            ("answer", _answer(case.original), _answer(case.reworded), mean, None, None),
        ),
        is_folded=is_folded,
    )


def _row(hop: TrajectoryHop) -> tuple[Entry, ...]:
    similarity = None if hop.similarity is None else f"{hop.similarity:.2f}"
    hits = HITS[hop.original_is_hit], HITS[hop.reworded_is_hit]
    return hop.hop, hop.original_query, hop.reworded_query, similarity, *hits


def _answer(side: TrajectorySide) -> str:
    verdict = _verdict(side)
    return f"{side.answer or 'nothing'}{f' ({verdict})' if verdict else ''}"


def _verdict(side: TrajectorySide) -> str | None:
    return None if side.correct is None else VERDICTS.get(side.correct)
