"""Sentences of evidence → what becomes of each when it is taken away, masked or replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable import catalog
from shaketable.perturbations.altered import Target, remove
from shaketable.protocols import Perturbation
from shaketable.stages.check import part_lacks
from shaketable.store.explanations import Operation
from shaketable.types import Edit, Hit, Passage, Question

PARTS = {"masking": "entity_masking", "replacement": "sentence_replacement"}
"""Perturbations that change sentences where they stand."""
Edits = Mapping[str, Edit]
"""Id of a sentence → what becomes of it."""


def edits_by(operation: Operation, question: Question, targets: Sequence[Target]) -> Edits | str:
    """What becomes of each sentence that can be changed so; or why none can be."""
    if operation == "removal":
        return {target.sentence.id: remove(target) for target in targets}
    part = catalog.build("perturbation", PARTS[operation])
    if problem := part_lacks("perturbation", part):
        return problem
    return _of_each(part, question, targets)


def _of_each(part: Perturbation, question: Question, targets: Sequence[Target]) -> Edits:
    """These parts change the later half of the marked sentences, or the only one; so every sentence is marked in turn,
    those that were not changed yet last."""
    hits = [_hit(target, rank) for rank, target in enumerate(targets, 1)]
    texts = {target.sentence.text for target in targets} | {""}
    order = [hit.passage.sentences[0].id for hit in hits]
    waiting = [target.sentence.id for target in targets]
    edits: dict[str, Edit] = {}
    while waiting:
        supporting = [*(id for id in order if id not in waiting), *waiting]
        [evidence] = part.perturb([replace(question, supporting=tuple(supporting))], [hits])
        turn = supporting[-max(1, len(supporting) // 2) :]
        # A sentence of the evidence in the place of another would be moved, not taken away.
        edits |= {own.sentence_id: own for own in evidence.edits if own.sentence_id in turn and own.after not in texts}
        waiting = [id for id in waiting if id not in turn]
    return {id: edits[id] for id in order if id in edits}


def _hit(target: Target, rank: int) -> Hit:
    passage = Passage(id=target.sentence.id, title=target.title, sentences=(target.sentence,))
    return Hit(passage=passage, rank=rank, score=None, source="")
