"""Which sentences a perturbation changes, and edits → changed hits: what all perturbations share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shaketable.types import Edit, Hit, Question, Sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A sentence that is to be changed."""

    sentence: Sentence
    title: str
    """Of the passage it stands in."""


def choose_targets(question: Question, hits: Sequence[Hit]) -> tuple[list[Target], list[str]]:
    """The last floor(n/2) of the n supporting sentences among the hits, in the dataset's order, and flags.

    TempPerturb-Eval (arXiv 2512.01183): 2 facts → 1, 3 → 1, 4 → 2. Hits of a real retriever may hold
    no supporting sentence; then the rule takes all their sentences, in reading order.
    """
    present = {
        sentence.id: Target(sentence=sentence, title=hit.passage.title)
        for hit in hits
        for sentence in hit.passage.sentences
    }
    flags = []
    candidates = [present[id] for id in question.supporting if id in present]
    if not candidates:
        flags.append("no_supporting_sentence")
        candidates = list(present.values())
    n_altered = len(candidates) // 2
    if n_altered == 0:
        flags.append("too_few_sentences")
    return candidates[len(candidates) - n_altered :], flags


def remove(target: Target) -> Edit:
    return Edit(kind="remove", sentence_id=target.sentence.id, before=target.sentence.text, after=None)


def rewrite(target: Target, text: str, note: str = "") -> Edit:
    """The sentence keeps its id and gets another text."""
    return Edit(kind="replace", sentence_id=target.sentence.id, before=target.sentence.text, after=text, note=note)


def exchange(target: Target, donor: Sentence, origin: str) -> Edit:
    """Another sentence, with an id of its own, takes the place. The note reads `ORIGIN: DONOR_ID`."""
    return rewrite(target, donor.text, note=f"{origin}: {donor.id}")


def replay(hits: Sequence[Hit], edits: Iterable[Edit]) -> tuple[Hit, ...]:
    """The hits after the edits. A hit that loses all its sentences goes, and ranks close up."""
    by_sentence = {edit.sentence_id: edit for edit in edits}
    kept = []
    for hit in hits:
        sentences = _edited(hit.passage.sentences, by_sentence)
        if sentences or not hit.passage.sentences:
            kept.append(replace(hit, passage=replace(hit.passage, sentences=sentences)))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, 1))


def _edited(sentences: Iterable[Sentence], edits: Mapping[str, Edit]) -> tuple[Sentence, ...]:
    result = []
    for sentence in sentences:
        edit = edits.get(sentence.id)
        if edit is None:
            result.append(sentence)
        elif edit.kind == "replace" and edit.after is not None:
            _, _, donor_id = edit.note.partition(": ")
            result.append(Sentence(id=donor_id or sentence.id, text=edit.after))
        elif edit.kind != "remove":
            raise ValueError(f"cannot replay '{edit.kind}' of the sentence '{edit.sentence_id}'")
    return tuple(result)
