"""HotpotQA (Yang et al., EMNLP 2018) in each of its layouts → questions with documents and facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictInt, field_validator

from shaketable.datasets.loaded import Loaded, Rejected
from shaketable.datasets.rows import check_ids, checked, corpus_of, make_question, passage, read_rows, trouble
from shaketable.errors import DataError
from shaketable.types import Question
from shaketable.weights import is_offline

ADVICE = "Use a train or dev file of HotpotQA: the official JSON, or the rows of the data hub."


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(validation_alias=AliasChoices("_id", "id"))
    question: str
    answer: str
    type: str | None = None
    level: str | None = None
    # Absent in files for closed-book use.
    supporting_facts: list[tuple[str, StrictInt]] = []
    context: list[tuple[str, list[str]]] = []

    @field_validator("supporting_facts", mode="before")
    @classmethod
    def _join_facts(cls, value: Any) -> Any:
        return _pairs(value, "title", "sent_id")

    @field_validator("context", mode="before")
    @classmethod
    def _join_context(cls, value: Any) -> Any:
        return _pairs(value, "title", "sentences")


def _pairs(value: Any, left: str, right: str) -> Any:
    """The data hub stores a list of pairs as two columns."""
    if not isinstance(value, dict) or not {left, right} <= value.keys():
        return value
    if len(value[left]) != len(value[right]):
        raise ValueError(f"has {len(value[left])} values of {left} and {len(value[right])} of {right}")
    return list(zip(value[left], value[right], strict=True))


def load_hotpotqa(
    path: str | None = None, *, hub: str | None = None, configuration: str = "fullwiki", split: str = "train"
) -> Loaded:
    """The questions of a HotpotQA file, or of a `hub` dataset such as 'hotpotqa/hotpot_qa'.

    Records whose facts do not resolve are rejected, not repaired: in the fullwiki dev file that is
    more than half, because gold paragraphs may be missing there.
    """
    questions: list[Question] = []
    rejected: list[Rejected] = []
    ids: list[tuple[str, str]] = []
    for file in _files(path, hub, configuration, split):
        for row in read_rows(file):
            record = checked(row, _Record, ADVICE)
            ids.append((row.where, record.id))
            if not record.answer.strip():
                raise DataError(f"{row.where}: 'answer' is empty. {ADVICE}")
            documents = [passage(title, sentences) for title, sentences in record.context]
            if reason := trouble(record.supporting_facts, documents):
                rejected.append(Rejected(where=f"{row.where} ({record.id})", reason=reason))
                continue
            questions.append(
                make_question(
                    id=record.id,
                    text=record.question,
                    answers=[record.answer],
                    dataset="hotpotqa",
                    documents=documents,
                    facts=record.supporting_facts,
                    tags={"type": record.type, "level": record.level},
                )
            )
    check_ids(ids)
    if not questions:
        reason = f"the first record was rejected because {rejected[0].reason}" if rejected else "it has no records"
        raise DataError(f"{path or hub}: no question is left of {len(ids)}; {reason}. {ADVICE}")
    return Loaded(questions=tuple(questions), rejected=tuple(rejected), corpus=corpus_of(questions))


def _files(path: str | None, hub: str | None, configuration: str, split: str) -> list[Path]:
    if path is not None:
        return [Path(path).expanduser()]
    if hub is None:
        raise DataError(
            "Dataset 'hotpotqa' needs a path. Get hotpot_train_v1.1.json or hotpot_dev_distractor_v1.json from "
            "hotpotqa.github.io, or set hub = 'hotpotqa/hotpot_qa', or use the dataset 'builtin'."
        )
    return _from_hub(hub, configuration, split)


def _from_hub(hub: str, configuration: str, split: str) -> list[Path]:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise DataError(f"The data hub '{hub}' needs its client: pip install 'shaketable[hub]'.") from error
    wanted = f"{configuration}/{split}-*.parquet"
    try:
        folder = snapshot_download(hub, repo_type="dataset", allow_patterns=wanted, local_files_only=is_offline())
    except Exception as error:  # the client has many ways to fail, and all of them end here
        reason = "SHAKETABLE_OFFLINE is set" if is_offline() else type(error).__name__
        raise DataError(
            f"'{hub}' could not be read from the data hub ({reason}). "
            "Connect to the network, give the path of a file, or use the dataset 'builtin'."
        ) from error
    files = sorted(Path(folder).glob(wanted))
    if not files:
        raise DataError(f"'{hub}' has no files {wanted}. Check configuration and split, or give the path of a file.")
    return files
