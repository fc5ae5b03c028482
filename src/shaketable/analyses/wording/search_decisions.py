"""Does rewording change the decision to search, and is that decision right?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, NO_SEARCHING
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import claim_differences
from shaketable.analyses.wording.measurements import Measurement, beside_noise, measure, measure_losses
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.unaided import ClosedBook, Unaided, Wording, closed_books, compare_with_closed_book
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.stability import noise_flip


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchDecisions:
    """Does rewording change the decision to search?"""

    correct: str | None
    """The metric that tells whether a search was needed."""
    need: Wording
    closed_books: tuple[ClosedBook, ...]
    numbers: tuple[WordingNumber, ...]
    """`act`, `need`, `over_confidence` and `under_confidence` of each variation, and flips of each rewording.

    Losses of confidence are below 0 where rewording adds to it.
    """
    reason: str | None = None
    """Why there are no numbers at all."""

    @property
    def without_decision(self) -> dict[Cell, Literal["always searched", "never searched"]]:
        """The systems that decided alike in all trials, whatever the wording: nothing is said of their decision."""
        levels: dict[Cell, set[float | None]] = {}
        for number in self.numbers:
            if number.metric == "act" and not number.is_loss:
                levels.setdefault(replace(number.cell, variation=None), set()).add(number.estimate.value)
        return {
            cell: "always searched" if values == {1.0} else "never searched"
            for cell, values in levels.items()
            if values in ({1.0}, {0.0})
        }

    @property
    def decided(self) -> list[WordingNumber]:
        """The numbers of systems that sometimes search and sometimes do not."""
        without = self.without_decision
        return [number for number in self.numbers if replace(number.cell, variation=None) not in without]

    def claims(self) -> Iterable[Claim]:
        """How much more rewording flips the decision than chance does, and what it does to over-confidence."""
        excesses = (number for number in self.decided if number.metric == "excess_any")
        over = (number for number in self.decided if number.metric == "over_confidence" and number.is_loss)
        yield from claim_differences(excesses, "decision")
        yield from claim_differences(over, "confidence")


def search_decisions(
    tables: Tables, *, correct: str | None = None, closed_book: str = "closed_book", need: Wording = "same"
) -> SearchDecisions:
    """How often a system searches at all, how often rewording flips that, and over- and under-confidence.

    `need`: shares of all questions where a search was needed; `over_confidence`: needed and not made;
    `under_confidence`: not needed and made. It is needed where the closed-book answer is wrong by the metric `correct`,
    to the same wording or to the original (`need`).
    `flip_any`: questions where at least one wording of a variation decides otherwise than the original; `flip_pair`:
    pairs of question and wording. `noise_…`: the same between runs of the original wording alone; `excess_…`: the
    difference.
    """
    correct = correct or tables.judging_metric()
    empty = SearchDecisions(correct=correct, need=need, closed_books=(), numbers=())
    if tables.records.is_empty():
        return replace(empty, reason=NO_RECORDS if tables.metrics else None)
    compared, _ = compare_with_closed_book(tables, correct, closed_book, need)
    numbers = [
        number
        for pair in compared
        for number in estimate_numbers(pair.asked, _measure(pair.asked, pair.unaided), tables.bootstrap)
    ]
    reason = None if compared else NO_SEARCHING
    return replace(empty, closed_books=closed_books(compared), numbers=tuple(numbers), reason=reason)


def _measure(asked: Asked, unaided: Unaided) -> list[Measurement]:
    def need(reply: Reply) -> float | None:
        known = unaided.of(reply)
        return None if known is None else 1 - known

    def leave_out(reply: Reply) -> float | None:
        known = unaided.of(reply)
        return None if known is None else (not reply.searched) * (1 - known)

    def make_needlessly(reply: Reply) -> float | None:
        known = unaided.of(reply)
        return None if known is None else reply.searched * known

    return [
        *measure(asked, "act", lambda reply: float(reply.searched), "share"),
        *measure(asked, "need", need, "share", reason=unaided.reason),
        *measure_losses(asked, "over_confidence", leave_out, "share", reason=unaided.reason),
        *measure_losses(asked, "under_confidence", make_needlessly, "share", reason=unaided.reason),
        *(measurement for variation in asked.reworded for measurement in _flips(asked, variation)),
    ]


def _flips(asked: Asked, variation: str) -> list[Measurement]:
    """Flip rates with their noise and excess, by question."""
    # By question and run: whether each wording of the variation decided otherwise than the original.
    flips: dict[str, dict[int, list[bool]]] = {}
    for original, reworded in asked.pairs():
        if reworded.variation == variation:
            of_question = flips.setdefault(original.question_id, {})
            of_question.setdefault(original.repeat, []).append(original.searched != reworded.searched)
    acts = {
        question: [reply.searched for reply in replies if reply.variation == ORIGINAL]
        for question, replies in asked.replies.items()
    }
    sizes = {question: max(map(len, runs.values())) for question, runs in flips.items()}
    rates = {question: _mean([float(any(run)) for run in runs.values()]) for question, runs in flips.items()}
    noise = {question: noise_flip(acts[question], sizes[question]) for question in flips}
    by_pair = {
        question: _mean([float(flip) for run in runs.values() for flip in run]) for question, runs in flips.items()
    }
    noise_by_pair = {question: noise_flip(acts[question]) for question in flips}
    return [
        measurement
        for name, values, by_chance in (("any", rates, noise), ("pair", by_pair, noise_by_pair))
        for measurement in beside_noise(
            Measurement(metric=f"flip_{name}", variation=variation, values=values, unit="share"),
            {question: value for question, value in by_chance.items() if value is not None},
            asked.n_runs,
            stem=name,
        )
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
