"""Rewrites from a file, by people or published by somebody's model."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from shaketable import catalog
from shaketable.errors import DataError, did_you_mean
from shaketable.types import Json, Question, Variant
from shaketable.variations.gate.meaning import MODEL_MADE
from shaketable.variations.gate.refusal import Refusal, refuse
from shaketable.variations.variant_set import content_digest, own_id, read_lines

ORIGINALS = ("original", "question")
"""Fields that tell which wording the writer saw."""
PEOPLE = "people"
LAYOUT = 'Write one object per line: {"id": question id, "rewrite": text, "annotator": who wrote it}.'


@dataclass(frozen=True, kw_only=True)
class Rewrites:
    """Every rewrite of a question in a file of JSON lines, in the order of the file.

    People may leave out, add and simplify, so no meaning is measured unless `gated`. Refused are an empty rewrite, a
    copy of the question, a second one by the same person, and one of another wording than the dataset's.
    """

    version: ClassVar[int] = 2

    path: str
    """May be gzipped."""
    id: str = "id"
    """The field with the question's id."""
    texts: tuple[str, ...] = ("rewrite",)
    """The fields with rewrites; each is one wording."""
    annotator: str = "annotator"
    """The field that tells who wrote it; rows may lack it."""
    where: Mapping[str, str | int | float | bool] | None = field(default=None, hash=False)
    """Field → the value that a row must have to be read; None: every row is."""
    maker: str = PEOPLE
    """`people`, or the model that wrote them."""
    title: str = ""
    """How tables and charts name them; empty: after their maker."""
    gated: bool = False
    """Whether they must pass the gate for paraphrases by models. Typing errors and speech do not pass it: they are no
    English that people write."""

    @property
    def by_people(self) -> bool:
        return self.maker == PEOPLE

    @property
    def loads_nothing(self) -> bool:
        return not self.gated

    @property
    def packages(self) -> tuple[str, ...]:
        return MODEL_MADE.packages if self.gated else ()

    def lacks(self) -> str | None:
        return MODEL_MADE.lacks() if self.gated else None

    def contents(self) -> dict[str, str]:
        return {"path": content_digest(Path(self.path))}

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        rows = self._rows
        known = {own_id(question) for question in questions}
        unknown = [row_id for row_id in rows if row_id not in known]
        if unknown and questions:
            warnings.warn(
                f"{Path(self.path).name} has rewrites of {len(unknown)} questions that are not asked, such as "
                f"'{unknown[0]}'. They are left out. Check the setting id='{self.id}' if there should be none.",
                stacklevel=2,
            )
        missing = [question.id for question in questions if own_id(question) not in rows]
        if missing:
            warnings.warn(
                f"{Path(self.path).name} has no rewrite of {len(missing)} of the {len(questions)} questions asked, "
                f"such as '{missing[0]}'. They are asked in their other wordings alone; raise the limit, or give a "
                "dataset of questions that have one.",
                stacklevel=2,
            )
        made = [self._of(question, rows.get(own_id(question), [])) for question in questions]
        return self._judged(questions, made) if self.gated else made

    def has_rewrite(self, question: Question) -> bool:
        return any(variant.rejected is None for variant in self._of(question, self._rows.get(own_id(question), [])))

    def _judged(self, questions: Sequence[Question], made: list[list[Variant]]) -> list[list[Variant]]:
        """What the gate refuses is marked; what was refused before stays as it is."""
        pairs = [(question, variant) for question, row in zip(questions, made, strict=True) for variant in row]
        verdicts = MODEL_MADE.judge([question.text for question, _ in pairs], [variant.text for _, variant in pairs])
        judged = (
            variant if variant.rejected else refuse(variant, verdict.refused)
            for (_, variant), verdict in zip(pairs, verdicts, strict=True)
        )
        return [list(itertools.islice(judged, len(row))) for row in made]

    def _of(self, question: Question, rows: Sequence[tuple[str, dict[str, Any]]]) -> list[Variant]:
        label, made, seen = catalog.label(self), [], set()
        for where, row in rows:
            annotator = row.get(self.annotator)
            for name in self.texts:
                text = row[name]
                provenance: dict[str, Json] = {"by": self.maker, "file": where}
                if annotator is not None:
                    provenance["annotator"] = annotator
                if len(self.texts) > 1:
                    provenance["field"] = name
                refusal = _trouble(question, row, text)
                if annotator is not None and (annotator, name) in seen:
                    again = f"a second rewrite by the same person: {annotator}"
                    refusal = Refusal(kind="second_rewrite_by_the_same_person", text=again)
                seen.add((annotator, name))
                variant = Variant(question_id=question.id, text=text, variation=label, provenance=provenance)
                made.append(refuse(variant, refusal))
        return made

    @cached_property
    def _rows(self) -> dict[str, list[tuple[str, dict[str, Any]]]]:
        """Question id → the rows that rewrite it, with their places."""
        found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        wanted = self.where or {}
        for where, row in read_lines(Path(self.path)):
            if not isinstance(row, dict):
                raise DataError(f"{where}: found {type(row).__name__}, expected an object. {LAYOUT}")
            _check_fields(where, row, wanted)
            if any(row[name] != value for name, value in wanted.items()):
                continue
            _check_fields(where, row, (self.id, *self.texts))
            for name in self.texts:
                if not isinstance(row[name], str):
                    raise DataError(f"{where}: '{name}' is {row[name]!r}, expected a text. {LAYOUT}")
            found.setdefault(str(row[self.id]), []).append((where, row))
        if wanted and not found:
            raise DataError(f"{Path(self.path).name}: no row has {dict(wanted)}. Check the setting where={{…}}.")
        return found


def _check_fields(where: str, row: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if name not in row:
            raise DataError(
                f"{where}: '{name}' is missing.{did_you_mean(name, row)} Fields: {', '.join(row)}. "
                f"Name yours: rewrites(path=…, id=…, texts=(…,)). {LAYOUT}"
            )


def _trouble(question: Question, row: dict[str, Any], text: str) -> Refusal | None:
    if not text.strip():
        return Refusal(kind="empty", text="empty")
    if text.strip() == question.text.strip():
        return Refusal(kind="same_as_the_original", text="the same as the original")
    for name in ORIGINALS:
        seen = row.get(name)
        if isinstance(seen, str) and seen.split() != question.text.split():
            return Refusal(kind="written_for_another_wording", text=f"written for another wording: '{seen}'")
    return None
