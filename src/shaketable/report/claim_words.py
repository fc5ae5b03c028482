"""What is said of claims: that they are shown, or what could have been seen."""

from __future__ import annotations

from dataclasses import replace

from shaketable.analyses.claims import TOO_FEW, Claim
from shaketable.analyses.rows import Bounded
from shaketable.report.words import format_amount, format_loss, too_few
from shaketable.types import Estimate

N_MOST = 10_000
"""More questions than this are hardly ever asked."""
UNADJUSTED = "Intervals and p values in tables are not adjusted for their number; only what a sentence claims is."
WHATEVER_FAILED = (
    "Many answers failed: had those of one side all been wrong and those of the other all right, or the reverse, it "
    "would lie between"
)
FAMILY = (
    "All claims of this page are judged together: the chance that even one of them is false is that of a single test "
    "(Holm's adjustment; the temperatures of one line count together as one claim)."
)


def describe_unshown(claim: Claim | None) -> str:
    """What stands behind it: `an effect of 12 points or more would likely have been seen`."""
    if claim is None:
        return "not tested"
    if claim.reason == TOO_FEW:
        return too_few(claim.estimate.n, "claim anything")
    if claim.reason is not None:
        return claim.reason
    if claim.n_least is not None:
        few = too_few(claim.estimate.n, "show anything beside so many other claims")
        return f"{few}; it takes {claim.n_least} at least"
    if claim.detectable is None:
        return f"p = {claim.p_adjusted:.2g}, adjusted"
    least = format_amount(replace(claim.estimate, value=claim.detectable))
    seen = f"an effect of {least} or more would likely have been seen"
    if claim.n_needed is None:
        return seen
    needed = f"more than {N_MOST:,}" if claim.n_needed > N_MOST else f"about {rounded(claim.n_needed):,}"
    return f"{seen}, one as small as this with {needed} questions"


def describe_not_shown(claim: Claim | None) -> str:
    """The same of a loss, with the estimate before it: `a loss of 3 points [−5, 11]; an effect of …`."""
    if claim is None or claim.estimate.value is None or claim.reason == TOO_FEW:
        return describe_unshown(claim)
    return f"{format_loss(claim.estimate, claim.subject.metric)}; {describe_unshown(claim)}"


def describe_failed(row: Bounded, of: Estimate) -> str:
    """What a loss could be, whatever the answers that failed would have been; nothing where few failed."""
    if row.worst_low is None or row.worst_high is None:
        return ""
    low, high = (
        format_loss(replace(of, value=end, low=None, high=None), row.metric) for end in (row.worst_low, row.worst_high)
    )
    return f" {WHATEVER_FAILED} {low} and {high}."


def rounded(n: int) -> int:
    """To two digits: it is no better known."""
    step: int = 10 ** max(0, len(str(n)) - 2)
    return -(-n // step) * step
