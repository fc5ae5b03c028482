"""Wordings that were made before and frozen in a file, the same for everyone who has it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from shaketable import catalog
from shaketable.errors import DataError
from shaketable.types import Question, Variant
from shaketable.variations.variant_set import content_digest, load_variant_set, own_id


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """The wordings of a set that `shaketable vary --out` wrote, each named after the variation that made it.

    Trial keys hold the maker and the wording, not the path: two laboratories with one set have the same keys.
    """

    version: ClassVar[int] = 2
    loads_nothing: ClassVar[bool] = True

    path: str
    only: tuple[str, ...] = ()
    """Take the wordings of these variations alone, written as in the set, or by name where none is written so: of
    `formality` and `formality(by='smollm2')`, `formality` is the first. Empty: of all."""

    def contents(self) -> dict[str, str]:
        return {"path": content_digest(Path(self.path))}

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        made = [self._of(question) for question in questions]
        missing = [question.id for question, wordings in zip(questions, made, strict=True) if not wordings]
        if missing:
            warnings.warn(
                f"{Path(self.path).name} has no wording for {len(missing)} of {len(questions)} questions, "
                f"such as {missing[0]}. Freeze the set for these questions: shaketable vary.",
                stacklevel=2,
            )
        return made

    def _of(self, question: Question) -> list[Variant]:
        found = []
        for one in self._wordings.get(own_id(question), []):
            if one.original != question.text:
                raise DataError(
                    f"{Path(self.path).name}: question {question.id} was '{one.original}' when the set was frozen, "
                    f"and is '{question.text}' now. Use the dataset that the set was made for, or freeze anew."
                )
            found.append(replace(one.variant, question_id=question.id))
        return found

    @cached_property
    def _wordings(self) -> dict[str, list[Any]]:
        rows = load_variant_set(Path(self.path))
        labels = dict.fromkeys(row.variant.variation for row in rows)
        names = {*labels, *(catalog.parse(label)[0] for label in labels)}
        if unknown := [name for name in self.only if name not in names]:
            raise DataError(
                f"{Path(self.path).name} has no wordings by '{unknown[0]}'. It has those by: {', '.join(labels)}."
            )
        by_name = {name for name in self.only if name not in labels}
        taken = {label for label in labels if label in self.only or catalog.parse(label)[0] in by_name}
        found: dict[str, list[Any]] = {}
        for row in rows:
            if not self.only or row.variant.variation in taken:
                found.setdefault(row.variant.question_id, []).append(row)
        return found
