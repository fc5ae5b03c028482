"""What the judging models behind scores were asked."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable import catalog
from shaketable.store.records import RecordStore
from shaketable.types import JudgeEffort


def judge_efforts(store: RecordStore, metrics: Sequence[str]) -> tuple[JudgeEffort, ...]:
    """Of each metric that asked one."""
    efforts = []
    for part in (catalog.build("metric", text) for text in metrics):
        verdicts = store.verdicts(catalog.spelled(part)).values()
        if verdicts:
            efforts.append(
                JudgeEffort(
                    judge=catalog.label(part),
                    n_calls=len(verdicts),
                    n_prompt_tokens=sum(verdict.n_prompt_tokens for verdict in verdicts),
                    n_tokens=sum(verdict.n_tokens for verdict in verdicts),
                    n_unclear=sum(verdict.value is None for verdict in verdicts),
                )
            )
    return tuple(efforts)
