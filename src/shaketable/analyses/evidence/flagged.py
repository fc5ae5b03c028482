"""Evidence that could not be disturbed as asked: told apart, and left out where nothing was changed."""

from __future__ import annotations

import polars as pl

from shaketable.analyses.conditions import CONDITION
from shaketable.types import LeftOut

NO_FLAGS = {**dict.fromkeys(CONDITION, pl.String), "temperature": pl.Float64, "question_id": pl.String}


def flagged_in(table: pl.DataFrame) -> pl.DataFrame:
    """Conditions and questions with a flag of their evidence; none in tables made without flags."""
    if "flags" not in table.columns:
        return pl.DataFrame(schema=NO_FLAGS)
    return table.filter(pl.col("flags").is_not_null()).select(*CONDITION, "question_id").unique()


def done_as_asked(questions: pl.DataFrame, flagged: pl.DataFrame) -> pl.DataFrame:
    """Question means without flagged ones, of perturbations of which some scored questions are flagged."""
    same = [*CONDITION, "question_id"]
    scored = questions.filter(pl.col("mean").is_not_null())
    mixed = scored.join(flagged, on=same, how="semi", nulls_equal=True).select("perturbation").unique()
    return scored.join(flagged, on=same, how="anti", nulls_equal=True).join(mixed, on="perturbation", how="semi")


def left_out(table: pl.DataFrame) -> tuple[LeftOut, ...]:
    """The questions that are left out of the effects of perturbations, by perturbation."""
    if "is_left_out" not in table.columns:
        return ()
    asked = table.group_by("perturbation").agg(n=pl.struct("dataset", "question_id").n_unique())
    n_asked = dict(asked.iter_rows())
    without_value = table.filter("is_left_out")
    return tuple(
        LeftOut(
            perturbation=str(perturbation),
            n=rows.select("dataset", "question_id").n_unique(),
            n_asked=n_asked[perturbation],
            flags=tuple(sorted(set(" ".join(rows["flags"].to_list()).split()))),
        )
        for (perturbation,), rows in sorted(without_value.partition_by("perturbation", as_dict=True).items())
    )
