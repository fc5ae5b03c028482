"""Wordings ↔ a file that freezes them, so that two systems, or two laboratories, see the same ones."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from shaketable.errors import DataError, at_home, did_you_mean
from shaketable.identity import canonical, digest, digest_text
from shaketable.text.unpacking import refuse_pipe, unpack
from shaketable.text.whole_file import write_whole
from shaketable.types import Json, Question, Variant

FORMAT = "shaketable variants"
VERSION = 1


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: str
    version: int
    variations: list[dict[str, Any]]
    """Label and every setting of each variation that took part."""
    n_variants: int
    digest: str
    """Of the digests of all variants, in order."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question_id: str
    original: str
    variation: str
    text: str
    provenance: dict[str, Any]
    rejected: str | None
    digest: str
    """Of the other fields."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrozenWording:
    """One wording of a frozen set, with the question it was made for."""

    original: str
    variant: Variant


def write_variant_set(
    path: Path, questions: Sequence[Question], made: Mapping[str, Sequence[Sequence[Variant]]], parts: Sequence[Json]
) -> str:
    """The file's digest. `made` has, for each label, the wordings of each question; `parts` describes their makers."""
    rows = [
        _sealed(question.text, variant)
        for place, question in enumerate(questions)
        for wordings in made.values()
        for variant in wordings[place]
    ]
    whole = digest([row["digest"] for row in rows])
    header = {
        "format": FORMAT, "version": VERSION, "variations": list(parts), "n_variants": len(rows), "digest": whole,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{canonical(row)}\n" for row in (header, *rows))
    write_whole(path, text.encode("utf-8", "surrogatepass"))
    return whole


def load_variant_set(path: Path) -> list[FrozenWording]:
    """The wordings of a frozen set, accepted and rejected, each checked against its digest."""
    lines = read_lines(path)
    where, first = next(lines, (f"{path.name} line 1", None))
    if not isinstance(first, dict) or first.get("format") != FORMAT:
        raise DataError(
            f"{where}: this is no frozen set of variants. Write one: shaketable vary NAME --out {path.name}."
        )
    if first.get("version") != VERSION:
        raise DataError(
            f"{where}: the set has version {first.get('version')!r}, expected {VERSION}. "
            "Use the version of shaketable that wrote it, or write it again: shaketable vary."
        )
    header = _checked(where, first, _Header)
    found: list[FrozenWording] = []
    digests = []
    for where, value in lines:
        found.append(_frozen(where, value))
        digests.append(value["digest"])
    if len(found) != header.n_variants or digest(digests) != header.digest:
        raise DataError(
            f"{path.name}: found {len(found)} wordings, expected the {header.n_variants} that the first line seals. "
            "Lines were lost, added or moved. Get the file again, or freeze anew."
        )
    return found


class Journal:
    """The wordings of a set that is still being made, in a file beside it: each is kept as soon as it was paid for, so
    that a set that was interrupted is made to its end without asking for them again."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")

    def read(self, made_by: str) -> list[FrozenWording]:
        """Return what is kept of the variation that keys spell so; a line that was cut off is left out."""
        if not self.path.is_file():
            return []
        maker, found = digest_text(made_by), []
        for line in self.path.read_text("utf-8", "surrogatepass").split("\n"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if not isinstance(value, dict) or value.pop("made_by", None) != maker:
                continue
            with contextlib.suppress(DataError):
                found.append(_frozen(self.path.name, value))
        return found

    def add(self, made_by: str, original: str, variants: Sequence[Variant]) -> None:
        """Keep all wordings of one question; they are on the disk when this returns."""
        maker = digest_text(made_by)
        rows = [{**_sealed(original, variant), "made_by": maker} for variant in variants]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            # Behind a line that was cut off a new one begins.
            text = "\n" + "".join(f"{canonical(row)}\n" for row in rows)
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())

    def end(self) -> None:
        """Remove the file, once the set is whole."""
        self.path.unlink(missing_ok=True)


def own_id(question: Question) -> str:
    """A question's id as its dataset writes it: a study of several datasets puts the dataset's name before it."""
    return question.id.removeprefix(f"{question.dataset}:") if question.dataset else question.id


def content_digest(path: Path) -> str:
    """Of the text of a file, which may be gzipped."""
    return digest_text(_read_text(path))


def read_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The place and the value of each JSON line of a file, which may be gzipped."""
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if line.strip():
            where = f"{path.name} line {number}"
            try:
                yield where, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}: broken JSON: {error}. Give one JSON object per line.") from error


def _read_text(path: Path) -> str:
    file = at_home(path)
    try:
        refuse_pipe(file)
        return unpack(file.read_bytes(), path.name).decode("utf-8-sig")
    except OSError as error:
        reason = f"{error}" if isinstance(error, gzip.BadGzipFile) else error.strerror
        raise DataError(f"{path} cannot be read: {reason}. Give the path of a file of JSON lines.") from error
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} is broken: {error}. Get it again, as UTF-8.") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingCounts:
    made: int
    accepted: int
    rejected: int
    reasons: Mapping[str, int]
    """Kinds of reasons why they were rejected, the most frequent first."""


def count_wordings(wordings: Sequence[Sequence[Variant]]) -> WordingCounts:
    """How many wordings there are, how many are accepted, and why the others are not."""
    variants = [variant for of_question in wordings for variant in of_question]
    reasons = Counter(variant.refusal or variant.rejected for variant in variants if variant.rejected)
    return WordingCounts(
        made=len(variants),
        accepted=len(variants) - reasons.total(),
        rejected=reasons.total(),
        reasons=dict(reasons.most_common()),
    )


def _sealed(original: str, variant: Variant) -> dict[str, Json]:
    row: dict[str, Json] = {
        "question_id": variant.question_id,
        "original": original,
        "variation": variant.variation,
        "text": variant.text,
        "provenance": dict(variant.provenance),
        "rejected": variant.rejected,
    }
    return {**row, "digest": digest(row)}


def _frozen(where: str, value: Any) -> FrozenWording:
    """A wording, checked against its own digest."""
    row = _checked(where, value, _Row)
    variant = Variant(
        question_id=row.question_id,
        text=row.text,
        variation=row.variation,
        provenance=row.provenance,
        rejected=row.rejected,
    )
    if _sealed(row.original, variant)["digest"] != row.digest:
        raise DataError(f"{where}: the wording was changed after it was frozen. Get the file again, or freeze anew.")
    return FrozenWording(original=row.original, variant=variant)


def _checked(where: str, value: Any, model: type[Any]) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(step) for step in problem["loc"])
        hint = did_you_mean(name, model.model_fields) if problem["type"] == "extra_forbidden" else ""
        raise DataError(
            f"{where}: '{name}': {problem['msg'].lower()}.{hint} Get the file again, or freeze anew."
        ) from error
