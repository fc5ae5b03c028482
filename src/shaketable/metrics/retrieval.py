"""Did the search bring the documents that support the answer, and how high?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable import weights
from shaketable.metrics.relevance import ENCODER, pseudo_relevance
from shaketable.metrics.scoring import unscored
from shaketable.text.encoder import PACKAGES
from shaketable.text.plain import title_key
from shaketable.types import Evidence, Measure, Question, Record, Score, Search

NO_SEARCH = "no search"
NO_TITLES = "no supporting titles"
CHANGED = "\0changed"


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Recall, precision, nDCG and reciprocal rank of the supporting documents at `k`, by ir_measures: 0 to 1, higher
    is better.

    Documents are told apart by their titles, letter case aside, so several passages of one document count once, at
    the best rank. What is judged is what the method was shown, after the perturbation; `unchanged` evidence is the
    same search before one. None for a failed trial, a method that did not search, and a question that names no
    supporting documents.

    Changed words leave titles as they are. With `min_similarity` a passage of a supporting document counts only while
    it still means what it meant: its cosine with the passage before the perturbation is at least that (0.8 in the
    study of context and temperature). The numbers then carry it in their names, `recall@5~0.8`.
    """

    version: ClassVar[int] = 2
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="recall@{k}{part.condition}", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="precision@{k}{part.condition}", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="ndcg@{k}{part.condition}", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="mrr@{k}{part.condition}", unit="score", higher_is_better=True, maximum=1.0),
    )

    k: int = 5
    searches: Literal["first", "all"] = "first"
    """`first`: the first search of a trial. `all`: all of them, one after another."""
    min_similarity: float | None = None
    """None: a passage counts by its title, whatever happened to its words."""
    encoder: str = ENCODER
    """What measures the similarity; all-mpnet-base-v2 in the studies."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}; it is at least 1.")
        if self.min_similarity is not None and not 0 < self.min_similarity <= 1:
            raise ValueError(f"min_similarity is {self.min_similarity}; it lies above 0 and is at most 1.")

    @property
    def condition(self) -> str:
        """What the names of its numbers end with, so that both kinds of judging can stand in one study."""
        return "" if self.min_similarity is None else f"~{self.min_similarity:g}"

    @property
    def packages(self) -> tuple[str, ...]:
        return () if self.min_similarity is None else PACKAGES

    def lacks(self) -> str | None:
        return None if self.min_similarity is None else weights.lacks(self.encoder)

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        golds = [[*map(title_key, questions[record.trial.question_id].gold_titles)] for record in records]
        titles_of_records = self._titles(records)
        reasons = [
            unscored(record) or (NO_TITLES if not gold else NO_SEARCH if titles is None else None)
            for record, gold, titles in zip(records, golds, titles_of_records, strict=True)
        ]
        names = {f"{name}@{self.k}{self.condition}": measure for name, measure in self._measures().items()}
        values = self._values(
            {
                str(i): (golds[i], titles or [])
                for i, (reason, titles) in enumerate(zip(reasons, titles_of_records, strict=True))
                if reason is None
            }
        )
        return [
            [
                Score(
                    key=record.trial.key,
                    metric=name,
                    value=values[str(i), measure] if reason is None else None,
                    reason=reason,
                )
                for name, measure in names.items()
            ]
            for i, (record, reason) in enumerate(zip(records, reasons, strict=True))
        ]

    def _measures(self) -> dict[str, str]:
        return {"recall": f"R@{self.k}", "precision": f"P@{self.k}", "ndcg": f"nDCG@{self.k}", "mrr": f"RR@{self.k}"}

    def _titles(self, records: Sequence[Record]) -> list[list[str] | None]:
        """The titles each trial was shown, the best first, each once; None: it did not search."""
        shown = [self._shown(record) for record in records]
        titles = iter(self._titles_of([evidence for of_record in shown for evidence in of_record]))
        return [list(dict.fromkeys(t for _ in one for t in next(titles))) if one else None for one in shown]

    def _shown(self, record: Record) -> list[Evidence]:
        shown = [
            event.reply
            for event in record.trace
            if isinstance(event.step, Search) and isinstance(event.reply, Evidence)
        ]
        return shown[:1] if self.searches == "first" else shown

    def _titles_of(self, shown: Sequence[Evidence]) -> list[list[str]]:
        """Of each evidence; a passage that lost its meaning keeps its rank, under the title of no document."""
        titles = [[title_key(hit.passage.title) for hit in evidence.hits] for evidence in shown]
        if self.min_similarity is None:
            return titles
        labels = pseudo_relevance(shown, self.min_similarity, self.encoder)
        return [
            [title if label.is_relevant else f"{title}{CHANGED}" for title, label in zip(*one, strict=True)]
            for one in zip(titles, labels, strict=True)
        ]

    def _values(self, judged: Mapping[str, tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
        """Query and measure → value, of queries with their relevant and found titles."""
        import ir_measures

        measures = [ir_measures.parse_measure(text) for text in self._measures().values()]
        relevant: dict[str, dict[str, int]] = {}
        ranked: dict[str, dict[str, float]] = {}
        for query, (golds, titles) in judged.items():
            # Numbers stand for titles: the library crashes on half a character.
            number = {title: str(n) for n, title in enumerate(dict.fromkeys([*golds, *titles]))}
            relevant[query] = {number[title]: 1 for title in golds}
            # A query without any result would be left out; one that is relevant to nothing stands for it.
            ranked[query] = {number[title]: float(-rank) for rank, title in enumerate(titles)} or {"none": 0.0}
        return {
            (str(value.query_id), str(value.measure)): float(value.value)
            for value in ir_measures.iter_calc(measures, relevant, ranked)
        }
