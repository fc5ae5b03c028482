"""Studies in which nothing differs: how many say that something does, in their claims or in their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from known_truth.rows import Row, merge, seed_of
from known_truth.studies import MAKERS, null_study
from known_truth.words import asserts
from shaketable.analyses.claims import Claim

TRUE_KINDS = {"query_variation": frozenset({"outcome"}), "joint": frozenset({"evidence_gain", "misled"})}
"""What does differ as studies are drawn: closed-book answers are worse than any others."""


SLOWNESS = {"demo": 4, "factual_robustness": 5, "context_temperature": 10, "joint": 10, "query_variation": 20}


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """The analyses of a shipped study."""

    study: str
    n: int

    @property
    def slowness(self) -> int:
        return SLOWNESS[self.study]

    def run(self, draws: range) -> list[Row]:
        rows = []
        for draw in draws:
            word = f"{seed_of(self.study, self.n, draw):08x}-"
            said = null_study(self.study, np.random.default_rng(seed_of(word)), self.n, word)
            worded = [headline for headline in said.headlines if asserts(headline.text)]
            worded = [headline for headline in worded if headline.kind not in TRUE_KINDS.get(self.study, ())]
            alone = [headline for headline in worded if not any(claim.is_shown for claim in headline.claims)]
            rows += [
                self._row(
                    "false claims", {claim.subject.kind for claim in said.page.claims.shown if self._is_false(claim)}
                ),
                self._row("false words", {headline.kind for headline in worded}),
                self._row("words without a claim", {headline.kind for headline in alone}),
                self._row("analyses that fail", set(said.failed)),
            ]
        return merge(rows)

    def _is_false(self, claim: Claim) -> bool:
        return claim.says == "differs" and claim.subject.kind not in TRUE_KINDS.get(self.study, ())

    def _row(self, what: str, kinds: set[str]) -> Row:
        """Of one draw."""
        return Row(
            part="claims",
            what=f"{self.study}: {what}",
            n=self.n,
            hits=int(bool(kinds)),
            n_draws=1,
            most=0.05,
            kinds=tuple(sorted(kinds)),
        )


def cases(*, full: bool) -> Iterator[Nothing]:
    for study in MAKERS:
        for n in (8, 12, 24, 60, 200) if full else (24, 60):
            yield Nothing(study=study, n=n)
