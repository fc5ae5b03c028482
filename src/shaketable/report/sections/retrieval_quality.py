"""How well the supporting documents are found, and what disturbing the hits costs."""

from __future__ import annotations

from shaketable.analyses.wording.retrieval_quality import RetrievalNumber, RetrievalQuality
from shaketable.report.claim_words import FAMILY, describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.words import describe_bootstrap, name_part, negate
from shaketable.types import Estimate


def section(result: RetrievalQuality, page: Page) -> Section:
    """Sentences alone: the numbers are in the findings."""
    levels = (_level(number) for number in result.levels if number.is_recall)
    losses = (_loss(number, page) for number in result.losses if number.is_recall)
    return Section(
        chapter="evidence",
        title="How well documents are found",
        question="How well are the supporting documents found, before and after the evidence is disturbed?",
        headlines=(*levels, *losses),
        shown=(),
        caveats=(describe_bootstrap(page.bootstrap), FAMILY) if result.levels else (),
    )


def _level(number: RetrievalNumber) -> Headline:
    amount = f"{_format(number.estimate)} (n = {number.estimate.n:,})"
    perturbation = name_part(number.cell.perturbation or "")
    return _headline(number, f"{number.retriever}, {perturbation}: {number.metric} is {amount}.")


def _loss(number: RetrievalNumber, page: Page) -> Headline:
    claim = page.claim("retrieval", number.cell, number.metric, other=number.retriever or "")
    subject = f"{number.retriever}: {name_part(number.cell.perturbation or '')}"
    amount = f"{_format(number.estimate)} (n = {number.estimate.n:,})"
    if claim is None or not claim.is_shown:
        sentence = f"{subject} is not shown to change {number.metric}; the loss is {amount}; {describe_unshown(claim)}."
    elif (number.estimate.value or 0.0) > 0:
        sentence = f"{subject} costs {amount} of {number.metric}."
    else:
        sentence = f"{subject} adds {_format(negate(number.estimate))} (n = {number.estimate.n:,}) to {number.metric}."
    return _headline(number, sentence).with_claims(claim)


def _headline(number: RetrievalNumber, sentence: str) -> Headline:
    return Headline(kind="retrieval", cell=number.cell, system=number.retriever or "", sentence=sentence)


def _format(estimate: Estimate) -> str:
    interval = f" [{estimate.low:.2f}, {estimate.high:.2f}]" if estimate.low is not None else ""
    return f"{estimate.value:.2f}{interval}"
