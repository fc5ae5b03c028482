"""A function of sentences → a perturbation; a function of a query → a retriever."""

from __future__ import annotations

import random
from collections.abc import Sequence

from shaketable.errors import PartError, RetrieverDown, ShaketableError
from shaketable.identity import digest_text, seed_from
from shaketable.models.calling.passages import NotUnderstood, read_passages
from shaketable.perturbations.altered import disturbed, remove, rewrite, sentences_of
from shaketable.retrievers.corpus.passages import split_sentences
from shaketable.stages.own.function_part import FunctionPart, trouble
from shaketable.types import Evidence, Hit, Passage, Query, Question, Sentence

SENTENCES = "the sentences of the evidence, a list of texts"
PERTURBATION_GIVEN = ("question", "rng")
QUERY = "the query, as text"
RETRIEVER_GIVEN = ("k", "question")
NOTHING_CHANGED = "nothing_changed"


def rng_of(part: FunctionPart, seed: int, question: Question) -> random.Random:
    """One question's own draws, the same in a whole study."""
    return random.Random(seed_from(seed, part.name, question.id))


class FunctionPerturbation(FunctionPart):
    """Gives each sentence of a question's evidence another text, or None to take it out."""

    seed: int

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._disturb(question, own) for question, own in zip(questions, hits, strict=True)]

    def _disturb(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        targets = sentences_of(hits)
        rng = rng_of(self, self.seed, question) if "rng" in self.given else None
        try:
            left = self.call([target.sentence.text for target in targets], {"question": question, "rng": rng})
        except ShaketableError:
            raise
        except Exception as error:
            raise trouble(self, error, f"question {question.id}") from error
        if isinstance(left, str) or not isinstance(left, Sequence) or len(left) != len(targets):
            n = f"{len(left)} sentences" if isinstance(left, list | tuple) else f"{left!r:.60}"
            raise PartError(
                f"{self.name} returned {n} for the {len(targets)} of question {question.id}. A perturbation returns a "
                "list with a text for each sentence, the same text to leave it, None to take it out."
            )
        edits = []
        for target, text in zip(targets, left, strict=True):
            if text is not None and not isinstance(text, str):
                raise PartError(
                    f"{self.name} returned {text!r:.60} for a sentence of question {question.id}; give a text."
                )
            if not (text or "").strip():
                edits.append(remove(target))
            elif text != target.sentence.text:
                edits.append(rewrite(target, str(text).strip()))
        return disturbed(hits, edits, () if edits else (NOTHING_CHANGED,))


class FunctionRetriever(FunctionPart):
    """Finds passages: texts, or mappings and documents with a text, a title and an id."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [self._find(query, k) for query in queries]

    def _find(self, query: Query, k: int) -> list[Hit]:
        try:
            passages = read_passages(self.call(query.text, {"k": k, "question": query.question}), f"{self.name}: hit")
        except NotUnderstood as error:
            raise PartError(f"{error}. A retriever returns a list of passages.") from error
        except ShaketableError:
            raise
        except Exception as error:  # A search that fails spoils its trials alone, and may be tried again.
            raise RetrieverDown(str(trouble(self, error, f"the query '{query.text:.80}'"))) from error
        hits = []
        for rank, passage in enumerate(passages[:k], 1):
            text, score = str(passage["text"]), passage.get("score")
            id = str(passage.get("id") or f"{self.name}~{digest_text(text)[:8]}")
            sentences = tuple(Sentence(id=f"{id}#{i}", text=part) for i, part in enumerate(split_sentences(text)))
            found = Passage(id=id, title=str(passage.get("title") or ""), sentences=sentences)
            number = float(score) if isinstance(score, int | float) else None
            hits.append(Hit(passage=found, rank=rank, score=number, source=self.name))
        return hits
