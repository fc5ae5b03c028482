"""Evidence that could not be disturbed as asked: told apart, and left out where nothing was changed."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from shaketable.analyses.conditions import CONDITION
from shaketable.report.words import named, sentence_case
from shaketable.types import Finding

AS_ASKED = ", as asked"
"""Behind the name of a perturbation: without the questions whose evidence carries a flag."""
HEADLINE = {"headline", "sentence", "detail"}
"""Columns of rows that can become cards."""
NO_FLAGS = {**dict.fromkeys(CONDITION, pl.String), "temperature": pl.Float64, "question_id": pl.String}


def flagged_in(table: pl.DataFrame) -> pl.DataFrame:
    """Conditions and questions with a flag of their evidence; none in tables made without flags."""
    if "flags" not in table.columns:
        return pl.DataFrame(schema=NO_FLAGS)
    return table.filter(pl.col("flags").is_not_null()).select(*CONDITION, "question_id").unique()


def done_as_asked(questions: pl.DataFrame, flagged: pl.DataFrame) -> pl.DataFrame:
    """Question means without flagged ones, of perturbations of which some scored questions are flagged."""
    place = [*CONDITION, "question_id"]
    scored = questions.filter(pl.col("mean").is_not_null())
    mixed = scored.join(flagged, on=place, how="semi", nulls_equal=True).select("perturbation").unique()
    kept = scored.join(flagged, on=place, how="anti", nulls_equal=True).join(mixed, on="perturbation", how="semi")
    return kept.with_columns(pl.concat_str("perturbation", pl.lit(AS_ASKED)))


def without_flagged(table: pl.DataFrame) -> pl.DataFrame | None:
    """The scores whose evidence was disturbed as asked; None: all of them were, as far as they have a value."""
    if "flags" not in table.columns:
        return None
    is_flagged = pl.col("flags").is_not_null()
    return table.filter(~is_flagged) if table.filter(is_flagged)["value"].count() else None


def as_asked(finding: Finding) -> Finding:
    """A finding of such scores, under a name of its own. It makes no headlines: those are of all questions."""
    name = f"{finding.analysis}{AS_ASKED}"
    return replace(
        finding,
        analysis=name,
        question=f"Where every disturbance was done as asked: {finding.question[0].lower()}{finding.question[1:]}",
        rows=tuple({**row, "analysis": name} | dict.fromkeys(row.keys() & HEADLINE) for row in finding.rows),
        caveats=("Without the questions whose evidence carries a flag of that disturbance.", *finding.caveats),
    )


def left_out(table: pl.DataFrame) -> dict[str, str]:
    """Perturbation → what must be said of the questions that are left out of its effect, and why."""
    if "flags" not in table.columns:
        return {}
    asked = table.group_by("perturbation").agg(n=pl.struct("dataset", "question_id").n_unique())
    n_asked = dict(asked.iter_rows())
    out = table.filter(pl.col("reason").str.starts_with("left out: "))
    told = {}
    for (perturbation,), rows in sorted(out.partition_by("perturbation", as_dict=True).items()):
        n, of = rows.select("dataset", "question_id").n_unique(), n_asked[perturbation]
        why = ", ".join(sorted(set(" ".join(rows["flags"].to_list()).split())))
        cause = sentence_case(named(str(perturbation)))
        told[str(perturbation)] = (
            f"{cause} was done on none of the {of} questions ({why}): it has no effect to tell."
            if n == of
            else f"{cause}: {n} of {of} questions are left out of its effect ({why})."
        )
    return told
