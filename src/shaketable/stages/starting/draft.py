"""Questions, a model and a corpus → what a first study of them crosses: little, and of use."""

from __future__ import annotations

import collections
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.types import Json, Question

MOST_QUESTIONS = 100
"""Questions of each type in a first study: above the 59 that a highest safe temperature needs (`stages/reach.py`), with
room for questions that fail."""
TEMPERATURES = (0.0, 0.7, 1.0)
"""That endpoints accept."""
REPEATS = 3
MAX_TOKENS = 64
DOCUMENTS = "search in documents"
"""What a study calls the retriever that searches somebody's documents."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """What a first study says. None of it needs PyTorch, spaCy or a compiler, unless its model or corpus does."""

    name: str
    dataset: Mapping[str, Json]
    """The table [dataset]."""
    n_questions: int
    """In the data."""
    model: str
    corpus: str | None = None
    """The file that a retriever searches; None: none."""
    has_answers: bool = True
    has_context: bool = False
    """Whether questions come with passages of their own."""
    retrievers: tuple[str, ...] = ()
    """Empty: nothing is searched."""
    perturbations: tuple[str, ...] = ()
    seed: int = field(default=0)

    @property
    def method(self) -> str:
        return "single_retrieval" if self.retrievers else "closed_book"

    @property
    def metrics(self) -> tuple[str, ...]:
        return ("correct", "token_f1", "refusal") if self.has_answers else ("same_answer", "refusal")

    @property
    def analyses(self) -> tuple[str, ...]:
        return ("correctness", "variability", "guidelines", *(("degradation", "cases") if self.perturbations else ()))

    def tables(self) -> dict[str, Any]:
        """As a study file has them."""
        cross: dict[str, Any] = {"models": [self.model], "methods": [self.method]}
        if self.retrievers:
            cross["retrievers"] = list(self.retrievers)
            cross["perturbations"] = list(self.perturbations)
        cross |= {"variations": ["original"], "temperatures": list(TEMPERATURES), "repeats": REPEATS}
        return {
            "name": self.name,
            "seed": self.seed,
            "dataset": dict(self.dataset),
            "cross": cross,
            "generation": {"max_tokens": MAX_TOKENS},
            "score": {"metrics": list(self.metrics)},
            "analyze": {"analyses": list(self.analyses)},
        }


def draft_study(
    name: str,
    dataset: Mapping[str, Json],
    questions: Sequence[Question],
    model: str,
    corpus: str | None = None,
) -> Draft:
    """What fits these questions: evidence is disturbed only where there is some."""
    has_context = any(question.documents for question in questions)
    retrievers = _retrievers(questions, has_context, corpus)
    return Draft(
        name=name,
        dataset={**dataset, **_limited(questions)},
        n_questions=len(questions),
        model=model,
        corpus=corpus,
        has_answers=any(question.answers for question in questions),
        has_context=has_context,
        retrievers=retrievers,
        perturbations=_perturbations(questions, has_context, corpus is not None) if retrievers else (),
    )


def _limited(questions: Sequence[Question]) -> dict[str, Json]:
    """Enough of each type that the report speaks of, and no more than that; empty: all questions are asked."""
    n_of_type = collections.Counter(str(question.tags.get("type")) for question in questions)
    if max(n_of_type.values(), default=0) <= MOST_QUESTIONS:
        return {}
    if len(n_of_type) == 1:
        return {"limit": MOST_QUESTIONS}
    return {"balance": {"by": ["type"], "per_cell": MOST_QUESTIONS}}


def name_documents(corpus: str) -> str:
    """The retriever that searches somebody's documents, as a study writes it."""
    return catalog.write("bm25", {"corpus": corpus, "name": DOCUMENTS})


def name_endpoint(settings: Mapping[str, str]) -> str:
    """An endpoint as a study writes it, under the model's own name where that cannot be taken for a part."""
    named = catalog.write("openai", {**settings, "name": settings["model"]})
    try:
        catalog.build("model", named)
    except PartError:
        return catalog.write("openai", settings)
    return named


def _retrievers(questions: Sequence[Question], has_context: bool, corpus: str | None) -> tuple[str, ...]:
    own = "full_gold" if any(question.supporting for question in questions) else "distractor"
    return (*([own] if has_context else []), *([name_documents(corpus)] if corpus else []))


def _perturbations(questions: Sequence[Question], has_context: bool, has_corpus: bool) -> tuple[str, ...]:
    """What fits the evidence: of a single sentence none can be removed, and one passage has no other order."""
    with_context = [question for question in questions if question.documents]
    sentences = [sum(len(document.sentences) for document in question.documents) for question in with_context]
    passages = [len(question.documents) for question in with_context]
    chosen = ["unchanged"]
    if has_corpus or statistics.median(sentences or [0]) >= 2:
        chosen.append("sentence_removal")
    chosen.append("random_noise(sentences='all')")
    if has_corpus or statistics.median(passages or [0]) >= 2:
        chosen.append("source_reordering")
    return tuple(chosen)
