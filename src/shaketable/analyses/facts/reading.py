"""How analyses read facts: what they are told themselves, else what the study's scan says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.fact_table import read_facts
from shaketable.analyses.facts.facts import Facts
from shaketable.analyses.tables import Tables
from shaketable.facts.score import Rule
from shaketable.types import Scan


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Which facts are known, and where they break."""

    known: str | None = None
    """The metric that must be 1 at temperature 0, '' for all questions; None: that of the scan."""
    correct: str | None = None
    """The metric that judges sampled answers; None: that of the scan."""
    rule: Rule = "first"
    threshold: float | None = None
    """A fact is broken where the share of correct answers lies below this; None: that of the scan."""
    inclusive: bool = False
    """Whether it is broken on the threshold, too."""

    def settle(self, scan: Scan) -> Reading:
        """The same with every choice made."""
        own = settle_scan(scan, known=self.known, correct=self.correct, threshold=self.threshold)
        return replace(self, known=own.known, correct=own.correct, threshold=own.threshold)

    def read(self, tables: Tables) -> tuple[list[Facts], BreakingRule]:
        """The facts of each system and dataset, and the rule by which they break."""
        scan = settle_scan(tables.scan, known=self.known, correct=self.correct, threshold=self.threshold)
        rule = BreakingRule(rule=self.rule, threshold=scan.threshold, inclusive=self.inclusive)
        return read_facts(tables, scan, table=tables.scan_scores), rule


BY_SCAN = Reading()


def settle_scan(
    scan: Scan, *, known: str | None = None, correct: str | None = None, threshold: float | None = None
) -> Scan:
    """The study's scan, save where an analysis was told otherwise.

    A `known` of '' takes all questions, as in a study; which of them are known, `correct` then tells.
    """
    return replace(
        scan,
        known=scan.known if known is None else known,
        correct=scan.correct if correct is None else correct,
        threshold=scan.threshold if threshold is None else threshold,
    )
