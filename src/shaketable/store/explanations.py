"""What turns an answer: the smallest changes of evidence and wording, and how sure it is that nothing smaller does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shaketable.factors import System
from shaketable.text.word_edits import WordEdit
from shaketable.types import Edit

Certainty = Literal["smallest", "irreducible", "unfinished", "none", "not_found"]
"""`smallest`: every smaller set was tried. `irreducible`: leaving out any one undoes it; not all smaller sets were
tried. `unfinished`: neither could be told. `none`: all sets were tried, and none does it. `not_found`: none of those
that were tried."""
Operation = Literal["removal", "masking", "replacement", "alone"]
"""What happens to a set of sentences; `alone`: it stays, and all others go."""
WithoutEvidence = Literal["no_search", "pipeline", "nothing_found", "failed"]
"""Why there are no sentences: the method does not search; a pipeline takes no evidence; none was found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenAnswer:
    text: str
    """Of several repeats the first that was judged as most were."""
    is_right: bool | None
    """By the most repeats; of questions that cannot be judged, whether it says what the first answer says. None: it
    could not be told."""
    failure: str | None = None
    """Its message; None: it was answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceSentence:
    id: str
    text: str
    title: str
    """Of its passage."""
    is_supporting: bool = False
    """Whether the dataset counts it among the facts that support the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceSet:
    """What one search over sets of sentences gave."""

    operation: Operation
    certainty: Certainty = "not_found"
    sentences: tuple[str, ...] | None = None
    """Their ids, in reading order; None: no set was found."""
    others: tuple[tuple[str, ...], ...] = ()
    """Sets of the same size that do it too, of those that were tried."""
    answer: GivenAnswer | None = None
    """With the sentences changed so; None: no set was found."""
    edits: tuple[Edit, ...] = ()
    """What became of them."""
    n_candidates: int = 0
    """Sentences that could be changed so."""
    tried_up_to: int = -1
    """Every set of up to so many was tried; −1: none."""
    n_asked: int = 0
    n_untold: int = 0
    """Sets whose answer failed or could not be judged."""
    reason: str | None = None
    """Why it was not searched; None: it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlippingRewording:
    text: str
    edits: tuple[WordEdit, ...]
    """What differs from the wording that was asked."""
    variation: str
    """That worded it; of what it made these edits are a part, or all."""
    whole: str
    """What it made."""
    edit_distance: float
    """Words put in, taken out or replaced, as a share of the longer wording."""
    certainty: Certainty
    """Over sets of the rewording's edits."""
    tried_up_to: int
    """Every set of up to so many edits was tried."""
    answer: GivenAnswer


@dataclass(frozen=True, kw_only=True, slots=True)
class RewordingSearch:
    flipping: FlippingRewording | None = None
    """None: no wording that was tried flips the answer."""
    n_wordings: int = 0
    """That were tried in full."""
    n_flipping: int = 0
    n_asked: int = 0
    n_untold: int = 0
    n_unaffordable: int = 0
    """Wordings that the limit of calls left out."""
    not_tried: tuple[str, ...] = ()
    """Variations by rules that could not be used here, with the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """The smallest changes of evidence and wording that turn one answer, as far as they were looked for."""

    question_id: str
    question: str
    gold: tuple[str, ...]
    system: System
    name: str
    """Of the system, within its run."""
    wording: str
    variation: str
    perturbation: str | None
    """That had its turn before; None: nothing is searched."""
    temperature: float
    repeats: int
    is_sampled: bool
    """Whether asking again may give another answer: above temperature 0, or where temperature is the system's own."""
    judged_by: str | None
    """The number that tells right from wrong; None: whether the answer still says the same."""
    key: str
    """Of the trial that was asked anew."""
    made_from: str
    """The digest of the trial, of the accepted answers and of what judged."""
    answer: GivenAnswer
    stored: str | None = None
    """The answer of the run; None: the run did not ask this, or failed."""
    sentences: tuple[EvidenceSentence, ...] = ()
    """The evidence, in reading order."""
    without_evidence: WithoutEvidence | None = None
    """Why there is none; None: there is."""
    sets: tuple[SentenceSet, ...] = ()
    rewording: RewordingSearch | None = None
    """None: wordings were not asked for."""
    n_calls: int = 0
    max_calls: int = 0
    dollars: float | None = None
    """None: not known."""

    def by(self, operation: Operation) -> SentenceSet | None:
        return next((own for own in self.sets if own.operation == operation), None)

    @property
    def flipping(self) -> tuple[SentenceSet, ...]:
        """Sets whose change turns the answer, the smallest first."""
        turning = [own for own in self.sets if own.operation != "alone" and own.sentences is not None]
        return tuple(sorted(turning, key=lambda own: len(own.sentences or ())))
