"""The shipped studies, drawn with nothing to find, and all that is said of one of them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np

from known_truth.draws import Numbers, Rng
from known_truth.evidence_studies import evidence_tables, joint_tables
from known_truth.fact_studies import fact_tables
from known_truth.wording_studies import wording_tables
from shaketable import catalog
from shaketable.analyses.floors import find_nothing_to_lose
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording import vectors
from shaketable.factors import Labels
from shaketable.report.page import make_sections
from shaketable.report.section import Headline, Page
from shaketable.study import load_study
from shaketable.types import Finding, Findings, Study

MAKERS: dict[str, Callable[[Rng, int, str, Study], Tables]] = {
    "context_temperature": evidence_tables,
    "demo": evidence_tables,
    "joint": joint_tables,
    "query_variation": wording_tables,
    "factual_robustness": fact_tables,
}
"""By the name of the study file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a study says."""

    page: Page
    headlines: tuple[Headline, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """Analyses that failed."""
        return tuple(finding.analysis for finding in self.page.findings.findings if finding.failure is not None)


def say(tables: Tables, analyses: Sequence[str]) -> Said:
    """Findings, and the headlines of their sections."""
    with _made_up_encoder():
        results = [_ask(text, tables) for text in analyses]
    findings = Findings(
        findings=tuple(results),
        main_metric=tables.metric(),
        judging_metric=tables.judging_metric(),
        confidence=tables.bootstrap.confidence,
        n_resamples=tables.bootstrap.n_resamples,
        nothing_to_lose=find_nothing_to_lose(tables),
    )
    page = Page(findings=findings, labels=Labels.of(tables.scores), scores=tables.scores)
    headlines = (headline for section in make_sections(page) for headline in section.headlines)
    return Said(page=page, headlines=tuple(headlines))


def _ask(text: str, tables: Tables) -> Finding:
    """As the stage does: an analysis that fails must not lose the findings of the others."""
    try:
        return Finding(analysis=text, result=catalog.bind("analysis", text)(tables))
    except Exception as error:
        return Finding(analysis=text, result=None, failure=f"{type(error).__name__}: {error}")


def null_study(name: str, rng: Rng, n: int, word: str) -> Said:
    study = load_study(name)
    return say(MAKERS[name](rng, n, word, study), study.analyses)


class _Directions:
    """An encoder of made-up texts, none of which means anything: each has a direction of its own."""

    def embed(self, texts: Sequence[str]) -> Numbers:
        lines = [np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8) / 128 for text in texts]
        raw = np.stack(lines)
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), dtype=np.float64)


@contextlib.contextmanager
def _made_up_encoder() -> Iterator[None]:
    with mock.patch.object(vectors, "encoder", lambda name: _Directions()):
        yield
