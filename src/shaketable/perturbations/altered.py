"""Which sentences a perturbation changes, and edits → changed hits: what all perturbations share."""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.identity import seed_from
from shaketable.text.plain import occurs_whole
from shaketable.text.ranking import Documents
from shaketable.types import Edit, Evidence, Hit, Passage, Question, Sentence

MASK = "[MASK]"
Which = Literal["altered", "all"]
"""The sentences that carry the answer, as `choose_targets` finds them, or every sentence of the evidence."""
LIKELY = "sentences_like_the_question"
"""The flag of evidence in which nothing is marked and no reference answer occurs: likeness to the question decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A sentence that is to be changed."""

    sentence: Sentence
    title: str
    """Of the passage it stands in."""


# --- which sentences ------------------------------------------------------------------------------


def sentences_of(hits: Sequence[Hit]) -> list[Target]:
    """Every sentence of the hits in reading order; one that stands in two hits counts once."""
    present = {
        sentence.id: Target(sentence=sentence, title=hit.passage.title)
        for hit in hits
        for sentence in hit.passage.sentences
    }
    return list(present.values())


def choose_targets(question: Question, hits: Sequence[Hit], which: Which = "altered") -> tuple[list[Target], list[str]]:
    """The sentences among the hits that carry the answer, and flags.

    Where the data mark some sentences as supporting: the last floor(n/2) of the n among the hits, in the dataset's
    order, as TempPerturb-Eval (arXiv 2512.01183) has it (2 facts → 1, 3 → 1, 4 → 2), and a single one itself. Else
    every sentence in which a reference answer occurs. Else the half of all sentences that is most like the question.
    """
    everything = sentences_of(hits)
    if which == "all" or not everything:
        return everything, [] if everything else ["too_few_sentences"]
    if not _is_unmarked(question) and (marked := _marked(question, everything)):
        return marked[-max(1, len(marked) // 2) :], []
    if with_answer := targets_with_answer(question, everything):
        return with_answer, []
    ranked = Documents.of([target.sentence.text for target in everything]).scores(question.text)
    order = sorted(range(len(everything)), key=lambda i: -ranked[i])
    return [everything[i] for i in sorted(order[: math.ceil(len(everything) / 2)])], [LIKELY]


def choose_last_half(question: Question, hits: Sequence[Hit]) -> tuple[list[Target], list[str]]:
    """The last floor(n/2) of the marked sentences among the hits, or of all where none is marked, and flags."""
    everything = sentences_of(hits)
    candidates = _marked(question, everything)
    flags = [] if candidates else ["no_supporting_sentence"]
    candidates = candidates or everything
    n_altered = len(candidates) // 2
    return candidates[len(candidates) - n_altered :], flags + ["too_few_sentences"] * (n_altered == 0)


def _is_unmarked(question: Question) -> bool:
    """Whether nothing tells the sentences of a record apart: tables count every sentence as supporting."""
    supporting = set(question.supporting)
    return all(sentence.id in supporting for document in question.documents for sentence in document.sentences)


def targets_with_answer(question: Question, targets: Iterable[Target]) -> list[Target]:
    return [target for target in targets if has_answer(question, target.sentence.text)]


def _marked(question: Question, targets: Iterable[Target]) -> list[Target]:
    """The supporting sentences, in the dataset's order."""
    present = {target.sentence.id: target for target in targets}
    return [present[id] for id in question.supporting if id in present]


def is_gold(question: Question, passage: Passage) -> bool:
    """Whether a passage is, or is a piece of, a document that supports the answer."""
    supporting = set(question.supporting)
    return passage.title in question.gold_titles or any(sentence.id in supporting for sentence in passage.sentences)


def has_answer(question: Question, text: str) -> bool:
    """Whether an accepted answer occurs in it, as the metric `contains` finds one."""
    return any(occurs_whole(answer, text) for answer in question.answers)


def sentence_rng(seed: int, part: str, question: Question, target: Target) -> random.Random:
    """One sentence's own draws, which do not depend on the sentences around it."""
    return random.Random(seed_from(seed, part, question.id, target.sentence.id))


def share_of(p: float, n: int) -> int:
    """ceil(p·n), where rounding in the last bit adds nothing: 7 of 100 are 0.07 of them."""
    return math.ceil(p * n - 1e-9)


def split_end(text: str) -> tuple[str, str]:
    """A sentence without its final punctuation, and that."""
    end = len(text.rstrip())
    while end and not (text[end - 1].isalnum() or text[end - 1].isspace() or text[end - 1] == "_"):
        end -= 1
    body = text[:end].rstrip()
    return body, text[len(body) :]


# --- edits ----------------------------------------------------------------------------------------


def remove(target: Target) -> Edit:
    return Edit(kind="remove", sentence_id=target.sentence.id, before=target.sentence.text, after=None)


def rewrite(target: Target, text: str, note: str = "") -> Edit:
    """The sentence keeps its id and gets another text."""
    return Edit(kind="replace", sentence_id=target.sentence.id, before=target.sentence.text, after=text, note=note)


def exchange(target: Target, donor: Sentence, origin: str) -> Edit:
    """Another sentence, with an id of its own, takes the place."""
    return replace(rewrite(target, donor.text, note=f"{origin}: {donor.id}"), id_after=donor.id)


def insert(text: str, side: Literal["before", "after"], anchor: Sentence) -> Edit:
    """A new sentence joins the passage of another."""
    return Edit(
        kind="insert",
        sentence_id=f"{anchor.id}/{side}",
        before=None,
        after=text,
        note=f"{side}: {anchor.id}",
        anchor=anchor.id,
        side=side,
    )


def move(hit: Hit, rank: int) -> Edit:
    """A passage goes to another rank. It is known by its first sentence, so it must have one."""
    first = hit.passage.sentences[0]
    return Edit(kind="move", sentence_id=first.id, before=first.text, after=first.text, rank=rank)


def bring(passage: Passage, rank: int, source: str, note: str) -> list[Edit]:
    """A new passage takes a rank, one edit for each of its sentences."""
    inserted = [
        Edit(kind="insert", sentence_id=sentence.id, before=None, after=sentence.text) for sentence in passage.sentences
    ]
    return [replace(edit, note=note, rank=rank, title=passage.title, source=source) for edit in inserted]


# --- replay ---------------------------------------------------------------------------------------


def disturbed(hits: Sequence[Hit], edits: Iterable[Edit], flags: Iterable[str] = ()) -> Evidence:
    """The evidence that a log of edits makes; each flag counts once."""
    log = tuple(edits)
    return Evidence(hits=replay(hits, log), edits=log, flags=tuple(dict.fromkeys(flags)))


def replay(hits: Sequence[Hit], edits: Iterable[Edit]) -> tuple[Hit, ...]:
    """The hits after the edits. A hit that loses all its sentences goes, and ranks close up.

    Moved and new passages stand where their edits say; the others keep their order around them.
    """
    inside: dict[str, list[Edit]] = defaultdict(list)
    moves: dict[str, deque[Edit]] = defaultdict(deque)
    placed: dict[int, Hit] = {}
    for edit in edits:
        if edit.kind == "insert" and edit.rank is not None:
            placed[edit.rank] = _grown(placed.get(edit.rank), edit)
        elif edit.kind == "insert" and edit.anchor is not None:
            inside[edit.anchor].append(edit)
        elif edit.kind == "move" and edit.rank is not None:
            moves[edit.sentence_id].append(edit)
        elif edit.kind == "remove" or (edit.kind == "replace" and edit.after is not None):
            inside[edit.sentence_id].append(edit)
        else:
            raise ValueError(f"cannot replay '{edit.kind}' of the sentence '{edit.sentence_id}'")
    kept: deque[Hit] = deque()
    for hit in hits:
        sentences = _edited(hit.passage.sentences, inside)
        if not sentences and hit.passage.sentences:
            continue
        changed = replace(hit, passage=replace(hit.passage, sentences=sentences))
        going = moves.get(hit.passage.sentences[0].id) if hit.passage.sentences else None
        if going:
            placed[going.popleft().rank or 0] = changed
        else:
            kept.append(changed)
    n_hits = len(kept) + len(placed)
    if any(not 1 <= rank <= n_hits for rank in placed):
        raise ValueError(f"cannot place passages at the ranks {sorted(placed)} of {n_hits}")
    return tuple(
        replace(placed[rank] if rank in placed else kept.popleft(), rank=rank) for rank in range(1, n_hits + 1)
    )


def _grown(hit: Hit | None, edit: Edit) -> Hit:
    """A new passage with one sentence more. Its id is the part of the sentence's id before the index."""
    sentence = Sentence(id=edit.sentence_id, text=edit.after or "")
    if hit is not None:
        return replace(hit, passage=replace(hit.passage, sentences=(*hit.passage.sentences, sentence)))
    passage = Passage(id=edit.sentence_id.rpartition("#")[0], title=edit.title or "", sentences=(sentence,))
    return Hit(passage=passage, rank=edit.rank or 0, score=None, source=edit.source or "")


def _edited(sentences: Iterable[Sentence], edits: Mapping[str, Sequence[Edit]]) -> tuple[Sentence, ...]:
    result = []
    for sentence in sentences:
        own: Sentence | None = sentence
        before: list[Sentence] = []
        after: list[Sentence] = []
        for edit in edits.get(sentence.id, ()):
            if edit.kind == "remove":
                own = None
            elif edit.kind == "replace":
                own = Sentence(id=edit.id_after or sentence.id, text=edit.after or "")
            else:
                side = before if edit.side == "before" else after
                side.append(Sentence(id=edit.sentence_id, text=edit.after or ""))
        result += [*before, *([own] if own else []), *after]
    return tuple(result)
