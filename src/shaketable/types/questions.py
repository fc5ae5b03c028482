"""What a dataset gives: questions with the passages that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shaketable.types.plain import NOTHING, Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    id: str
    """`PASSAGE#INDEX`; it survives every perturbation, so changes are exact."""
    text: str
    """Stripped of white space at both ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    id: str
    title: str
    sentences: tuple[Sentence, ...]
    """In reading order; a corpus that is not split gives one long sentence."""

    @property
    def text(self) -> str:
        return " ".join([sentence.text for sentence in self.sentences])


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked, what counts as right, and the evidence that its dataset gives.

    >>> import shaketable
    >>> shaketable.Question(id="q1", text="What is the capital of France?", answers=("Paris",)).answers[0]
    'Paris'
    """

    id: str
    text: str
    answers: tuple[str, ...]
    """Accepted short answers, the canonical one first; empty when tagged unanswerable."""
    dataset: str = ""
    documents: tuple[Passage, ...] = ()
    """All documents of the record, gold and distracting; empty for closed-book sets."""
    supporting: tuple[str, ...] = ()
    """Ids of the supporting sentences, in the order the dataset gives its facts."""
    gold_titles: tuple[str, ...] = ()
    """Titles of the supporting documents, for gold hits of real retrievers."""
    tags: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What a question can be grouped by: type, n_facts, level ..."""
    reference: str | None = None
    """A sentence-form reference answer; None: scores compare with the short answers."""

    def sentence(self, sentence_id: str) -> Sentence:
        """The sentence with this id, wherever it stands in the documents."""
        for document in self.documents:
            for sentence in document.sentences:
                if sentence.id == sentence_id:
                    return sentence
        raise KeyError(sentence_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """A record of a dataset that was read and left out."""

    where: str
    """File, line or record, and id."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A record of a dataset that was kept, but not as it was read."""

    where: str
    """File, line or record, and id."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What a dataset gives."""

    questions: tuple[Question, ...]
    """In the order of the file; ids are unique."""
    rejected: tuple[Rejected, ...] = ()
    corpus: tuple[Passage, ...] = ()
    """What a real retriever may search, ids unique; empty for closed-book sets."""
    remarks: tuple[Remark, ...] = ()
    """Aliases that were dropped, facts that name no sentence."""
