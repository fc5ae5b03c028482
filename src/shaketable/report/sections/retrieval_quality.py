"""How well the supporting documents are found, and what disturbing the hits costs."""

from __future__ import annotations

from shaketable.analyses.wording.retrieval_quality import RetrievalNumber, RetrievalQuality
from shaketable.report.section import Headline, Page, Section
from shaketable.report.words import name_part


def section(result: RetrievalQuality, page: Page) -> Section:
    """Sentences alone: the numbers are in the findings."""
    levels = (_headline(number, page, is_loss=False) for number in result.levels if _is_recall(number))
    losses = (_headline(number, page, is_loss=True) for number in result.losses if _is_recall(number))
    caveat = (
        f"Intervals: {page.bootstrap.confidence:.0%}, percentile bootstrap over questions "
        f"({page.bootstrap.n_resamples:,} resamples)."
    )
    return Section(
        chapter="evidence",
        title="How well documents are found",
        question="How well are the supporting documents found, before and after the evidence is disturbed?",
        headlines=(*levels, *losses),
        shown=(),
        caveats=(caveat,) if result.levels else (),
    )


def _is_recall(number: RetrievalNumber) -> bool:
    return number.metric.partition("@")[0] == "recall" and number.estimate.value is not None


def _headline(number: RetrievalNumber, page: Page, *, is_loss: bool) -> Headline:
    estimate, perturbation = number.estimate, name_part(number.cell.perturbation or "")
    interval = f" [{estimate.low:.2f}, {estimate.high:.2f}]" if estimate.low is not None else ""
    amount = f"{estimate.value:.2f}{interval} (n = {estimate.n:,})"
    sentence = f"{number.retriever}, {perturbation}: {number.metric} is {amount}."
    if is_loss:
        sentence = f"{number.retriever}: {perturbation} costs {amount} of {number.metric}."
    return Headline(kind="retrieval", cell=number.cell, system=number.retriever or "", sentence=sentence)
