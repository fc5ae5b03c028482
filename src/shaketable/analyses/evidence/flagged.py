"""Evidence that could not be disturbed as asked: told apart, and left out where nothing was changed."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from shaketable.analyses.conditions import CONDITION
from shaketable.analyses.tables import Tables
from shaketable.types import LeftOut

NO_FLAGS = {**dict.fromkeys(CONDITION, pl.String), "temperature": pl.Float64, "question_id": pl.String}


def flagged_in(table: pl.DataFrame) -> pl.DataFrame:
    """Conditions and questions with a flag of their evidence; none in tables made without flags."""
    if "flags" not in table.columns:
        return pl.DataFrame(schema=NO_FLAGS)
    return table.filter(pl.col("flags").is_not_null()).select(*CONDITION, "question_id").unique()


def done_as_asked(questions: pl.DataFrame, flagged: pl.DataFrame, mixed: Collection[str]) -> pl.DataFrame:
    """Question means without flagged ones, of the perturbations of which some scored questions are flagged."""
    return questions.filter(pl.col("mean").is_not_null(), pl.col("perturbation").is_in(list(mixed))).join(
        flagged, on=[*CONDITION, "question_id"], how="anti", nulls_equal=True
    )


def mixed_perturbations(tables: Tables) -> set[str]:
    """Those of which, by any number, some scored questions are flagged."""
    mixed: set[str] = set()
    for name in tables.metrics:
        scores = tables.of_metric(name)
        scored = scores.filter(pl.col("value").is_not_null(), pl.col("perturbation").is_not_null())
        some = scored.join(flagged_in(scores), on=[*CONDITION, "question_id"], how="semi", nulls_equal=True)
        mixed.update(some["perturbation"].unique().to_list())
    return mixed


def left_out(tables: Tables) -> tuple[LeftOut, ...]:
    """The questions that are left out of the effects of perturbations that have a verdict, by perturbation."""
    asked_for = ("perturbation", "dataset", "question_id", "flags", "is_left_out")
    scores = map(tables.of_metric, tables.metrics)
    parts = [own.select(asked_for).unique() for own in scores if "is_left_out" in own.columns]
    if not parts:
        return ()
    table = pl.concat(parts).unique()
    asked = table.group_by("perturbation").agg(n=pl.struct("dataset", "question_id").n_unique())
    n_asked = dict(asked.iter_rows())
    no_verdict = [own.perturbation for own in tables.undone]
    without_value = table.filter("is_left_out", ~pl.col("perturbation").is_in(no_verdict))
    return tuple(
        LeftOut(
            perturbation=str(perturbation),
            n=rows.select("dataset", "question_id").n_unique(),
            n_asked=n_asked[perturbation],
            flags=tuple(sorted(set(" ".join(rows["flags"].to_list()).split()))),
        )
        for (perturbation,), rows in sorted(without_value.partition_by("perturbation", as_dict=True).items())
    )
