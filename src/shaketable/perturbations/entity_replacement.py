"""Names and other entities become random words, other entities of their type, or `[MASK]`."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.perturbations.altered import (
    MASK,
    Target,
    Which,
    choose_targets,
    disturbed,
    rewrite,
    sentence_rng,
    sentences_of,
    share_of,
)
from shaketable.perturbations.checks import check_choice, check_share
from shaketable.text import language, lexicon
from shaketable.text.language import Span
from shaketable.types import Edit, Evidence, Hit, Question

Mode = Literal["ner", "pos"]
Pool = Literal["lexicon", "same_type", "mask"]


@dataclass(frozen=True, kw_only=True)
class EntityReplacement:
    """A share `p` of the entities of each chosen sentence, ceil(p·n) of n, is replaced.

    RAG-Ex has a language model do it. Masking as TempPerturb-Eval does it, with the title, is `entity_masking`.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = language.PACKAGES

    mode: Mode = "ner"
    """`ner`: the spans that the pipeline's entity recognizer finds. `pos`: each noun and each word of a name."""
    pool: Pool = "lexicon"
    """`lexicon`: a random noun. `same_type`: another entity with the same label, or another word with
    the same tag, from the documents of the record and the hits. `mask`: `[MASK]`."""
    p: float = 1.0
    sentences: Which = "altered"
    lexicon: str | None = None
    """A file of one word a line, or a WordNet folder; None: the words that ship."""
    pipeline: str = language.PIPELINE
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, Mode)
        check_choice("pool", self.pool, Pool)
        check_choice("sentences", self.sentences, Which)
        check_share("p", self.p)

    def lacks(self) -> str | None:
        return language.lacks(self.pipeline)

    def contents(self) -> dict[str, str]:
        return lexicon.contents(self.lexicon)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        if self.p == 0:
            return [Evidence(hits=tuple(own)) for _, own in zip(questions, hits, strict=True)]
        chosen = [choose_targets(question, own, self.sentences) for question, own in zip(questions, hits, strict=True)]
        texts = [target.sentence.text for targets, _ in chosen for target in targets]
        if self.pool == "same_type":
            texts += [text for q, own in zip(questions, hits, strict=True) for text in _texts_around(q, own)]
        entities = self._entities(list(dict.fromkeys(texts)))
        return [
            self._replaced(question, own, targets, flags, entities)
            for question, own, (targets, flags) in zip(questions, hits, chosen, strict=True)
        ]

    def _entities(self, texts: Sequence[str]) -> dict[str, list[Span]]:
        if not texts:
            return {}
        if self.mode == "ner":
            return dict(zip(texts, language.entities_of_each(texts, self.pipeline), strict=True))
        tagged = language.words_of_each(texts, self.pipeline)
        return {
            text: [(word.start, word.end, word.tag) for word in words if word.tag.startswith("NN")]
            for text, words in zip(texts, tagged, strict=True)
        }

    def _replaced(
        self,
        question: Question,
        hits: Sequence[Hit],
        targets: Sequence[Target],
        flags: list[str],
        entities: Mapping[str, Sequence[Span]],
    ) -> Evidence:
        others = _by_label(_texts_around(question, hits), entities) if self.pool == "same_type" else {}
        edits: list[Edit] = []
        for target in targets:
            text = target.sentence.text
            rng = sentence_rng(self.seed, "entity_replacement", question, target)
            spans = entities[text]
            chosen = rng.sample(spans, share_of(self.p, len(spans)))
            after, n_replaced = text, 0
            for start, end, label in sorted(chosen, reverse=True):
                word = self._word(text[start:end], others.get(label, ()), rng)
                if word is None:
                    flags.append("no_same_type")
                else:
                    after, n_replaced = after[:start] + word + after[end:], n_replaced + 1
            if after != text:
                edits.append(rewrite(target, after, f"{n_replaced} of {len(spans)} entities"))
        if len(edits) < len(targets):
            flags.append("partly_replaced" if edits else "nothing_to_replace")
        return disturbed(hits, edits, flags)

    def _word(self, entity: str, others: Sequence[str], rng: random.Random) -> str | None:
        """What an entity becomes; None where nothing else has its type."""
        match self.pool:
            case "mask":
                return MASK
            case "lexicon":
                word = rng.choice(lexicon.vocabulary(self.lexicon).lemmas("noun"))
                return word.capitalize() if entity[:1].isupper() else word
            case "same_type":
                different = [other for other in others if other.casefold() != entity.casefold()]
                return rng.choice(different) if different else None


def _texts_around(question: Question, hits: Sequence[Hit]) -> list[str]:
    """The sentences of the record and of what was found."""
    recorded = [sentence.text for document in question.documents for sentence in document.sentences]
    return list(dict.fromkeys([*recorded, *(target.sentence.text for target in sentences_of(hits))]))


def _by_label(texts: Sequence[str], entities: Mapping[str, Sequence[Span]]) -> dict[str, list[str]]:
    by_label: dict[str, dict[str, None]] = defaultdict(dict)
    for text in texts:
        for start, end, label in entities[text]:
            by_label[label][text[start:end]] = None
    return {label: sorted(names) for label, names in by_label.items()}
