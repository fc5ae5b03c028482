"""Prompts that a study names by files → their texts, so that a frozen study holds what was asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from shaketable import catalog
from shaketable.errors import PartError, StudyError
from shaketable.prompts import read_own
from shaketable.prompts.own import names_file, read_file
from shaketable.study.tables.score import REFERENCE_SLOTS, WITHOUT_MODEL, ScoreTable
from shaketable.types import Study


def hold_prompts(study: Study) -> Study:
    """The same with the texts of prompts that methods name by files, so that a frozen study holds what was asked."""
    return dataclasses.replace(study, methods=with_prompts(study.methods, ""))


def with_prompts(methods: Sequence[str], where: str) -> tuple[str, ...]:
    """The methods with texts in place of the files that they name."""
    folder = Path(where).parent if where else None

    def read(given: object) -> str | None:
        return read_file(given, folder) if isinstance(given, str) and names_file(given) else None

    held = []
    for i, text in enumerate(methods):
        try:
            held.append(catalog.hold_files("method", text, read))
        except ValueError as error:
            raise StudyError(f"{where or 'study'}, cross.methods[{i}]: {text}: {error}.") from error
        except PartError:
            held.append(text)  # The plan says what is wrong with it, as with any part.
    return tuple(held)


def reference_prompt(score: ScoreTable, where: str) -> str | None:
    """The text itself, so that a frozen study holds what was asked and not the name of a file."""
    if score.reference_prompt is None:
        return None
    if score.reference in WITHOUT_MODEL:
        raise StudyError(
            f"{where}, score.reference_prompt: no model is asked where score.reference is '{score.reference}'. "
            "Name the model that writes the references, or leave the prompt out."
        )
    try:
        return read_own(score.reference_prompt, REFERENCE_SLOTS, Path(where).parent)
    except ValueError as error:
        raise StudyError(f"{where}, score.reference_prompt: {error}.") from error
