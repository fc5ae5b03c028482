"""A question and another wording → whether people would write it, and mean the same, as far as a machine can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shaketable import weights
from shaketable.errors import WeightsError
from shaketable.text import encoder, language
from shaketable.variations.english import grammar_checker
from shaketable.variations.gate import naturalness
from shaketable.variations.gate.asked import asking_trouble, fragment_trouble
from shaketable.variations.gate.constraints import constraints_trouble
from shaketable.variations.gate.content import Meaning, meanings
from shaketable.variations.gate.names import names_trouble
from shaketable.variations.gate.naturalness import READER, Loss
from shaketable.variations.gate.numbers import numbers_trouble
from shaketable.variations.gate.refusal import Refusal

ENCODER = "all-MiniLM-L6-v2"
NO_ERRORS = frozenset({"WhomSubjectOfVerb", "PronounVerbAgreement"})
"""Rules of Harper that flag good wordings: `By whom was it founded?`, `do you guys know`."""
Measured = TypeVar("Measured")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What a wording must keep. Every check can be turned off. The defaults are for free paraphrases, as models write
    them; `RULE_MADE` asks more. All bounds were set on labelled wordings: tests/variations/gate/labels.jsonl."""

    min_similarity: float = 0.55
    """Cosine of the two sentence vectors; 0: neither it nor the words are measured."""
    min_recall: float = 0.6
    """Content words of the original that are found in the wording."""
    min_precision: float = 0.4
    """Content words of the wording that are found in the original."""
    max_span_rise: float = 5.0
    """Nats per token by which the worst span may be less likely than the original's; 0: English is not judged."""
    max_mean_rise: float = 4.0
    """The same for all tokens."""
    keep_numbers: bool = True
    keep_names: bool = True
    """Each word of a name, in any letter case, and no other name."""
    asks: bool = True
    """A wording of a question must ask for the same kind of answer, and must not decline: models answer or refuse
    instead of rewording."""
    is_natural: bool = True
    """It must be English that people write. False for errors, keywords and speech, made on purpose."""
    corrects_itself: bool = False
    """A speaker may say another name or number first, and take it back."""
    encoder: str = ENCODER
    reader: str = READER
    pipeline: str | None = language.PIPELINE
    """Finds names and main clauses; None: names are told by their capitals."""

    @property
    def judges_english(self) -> bool:
        return self.is_natural and self.max_span_rise > 0

    @property
    def packages(self) -> tuple[str, ...]:
        measured = encoder.PACKAGES if self.min_similarity > 0 or self.judges_english else ()
        parsed = self.pipeline is not None and (self.keep_names or (self.judges_english and self.asks))
        read = language.PACKAGES if parsed else ()
        return (*measured, *read, *([grammar_checker.HARPER] if self.judges_english else []))

    def lacks(self) -> str | None:
        """Why it cannot judge on this machine; None: it can."""
        encoder_lacks = weights.lacks(self.encoder) if self.min_similarity else None
        reader_lacks = naturalness.lacks(self.reader) if self.judges_english else None
        return encoder_lacks or reader_lacks or (language.lacks(self.pipeline) if self.pipeline else None)

    def judge(self, originals: Sequence[str], wordings: Sequence[str]) -> list[Judgement]:
        """One judgement for each pair; a wording depends on its own original alone."""
        pairs = list(zip(originals, wordings, strict=True))
        refusals = [self._trouble(original, wording) for original, wording in pairs]
        meaning, encoder_lacks = self._meanings(originals, wordings)
        refusals = [
            refused or (self._meaning_trouble(near) if near else encoder_lacks)
            for refused, near in zip(refusals, meaning, strict=True)
        ]
        # The model that reads is the slowest check, so it reads what is left.
        left = [i for i, refused in enumerate(refusals) if refused is None]
        reader_lacks = self._read(left, pairs, refusals)
        unmeasured = [refused for refused in (encoder_lacks, reader_lacks) if refused]
        return [
            Judgement(
                similarity=near.similarity if near else None,
                refused=refused,
                is_unmeasured=refused is not None and refused in unmeasured,
            )
            for near, refused in zip(meaning, refusals, strict=True)
        ]

    def _meanings(
        self, originals: Sequence[str], wordings: Sequence[str]
    ) -> tuple[Sequence[Meaning | None], Refusal | None]:
        nothing: list[Meaning | None] = [None] * len(originals)
        if self.min_similarity <= 0:
            return nothing, None
        measured = _measured(lambda: meanings(originals, wordings, self.encoder), "similarity", "min_similarity")
        return (nothing, measured) if isinstance(measured, Refusal) else (measured, None)

    def _read(
        self, left: Sequence[int], pairs: Sequence[tuple[str, str]], refusals: list[Refusal | None]
    ) -> Refusal | None:
        """Put what the reading model has against a wording into its place; why there was none, where weights lack."""
        if not (left and self.judges_english):
            return None
        texts = [text for i in left for text in pairs[i]]
        read = _measured(lambda: naturalness.losses(texts, self.reader), "naturalness", "max_span_rise")
        for place, i in enumerate(left):
            refusals[i] = read if isinstance(read, Refusal) else self._rise_trouble(*read[2 * place : 2 * place + 2])
        return read if isinstance(read, Refusal) else None

    def _trouble(self, original: str, wording: str) -> Refusal | None:
        if not wording.strip():
            return Refusal(kind="empty", text="empty")
        if wording.strip() == original.strip():
            return Refusal(kind="same_as_the_original", text="the same as the original")
        return (
            (asking_trouble(original, wording, may_correct=self.corrects_itself) if self.asks else None)
            or (numbers_trouble(original, wording, may_add=self.corrects_itself) if self.keep_numbers else None)
            or (self._names_trouble(original, wording) if self.keep_names else None)
            or (self._sentence_trouble(original, wording) if self.judges_english else None)
        )

    def _names_trouble(self, original: str, wording: str) -> Refusal | None:
        return names_trouble(original, wording, self.pipeline, may_add=self.corrects_itself) or constraints_trouble(
            original, wording, may_negate=self.corrects_itself
        )

    def _sentence_trouble(self, original: str, wording: str) -> Refusal | None:
        if self.asks and self.pipeline and (problem := fragment_trouble(original, wording, self.pipeline)):
            return problem
        had = {flag.rule for flag in grammar_checker.check(original)} | NO_ERRORS
        new = [flag for flag in grammar_checker.check(wording) if flag.rule not in had]
        return Refusal(kind="grammar_error", text=f"a new error of grammar: {new[0].message}") if new else None

    def _meaning_trouble(self, near: Meaning) -> Refusal | None:
        for kind, value, least, words in (
            ("similarity_too_low", near.similarity, self.min_similarity, "similarity {:.2f} to the original"),
            ("words_not_found", near.recall, self.min_recall, "the original's words are found with {:.2f}"),
            ("words_added", near.precision, self.min_precision, "its words are found in the original with {:.2f}"),
        ):
            if value < least:
                return Refusal(kind=kind, text=f"{words.format(value)}, expected {least} or more")
        return None

    def _rise_trouble(self, before: Loss | None, after: Loss | None) -> Refusal | None:
        if before is None or after is None:
            return None
        for kind, rise, most, words in (
            ("unlikely_span", after.worst - before.worst, self.max_span_rise, "its worst span is"),
            ("unlikely_wording", after.mean - before.mean, self.max_mean_rise, "its words are"),
        ):
            if rise > most:
                text = f"{words} {rise:.1f} nats per token less likely than the original's, expected {most} at most"
                return Refusal(kind=kind, text=text)
        return None


MODEL_MADE = Gate()
RULE_MADE = Gate(min_similarity=0.7, min_recall=0.7, max_span_rise=2.4, max_mean_rise=1.5)
"""Rules stay near the original, and what they break is found nearer to it."""
BY_RULES = Gate(min_similarity=0, max_span_rise=0, pipeline=None)
"""Names, numbers, conditions and the kind of answer, by rules that need no package."""
OPEN = Gate(min_similarity=0, max_span_rise=0, keep_numbers=False, keep_names=False, asks=False, pipeline=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    similarity: float | None
    """From −1 to 1; None: not measured, because nobody asked or the encoder is not at hand, which `refused` tells."""
    refused: Refusal | None
    """Why the wording is not accepted; None: accepted."""
    is_unmeasured: bool = False
    """Whether it is refused for this alone, that its meaning or naturalness could not be measured."""


def _measured(measure: Callable[[], Measured], what: str, setting: str) -> Measured | Refusal:
    """Nothing unmeasured is asked, and a study of thousands does not stop where weights lack."""
    try:
        return measure()
    except WeightsError as error:
        return Refusal(kind=f"{what}_not_measured", text=f"{what} was not measured: {error} Or set {setting}=0.")
