"""One record in full: its evidence before and after, every repeat, and the trace of what was asked and replied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shaketable.errors import RunError
from shaketable.report.word_diff import Change, evidence_diff, new_order
from shaketable.store.examples import PARAGRAPH
from shaketable.store.explore import Explorer
from shaketable.types import Record
from shaketable.viewer.curve_picture import draw_curves
from shaketable.viewer.shown_event import show_event
from shaketable.viewer.shown_texts import show_texts
from shaketable.viewer.two_trajectories import two_trajectories

N_DIFFED = 4000
"""Words up to which two texts are compared; the time grows with their product."""


def record_values(explorer: Explorer, key: str, metric: str | None) -> dict[str, Any]:
    record = explorer.record(key)
    if record is None:
        raise RunError(f"This run has no record '{key}'. See the list of records.")
    question = explorer.question(record.trial.question_id)
    assert question is not None
    repeats = explorer.repeats(record)
    cool = [repeat.key for repeat in repeats if repeat.temperature == 0]
    curves = [curve for curve in explorer.curves(cool) if curve.reason is None]
    return {
        "record": record,
        "question": question,
        "metric": metric,
        "scores": explorer.scores(key),
        "repeats": repeats,
        "diff": compare_evidence(record, explorer.untouched(record)),
        "trajectories": two_trajectories(record, explorer.original_wording(record), question),
        "shown": show_texts(record, question),
        "events": [show_event(event, question) for event in record.trace],
        "curve": draw_curves(curves, dict.fromkeys(cool, record.trial.model)),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceDiff:
    before: str
    after: str
    order: str
    """`1 2 3 → 3 2 1` where passages only changed places; else nothing."""
    runs: list[tuple[Change, str]] | None
    """Runs of words that are kept, gone or new; None: too long to compare."""


def compare_evidence(record: Record, untouched: Record | None) -> EvidenceDiff | None:
    """The evidence of the untouched case against the record's own; None: it is the same, or has none to compare."""
    if record.answer is None or untouched is None or untouched.answer is None:
        return None
    if record.trial.perturbation in (None, "unchanged"):
        return None
    before, after = (
        PARAGRAPH.join(hit.passage.text for hit in one.answer.hits) for one in (untouched, record) if one.answer
    )
    is_long = max(before.count(" "), after.count(" ")) > N_DIFFED
    return EvidenceDiff(
        before=before,
        after=after,
        order=new_order(before, after),
        runs=None if is_long else evidence_diff(before, after),
    )
