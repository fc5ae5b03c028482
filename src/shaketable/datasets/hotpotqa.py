"""HotpotQA (Yang et al., EMNLP 2018) in each of its layouts → questions with documents and facts."""

from __future__ import annotations

from pathlib import Path

from shaketable.datasets.reading.gather import gather
from shaketable.datasets.reading.hub import fetch
from shaketable.datasets.reading.rows import Row, fields_of, scan_rows
from shaketable.datasets.reading.titled_sentences import TitledRecord, Unresolved, check_unresolved, titled_question
from shaketable.errors import DataError, at_home
from shaketable.types import Json, Loaded, Question

ADVICE = (
    "Known layouts: the official train or dev file of HotpotQA (a JSON array), the rows of the data hub (Parquet or "
    "JSON lines), and questions without context. Test files have no answers."
)


def load_hotpotqa(
    path: str | None = None,
    *,
    hub: str | None = None,
    configuration: str = "fullwiki",
    split: str = "train",
    unresolved: Unresolved = "reject",
) -> Loaded:
    """HotpotQA from a file, or from a `hub` dataset such as 'hotpotqa/hotpot_qa'.

    Records whose facts do not resolve are rejected, not repaired: in the fullwiki dev file that is
    more than half, because gold paragraphs may be missing there. `unresolved = "keep"` keeps them for
    closed-book use and real retrievers: with gold titles and the tag `unresolved`, without gold evidence.
    """
    check_unresolved(unresolved)
    files = _files(path, hub, configuration, split)
    rows = (row for file in files for row in scan_rows(file))
    return gather(
        rows, lambda row: _question(row, unresolved), name=hub if path is None and hub else files[0].name, advice=ADVICE
    )


def _question(row: Row, unresolved: Unresolved) -> Question:
    record = fields_of(row, TitledRecord)
    tags: dict[str, Json] = {"type": record.type, "level": record.level}
    return titled_question(record, dataset="hotpotqa", unresolved=unresolved, tags=tags)


def _files(path: str | None, hub: str | None, configuration: str, split: str) -> list[Path]:
    if path is not None:
        return [at_home(path)]
    if hub is None:
        raise DataError(
            "Dataset 'hotpotqa' needs a path. Get hotpot_train_v1.1.json or hotpot_dev_distractor_v1.json from "
            "hotpotqa.github.io, or set hub = 'hotpotqa/hotpot_qa', or use the dataset 'builtin'."
        )
    return _from_hub(hub, configuration, split)


def _from_hub(hub: str, configuration: str, split: str) -> list[Path]:
    wanted = f"{configuration}/{split}-*.parquet"
    files = sorted(fetch(hub, [wanted]).glob(wanted))
    if not files:
        raise DataError(f"'{hub}' has no files {wanted}. Check configuration and split, or give the path of a file.")
    return files
