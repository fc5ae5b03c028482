"""Files of every dataset loader, and files of answers."""

from __future__ import annotations

import contextlib
import functools
import io
import shutil
from random import Random

import polars as pl
from faults.fuzz.layouts import ANSWER, ANSWER_PLAIN, ANSWER_TABLE, ROWS, TABLES
from faults.fuzz.mutation import damaged, file
from faults.fuzz.target import Target, scratch, written
from faults.fuzz.texts import is_one_in

from shaketable import catalog
from shaketable.cli.sharing import _flat
from shaketable.errors import DataError, RunError
from shaketable.identity import canonical
from shaketable.stages.answer_rows import read_answer_rows
from shaketable.stages.import_answers import import_answers
from shaketable.store import RecordStore
from shaketable.store.verify import verify
from shaketable.types import Loaded

LAYOUTS = ("lines", "array", "indented", "first")


def content_of(name: str, rng: Random) -> bytes:
    """A file of a loader, nearly."""
    kind = rng.randrange(8)
    if kind < 3 and name in TABLES:
        return damaged(rng, TABLES[name])
    if kind == 7 and name not in ("csv", "jsonl"):
        return _table(name) if is_one_in(rng, 4) else damaged(rng, _table(name))
    return file(rng, ROWS[name], LAYOUTS)


@functools.cache
def _table(name: str) -> bytes:
    """The first row as a table of the data hub."""
    stream = io.BytesIO()
    pl.DataFrame([ROWS[name][0]], strict=False).write_parquet(stream)
    return stream.getvalue()


def loads(name: str, content: bytes) -> None:
    given = written(f"{name}.data", content)
    with contextlib.suppress(DataError):
        check(catalog.find("dataset", name)(str(given)))


def check(loaded: Loaded) -> None:
    """What every stage after loading relies on."""
    canonical(loaded)
    ids = [question.id for question in loaded.questions]
    assert ids and len(set(ids)) == len(ids)
    for question in loaded.questions:
        assert question.text.strip()
        assert all(answer.strip() for answer in question.answers)
        assert question.answers or question.tags.get("unanswerable") or question.dataset == "csv"
        sentences = {sentence.id for document in question.documents for sentence in document.sentences}
        assert question.tags.get("unresolved") or set(question.supporting) <= sentences
        for value in question.tags.values():
            assert value == value and value not in (float("inf"), float("-inf")), "a tag that is no number"


def answers(rng: Random) -> bytes:
    return file(rng, [ANSWER, ANSWER_PLAIN], LAYOUTS) if rng.randrange(3) else damaged(rng, ANSWER_TABLE)


def reads_answers(content: bytes) -> None:
    with contextlib.suppress(DataError):
        assert read_answer_rows(written("answers.data", content))


def imports(content: bytes) -> None:
    """What was taken in is all there, and comes out again as it came in."""
    folder = scratch() / "imported"
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(DataError, RunError):
        rows = read_answer_rows(given := written("answers.data", content))
        run = import_answers(given, folder).run
        with RecordStore(run.records_path, read_only=True) as store:
            verdict = verify(store)
        assert not verdict.problems, verdict.problems
        assert run.summary().trials == len(rows)
        given_texts = sorted(str(row.answer) for _, row in rows)
        assert sorted(map(str, run.records()["answer"])) == given_texts
        exports(run.records())


def exports(frame: pl.DataFrame) -> None:
    expected = sorted(map(str, frame["answer"]))
    lines = io.BytesIO(frame.write_ndjson().encode())
    packed = io.BytesIO()
    frame.write_parquet(packed)
    packed.seek(0)
    assert sorted(map(str, pl.read_ndjson(lines, infer_schema_length=None)["answer"])) == expected
    assert sorted(map(str, pl.read_parquet(packed)["answer"])) == expected
    table = pl.read_csv(_flat(frame).write_csv().encode(), infer_schema=False)
    assert table.height == frame.height


TARGETS = (
    *(
        Target(name=f"load_{name}", make=functools.partial(content_of, name), holds=functools.partial(loads, name))
        for name in catalog.known("dataset")
        if name in ROWS
    ),
    Target(name="answer_rows", make=answers, holds=reads_answers),
    Target(name="import", make=answers, holds=imports),
)
