from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from shaketable.analyses.claims import TOO_FEW, Claim, Claims, Subject, claims_of
from shaketable.analyses.rows import UNSETTLED
from shaketable.factors import Cell
from shaketable.types import Estimate, Finding, Findings

COOL, HOT = Cell(temperature=0.0), Cell(temperature=1.0)


@dataclass(frozen=True)
class Handed:
    """A result that hands over these."""

    candidates: tuple[Claim, ...]

    def claims(self) -> Iterable[Claim]:
        return self.candidates


def estimate(value: float = 0.2, low: float = 0.1, high: float = 0.3, n: int = 24) -> Estimate:
    return Estimate(value=value, low=low, high=high, level=0.95, n=n, how="")


def candidate(p: float | None, cell: Cell = COOL, own: Estimate | None = None, **more: object) -> Claim:
    return Claim(subject=Subject(kind="evidence", cell=cell), estimate=own or estimate(), p=p, **more)  # type: ignore[arg-type]


def judged(*candidates: Claim, as_asked: tuple[Claim, ...] = ()) -> Claims:
    findings = [Finding(analysis="", result=Handed(candidates))]
    findings += [Finding(analysis="", result=Handed(as_asked), is_as_asked=True)] if as_asked else []
    return claims_of(Findings(findings=(*findings, Finding(analysis="", result=object()))))


def test_the_claims_of_all_analyses_are_one_family() -> None:
    first, second = judged(candidate(0.03), candidate(0.02, HOT)).every
    assert (first.p_adjusted, second.p_adjusted) == (0.04, 0.04)
    assert first.is_shown and second.is_shown
    assert [claim.is_shown for claim in judged(candidate(0.03), candidate(0.03, HOT)).every] == [False, False]


def test_what_two_analyses_claim_alike_counts_once_with_the_greater_weight() -> None:
    (only,) = judged(candidate(0.04, weight=0.1), candidate(0.04)).every
    assert (only.p_adjusted, only.weight, only.is_shown) == (0.04, 1, True)


def test_details_weigh_as_one_claim_together() -> None:
    details = [candidate(0.9, Cell(temperature=float(i)), weight=0.1) for i in range(1, 11)]
    first, *_ = judged(candidate(0.02), *details).every
    assert first.p_adjusted == pytest.approx(0.04)


def test_below_eight_questions_nothing_is_claimed_and_the_others_pay_nothing() -> None:
    few, many = judged(candidate(0.0001, own=estimate(n=7)), candidate(0.04, HOT)).every
    assert (few.is_shown, few.reason, few.p_adjusted) == (False, TOO_FEW, None)
    assert (many.is_shown, many.p_adjusted) == (True, 0.04)


def test_a_claim_that_its_interval_does_not_bear_out_is_not_shown() -> None:
    (claim,) = judged(candidate(0.001, own=estimate(low=-0.01))).every
    assert not claim.is_shown


def test_equivalence_and_difference_of_one_subject_share_a_place() -> None:
    nearly = estimate(0.01, -0.02, 0.04)
    differs, same = judged(candidate(0.4, own=nearly), candidate(0.03, own=nearly, says="equivalent")).every
    assert (differs.is_shown, same.is_shown, same.p_adjusted) == (False, True, 0.03)


def test_what_is_not_shown_carries_what_could_have_been_seen_and_how_many_questions_would_settle_it() -> None:
    (claim,) = judged(candidate(0.2, own=estimate(0.05, -0.046, 0.146))).every
    assert claim.detectable == pytest.approx(2.802 * 0.049, abs=1e-3)
    assert claim.n_needed == pytest.approx(24 * (claim.detectable / 0.05) ** 2, abs=1)
    (shown,) = judged(candidate(0.001)).every
    assert shown.n_needed is None


def test_what_so_few_questions_can_never_show_beside_so_many_claims_has_no_size_that_would_have_been_seen() -> None:
    """With 8 questions no p is below 2^-7 = .0078: too large for each of ten claims, and small enough for one."""
    all_on_one_side = estimate(1.0, 0.48, 1.0, n=8)
    many = judged(*(candidate(2**-7, Cell(temperature=t / 10), own=all_on_one_side) for t in range(10))).every
    assert {(claim.is_shown, claim.detectable, claim.n_needed, claim.n_least) for claim in many} == {
        (False, None, None, 9)
    }
    (alone,) = judged(candidate(2**-7, own=all_on_one_side)).every
    assert (alone.is_shown, alone.n_least) == (True, None)
    many = [candidate(1e-9, Cell(temperature=t / 10)) for t in range(9)]
    *shown, last = judged(*many, candidate(0.06, HOT, own=all_on_one_side)).every
    assert all(claim.is_shown for claim in shown)
    assert (last.is_shown, last.n_least) == (False, None), "What is shown leaves its part of the error to the others."


def test_no_size_would_have_been_seen_where_one_as_large_was_not() -> None:
    """Few questions are not as a normal law has it: the interval leaves 0 out and the test does not."""
    (claim,) = judged(candidate(0.07, own=estimate(0.5, 0.2, 0.8, n=12))).every
    assert (claim.is_shown, claim.detectable, claim.n_needed) == (False, None, None)


def test_nothing_is_claimed_of_results_told_again_as_asked() -> None:
    assert len(judged(candidate(0.03), as_asked=(candidate(0.01, HOT),)).every) == 1


def test_what_failures_decide_is_not_shown_and_still_counts_among_the_others() -> None:
    """Differences that failures could turn are the small ones: without them the large ones would pay too little."""
    unsettled, other = judged(candidate(0.001, reason=UNSETTLED), candidate(0.04, HOT)).every
    assert (unsettled.is_shown, unsettled.p_adjusted) == (False, 1.0)
    assert (other.is_shown, other.p_adjusted) == (False, 0.08)


def test_a_reason_of_one_analysis_holds_for_the_claim_of_all() -> None:
    (claim,) = judged(candidate(0.001), candidate(0.001, reason="nothing to lose")).every
    assert (claim.is_shown, claim.reason) == (False, "nothing to lose")
