"""A claim of a published study beside a run: what claims look into, and the one maker of comparisons."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TypeVar

import polars as pl

from shaketable.analyses.claims import Claims, Subject, claims_of
from shaketable.factors import Cell, Labels, given_names
from shaketable.report.grouping import SomeLocated, group_by_cell
from shaketable.report.published.verdicts import Judgement, Verdict
from shaketable.types import Estimate, Findings, Study

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One claim of a study beside one system of a run."""

    claim: str
    """What the study says, in our words."""
    published: str
    """Its figure, with what it belongs to."""
    system: str
    own: str
    """The run's figure, with interval and n; empty: there is none."""
    verdict: Verdict
    reason: str
    """What decided it, or why it cannot be said."""


@dataclass(frozen=True, kw_only=True)
class Own:
    """A run's results, as claims look into them."""

    study: Study
    findings: Findings
    labels: Labels

    def results(self, kind: type[Result]) -> list[Result]:
        """What analyses gave, of evidence as it is."""
        results = (finding.result for finding in self.findings.findings if not finding.is_as_asked)
        return [result for result in results if isinstance(result, kind)]

    def written(self, label: str) -> str:
        """A part as it is written, also where it was given a name."""
        return given_names(self.study).get(label, label)

    @functools.cached_property
    def claims(self) -> Claims:
        """What the run's own report may claim, tested as one family."""
        return claims_of(self.findings)

    def settle(self, judgement: Judgement, subject: Subject) -> Judgement:
        """Leave open what the run's own report leaves open."""
        claim = self.claims.of(subject)
        if judgement.verdict not in ("agrees", "differs") or claim is None or claim.is_shown:
            return judgement
        return Judgement("cannot be said", "undecided in the report of this run, where all of its claims are tested")

    def model(self, cell: Cell, names: Mapping[str, str]) -> str | None:
        """Which of a study's models the system of a cell runs; None: none of them."""
        return None if cell.system is None else model_of(self.written(cell.system.model), names)

    def name(self, cell: Cell) -> str:
        return self.labels.name(cell, "dataset", "variation")


OTHER = r"(?![\w.]|-(?:mini|nano|audio|preview|coder|distill)\b)"
"""What follows the name of a model, where it is not another model."""
Claim = Callable[[Own], Iterator[Comparison]]


def compare(claim: str, published: str, system: str, own: Estimate | str | None, judgement: Judgement) -> Comparison:
    """The one maker of comparisons. `own` is a number of the run, or words where it takes several; None: there is
    none."""
    return Comparison(
        claim=claim,
        published=published,
        system=system,
        own=own if isinstance(own, str) else format_own(own),
        verdict=judgement.verdict,
        reason=judgement.reason,
    )


def format_own(estimate: Estimate | None) -> str:
    """`0.75 [0.7, 0.8], n = 24`."""
    if estimate is None or estimate.value is None:
        return ""
    interval = "" if estimate.low is None or estimate.high is None else f" [{estimate.low:.3g}, {estimate.high:.3g}]"
    return f"{estimate.value:.3g}{interval}, n = {estimate.n}".replace("-", "−")


def by_system(values: Iterable[SomeLocated]) -> dict[Cell, list[SomeLocated]]:
    """The values of each system, dataset and wording together, whatever the evidence, temperature or type."""
    return group_by_cell(values, "perturbation", "temperature", "group")


@functools.cache
def table(name: str) -> pl.DataFrame:
    """A published table."""
    return pl.read_csv((resources.files("shaketable") / "resources" / "published" / f"{name}.csv").read_bytes())


def model_of(system: str, names: Mapping[str, str]) -> str | None:
    """Which of the study's models a system runs, by a part of its name; None: none of them.

    `gpt-4o-mini` is another model than `gpt-4o`, and `qwq-32b-preview` another than `qwq-32b`.
    """
    written = system.casefold()
    return next(
        (name for part, name in names.items() if re.search(rf"(?<![\w.]){re.escape(part)}{OTHER}", written)), None
    )


def dataset_of(name: str | None, names: Mapping[str, str]) -> str | None:
    """Which of the study's datasets this is, by a part of its name; None: none of them."""
    return next((dataset for part, dataset in names.items() if part in (name or "").casefold()), None)
