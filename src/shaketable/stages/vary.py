"""A study's questions → their wordings, made once and stored: no other stage asks a variation, or a model to reword."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from shaketable import catalog
from shaketable.errors import PartError, RunError, StudyError
from shaketable.factors import ORIGINAL
from shaketable.protocols import CountedVariation, ReadyVariation, Variation
from shaketable.stages.check import lacks_for_wording
from shaketable.stages.parts import variations_of
from shaketable.store import RecordStore, Run
from shaketable.store.wordings import WordedQuestion
from shaketable.text.half_characters import mend
from shaketable.types import STRENGTH, Question, Rewording, Study, Variant
from shaketable.variations.strength import measure_strength

BATCH = 32
"""Questions whose wordings are stored together, at most."""
FIRST_BATCH = 4
SOON, LATE = 15.0, 60.0
"""Seconds: after a shorter batch the next is twice as large, after a longer one half as large, so that an interruption
loses about a minute of a slow model's work. What a question's wording is does not depend on the batch."""

Progress = Callable[["WordingTick"], None]


@dataclass(frozen=True, kw_only=True)
class WordingTick:
    """News for a progress bar."""

    variation: str
    n_done: int
    n_questions: int


def vary(
    study: Study, questions: Sequence[Question], run: Run, progress: Progress = lambda tick: None
) -> tuple[Variant, ...]:
    """Every wording of every question, accepted and rejected, question by question in the order of the study.

    What the run holds is read; what is missing is made, batch by batch, and stored before the next is asked for.
    """
    made = []
    variations = variations_of(study)
    with run.writing() as store:
        while variations:  # Each is let go once it is done: it may hold the weights of a model.
            made.append(_worded(variations.pop(0), questions, store, progress))
    return _in_order(made)


def stored_wordings(study: Study, questions: Sequence[Question], store: RecordStore) -> tuple[Variant, ...] | None:
    """Every wording, as `vary` gives it, of what is stored alone; None: not all of them are."""
    made = []
    for variation in variations_of(study):
        kept = _still_fitting(store.worded(catalog.label(variation)), questions)
        if len(kept) < len(questions) or any(rewording.may_retry for rewording in _rewordings(kept)):
            return None
        made.append([kept[question.id].rewording for question in questions])
    return _in_order(made)


def preview(study: Study, questions: Sequence[Question]) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """The wordings as far as they are at hand, where nothing may be loaded or asked, and the variations whose are not:
    the question itself stands in for each of theirs, so that counts are those of a study in which none is refused."""
    made, missing = [], []
    for variation in variations_of(study):
        label = catalog.label(variation)
        if is_ready(variation):
            made.append([rewording for batch in reword(variation, questions) for _, rewording in batch])
            continue
        missing.append(label)
        stand_ins = (Variant(question_id=question.id, text=question.text, variation=label) for question in questions)
        made.append([Rewording(variants=(variant,)) for variant in stand_ins])
    return _in_order(made), tuple(missing)


def reword(variation: Variation, questions: Sequence[Question]) -> Iterator[list[tuple[Question, Rewording]]]:
    """Each question with what a variation makes of it, batch by batch."""
    # A file is read at once, and says then what it has of all questions.
    size = len(questions) or 1 if is_ready(variation) else min(FIRST_BATCH, BATCH)
    start = 0
    while start < len(questions):
        batch = questions[start : start + size]
        start, began = start + size, time.monotonic()
        if isinstance(variation, CountedVariation):
            made = variation.reword(batch)
        else:
            made = [Rewording(variants=tuple(variants)) for variants in variation.vary(batch)]
        if len(made) != len(batch):
            raise PartError(
                f"{catalog.label(variation)} returned wordings of {len(made)} questions for {len(batch)}. "
                "A variation returns a list for each."
            )
        seconds = time.monotonic() - began
        if seconds < SOON:
            size = max(size, min(2 * size, BATCH))
        elif seconds > LATE:
            size = max(size // 2, 1)
        yield list(zip(batch, mend(made), strict=True))


def with_strength(batch: Sequence[tuple[Question, Rewording]]) -> list[tuple[Question, Rewording]]:
    """The same with the strength of each wording, accepted or not, that has none yet; the original has none."""
    lacking = [
        (question.text, variant)
        for question, rewording in batch
        for variant in rewording.variants
        if variant.variation != ORIGINAL and variant.strength is None
    ]
    strengths = iter(measure_strength([text for text, _ in lacking], [variant.text for _, variant in lacking]))

    def measured(variant: Variant) -> Variant:
        if variant.variation == ORIGINAL or variant.strength is not None:
            return variant
        return replace(variant, provenance={**variant.provenance, STRENGTH: asdict(next(strengths))})

    return [
        (question, replace(rewording, variants=tuple(map(measured, rewording.variants))))
        for question, rewording in batch
    ]


def is_ready(variation: Variation) -> bool:
    """Whether its wordings are at hand without loading or asking anything."""
    return isinstance(variation, ReadyVariation) and variation.loads_nothing


def _worded(
    variation: Variation, questions: Sequence[Question], store: RecordStore, progress: Progress
) -> list[Rewording]:
    """What a variation made of each question, before or now."""
    label, made_by = catalog.label(variation), catalog.spelled(variation)
    stored = _still_fitting(store.worded(label), questions)
    missing = [q for q in questions if q.id not in stored or stored[q.id].rewording.may_retry]
    _refuse_mixture(store, label, made_by, stored, missing)
    if missing and (problem := lacks_for_wording(variation)):
        raise StudyError(f"cross.variations: {problem}")
    n_done = len(questions) - len(missing)

    def tick() -> None:
        if missing and not is_ready(variation):
            progress(WordingTick(variation=label, n_done=n_done, n_questions=len(questions)))

    tick()
    for batch in reword(variation, missing):
        if all(_has_failed(rewording) for _, rewording in batch) and all(map(_has_failed, _rewordings(stored))):
            raise RunError(
                f"{label}: none of {len(batch)} questions was reworded: {batch[0][1].variants[0].rejected} "
                "What was made before is kept. Mend it, then run again."
            )
        new = [
            _stored(question, rewording, label, made_by, stored.get(question.id))
            for question, rewording in with_strength(batch)
        ]
        store.add_worded(new)
        stored |= {worded.question_id: worded for worded in new}
        n_done += len(new)
        tick()
    return [stored[question.id].rewording for question in questions]


def _still_fitting(kept: Mapping[str, WordedQuestion], questions: Sequence[Question]) -> dict[str, WordedQuestion]:
    """Those of questions whose text is still the same."""
    return {q.id: kept[q.id] for q in questions if q.id in kept and kept[q.id].original == q.text}


def _stored(
    question: Question, rewording: Rewording, part: str, made_by: str, before: WordedQuestion | None
) -> WordedQuestion:
    """What is kept; where it was tried before in vain, that counts too."""
    if before is not None and before.rewording.making is not None and rewording.making is not None:
        rewording = replace(rewording, making=before.rewording.making + rewording.making)
    return WordedQuestion(
        question_id=question.id, part=part, made_by=made_by, original=question.text, rewording=rewording
    )


def _rewordings(stored: Mapping[str, WordedQuestion]) -> Iterator[Rewording]:
    return (worded.rewording for worded in stored.values())


def _has_failed(rewording: Rewording) -> bool:
    """Whether a model was asked and never replied."""
    making = rewording.making
    return making is not None and 0 < making.n_calls == making.n_failures


def _refuse_mixture(
    store: RecordStore, label: str, made_by: str, stored: Mapping[str, WordedQuestion], missing: Sequence[Question]
) -> None:
    """A run asks the wordings it began with, and never those of two versions of a variation, or of two files."""
    others = {worded.made_by for worded in stored.values()} - {made_by, None}
    if not others:
        return
    if missing:
        raise RunError(
            f"{store.path} holds {len(stored):,} wordings by {label}, and {len(missing):,} are missing: the variation, "
            "its prompt or its file changed since. Nothing was reworded. Give a new folder with --out."
        )
    warnings.warn(
        f"The wordings by {label} are those that this run began with; the variation, its prompt or its file changed "
        "since. For new ones give a new folder with --out.",
        stacklevel=2,
    )


def _in_order(made: Sequence[Sequence[Rewording]]) -> tuple[Variant, ...]:
    """Question by question, what each variation made."""
    return tuple(v for of_question in zip(*made, strict=True) for rewording in of_question for v in rewording.variants)
