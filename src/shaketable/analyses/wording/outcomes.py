"""Did searching help, harm, or change nothing, for each way of asking?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, NO_SEARCHING
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import claim_differences
from shaketable.analyses.wording.measurements import Measurement, measure
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.unaided import ClosedBook, Unaided, Wording, closed_books, compare_with_closed_book
from shaketable.factors import ORIGINAL

CLASSES: dict[str, Callable[[float, float], float]] = {
    "helpful": lambda unaided, correct: (1 - unaided) * correct,
    "harmful": lambda unaided, correct: unaided * (1 - correct),
    "stable": lambda unaided, correct: unaided * correct,
    "unhelpful": lambda unaided, correct: (1 - unaided) * (1 - correct),
}
"""Wrong to right, right to wrong, right and right, wrong and wrong: closed book first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """When does searching help, and when does it harm?"""

    correct: str | None
    """The metric that tells right answers from wrong ones."""
    closed_book: str
    """The method that stands for no retrieval, as it was asked for."""
    need: Wording
    closed_books: tuple[ClosedBook, ...]
    numbers: tuple[WordingNumber, ...]
    """Shares that sum to 1 for each variation, and the `net` of what was mended and spoiled."""
    reason: str | None = None
    """Why there are no numbers at all."""

    def claims(self) -> Iterable[Claim]:
        """Whether searching mends more than it spoils, with the original wording."""
        nets = (number for number in self.numbers if number.metric == "net" and number.cell.variation == ORIGINAL)
        return claim_differences(nets, "outcome")


def outcomes(
    tables: Tables, *, correct: str | None = None, closed_book: str = "closed_book", need: Wording = "same"
) -> Outcomes:
    """Shares of answers that a search mended (`helpful`), spoiled (`harmful`), left right (`stable`) or left wrong
    (`unhelpful`), against the closed-book answer to the same wording. They sum to 1. `net` is mended minus spoiled.

    Where there are several runs, each is compared with each closed-book run.
    """
    correct = correct or tables.judging_metric()
    empty = Outcomes(correct=correct, closed_book=closed_book, need=need, closed_books=(), numbers=())
    if tables.records.is_empty():
        return replace(empty, reason=NO_RECORDS if tables.metrics else None)
    compared, scores = compare_with_closed_book(tables, correct, closed_book, need)
    numbers = [
        number
        for pair in compared
        for number in estimate_numbers(pair.asked, _measure(pair.asked, pair.unaided, scores), tables.bootstrap)
    ]
    reason = None if compared else NO_SEARCHING
    return replace(empty, closed_books=closed_books(compared), numbers=tuple(numbers), reason=reason)


def _measure(asked: Asked, unaided: Unaided, scores: Mapping[str, float | None]) -> list[Measurement]:
    shares = [
        measurement
        for name, share in CLASSES.items()
        for measurement in measure(asked, name, _share_of(share, unaided, scores), "share", reason=unaided.reason)
    ]
    gain = _share_of(lambda before, after: after - before, unaided, scores)
    nets = measure(asked, "net", gain, "share", reason=unaided.reason)
    return shares + [replace(net, is_difference=True) for net in nets]


def _share_of(
    share: Callable[[float, float], float], unaided: Unaided, scores: Mapping[str, float | None]
) -> Callable[[Reply], float | None]:
    def number(reply: Reply) -> float | None:
        known, correct = unaided.of(reply), scores.get(reply.key)
        return None if known is None or correct is None else share(known, correct)

    return number
