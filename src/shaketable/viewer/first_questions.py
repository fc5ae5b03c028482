"""Which questions first results are of."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shaketable.store import RecordStore, Run
from shaketable.store.tables import record_table

N_FIRST = 2000
"""Records that first results are made of, at most: enough to see, few enough not to wait."""


@dataclass(frozen=True, kw_only=True)
class FirstQuestions:
    """Whole questions, so that what is compared stays together, and the first, so that they are answered soonest."""

    n: int
    of: int
    """Questions of the run."""

    @property
    def words(self) -> str:
        """Empty where it is all of them."""
        return f"the first {self.n:,} of {self.of:,} questions" if self.n < self.of else ""


def first_questions(store: RecordStore, n_most: int) -> FirstQuestions:
    """As many as have at most this many trials, and at least one."""
    of = store.n_questions()
    n_trials = max(1, int(store.meta().get("n_trials", 1)))
    return FirstQuestions(n=max(1, min(of, of * n_most // n_trials)), of=of)


def first_records(run: Run, n_most: int = N_FIRST) -> pl.DataFrame:
    """The table of the records of the first questions: soon read, and every factor is in it."""
    return record_table(run.store, first_questions=first_questions(run.store, n_most).n)
