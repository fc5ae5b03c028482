"""A few words that say nothing go before the question."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.identity import seed_from
from shaketable.text import lexicon
from shaketable.types import Question, Variant
from shaketable.variations.gate.refusal import Refusal, refuse

Mode = Literal["fixed", "search"]
Score = Callable[[Question, str], float]
"""A question and a wording → how much harm it does: a retrieval loss, or 1 where the answer flips."""
PREFIXES = (
    "Quick question:",
    "Just wondering,",
    "By the way,",
    "Before I forget:",
    "On a rainy Tuesday afternoon,",
    "My neighbor asked me this:",
    "Lorem ipsum dolor sit amet.",
    "Thanks in advance!",
)


@dataclass(frozen=True, kw_only=True)
class PrefixInjection:
    """One wording for each question: the question as it is, after a prefix of at most `m` words.

    The mode `search` looks for the prefix that does most harm, as greedy coordinate search does: from random words
    of the lexicon, one place after another takes the best of `n_candidates` words, for `n_rounds` rounds or until
    a round changes nothing. It needs `score`, which a study cannot write: `PrefixInjection(mode='search', score=f)`.
    """

    version: ClassVar[int] = 2

    mode: Mode = "fixed"
    prefixes: tuple[str, ...] = ()
    """One of those with at most `m` words is drawn for each question; empty: of the eight that ship."""
    m: int = 8
    """Words of a prefix at most, exactly that many in the mode `search`; 0 leaves the question as it is."""
    n_candidates: int = 20
    n_rounds: int = 2
    seed: int = 0
    score: Score | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(f"mode is {self.mode!r}, expected one of {', '.join(get_args(Mode))}")
        for setting, value, least in (
            ("m", self.m, 0),
            ("n_candidates", self.n_candidates, 1),
            ("n_rounds", self.n_rounds, 1),
        ):
            if value < least:
                raise ValueError(f"{setting} is {value}, expected {least} or more")

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [[self._prefixed(question)] for question in questions]

    def _prefixed(self, question: Question) -> Variant:
        label = catalog.label(self)
        if self.m == 0:
            return Variant(question_id=question.id, text=question.text, variation=label)
        rng = random.Random(seed_from(self.seed, "prefix_injection", question.id))
        prefix = self._searched(question, rng) if self.mode == "search" else self._drawn(rng)
        if prefix is None:
            text = f"nothing to add: no prefix has {self.m} words or fewer"
            untouched = Variant(question_id=question.id, text=question.text, variation=label)
            return refuse(untouched, Refusal(kind="nothing_to_add", text=text))
        return Variant(
            question_id=question.id,
            text=f"{prefix} {question.text}",
            variation=label,
            provenance={"prefix": prefix},
        )

    def _drawn(self, rng: random.Random) -> str | None:
        short = [prefix for prefix in self.prefixes or PREFIXES if 0 < len(prefix.split()) <= self.m]
        return rng.choice(short) if short else None

    def _searched(self, question: Question, rng: random.Random) -> str:
        if self.score is None:
            raise PartError(
                "prefix_injection(mode='search') needs a score function, which only Python can give: "
                "PrefixInjection(mode='search', score=f). In a study, use the mode 'fixed'."
            )
        words = lexicon.vocabulary().words
        prefix = [rng.choice(words) for _ in range(self.m)]
        best = self.score(question, f"{' '.join(prefix)} {question.text}")
        for _ in range(self.n_rounds):
            improved = False
            for place in range(self.m):
                for candidate in rng.sample(words, min(self.n_candidates, len(words))):
                    tried = [*prefix[:place], candidate, *prefix[place + 1 :]]
                    harm = self.score(question, f"{' '.join(tried)} {question.text}")
                    if harm > best:
                        best, prefix, improved = harm, tried, True
            if not improved:
                break
        return " ".join(prefix)
