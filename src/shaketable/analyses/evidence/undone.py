"""Perturbations that did something else than they say: they have no verdict, and the reason names what works."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from shaketable import catalog
from shaketable.analyses.score_reading import Narrowed, ScoreReader
from shaketable.errors import PartError
from shaketable.factors import UNCHANGED
from shaketable.types import Undone

MOST_UNDONE = 0.1
"""Share of questions on which a perturbation may fail and still have a verdict."""
SUBSTITUTES = frozenset({"sentences_like_the_question", "capitalized_runs", "no_same_type", "shared_sentences"})
"""Flags of perturbations that were done, in a second-best way or not in every sentence."""
CONDITION = ("dataset", "model", "method", "retriever", "perturbation")
REMEDIES = {
    "no_supporting_sentence": "a mode for data without marked sentences",
    "no_sentence_with_answer": "a mode that needs no sentence with the answer",
    "no_gold_passage": "data with gold passages, or the mode reverse",
    "no_gold_document": "data with gold documents",
    "too_few_passages": "several passages for each question",
    "not_handed_over": "a pipeline that hands over its passages (shaketable docs pipelines)",
}
"""What a perturbation needs whose settings alone cannot help, by the flag."""


def is_undone(flags: Iterable[str]) -> bool:
    """Whether flags of one question's evidence say that the perturbation did not do what it says."""
    return any(
        flag == "fallback_unchanged" or not (flag in SUBSTITUTES or flag.startswith(("fallback", "partly_")))
        for flag in flags
    )


def find_undone(reader: ScoreReader) -> tuple[Undone, ...]:
    """The conditions in which a perturbation was not done on more than a tenth of the questions.

    A question counts where half of its records, over temperatures and repeats, or more say so.
    """
    if not reader.metrics:
        return ()
    scores = reader.of(reader.metrics[0])
    if "flags" not in scores.columns or not scores["flags"].count():
        return ()
    undone = [flags for flags in scores["flags"].unique().drop_nulls().to_list() if is_undone(flags.split())]
    of_question = (
        scores.filter(pl.col("perturbation").is_not_null(), pl.col("perturbation") != UNCHANGED)
        .with_columns(is_undone=pl.col("flags").is_in(undone).fill_null(False))
        .group_by(*CONDITION, "question_id")
        .agg(pl.col("is_undone").mean() >= 1 / 2, flags=pl.col("flags").filter("is_undone").unique())
    )
    conditions = of_question.group_by(CONDITION).agg(
        n=pl.col("is_undone").sum(), n_asked=pl.len(), flags=pl.col("flags").explode().drop_nulls().unique()
    )
    return tuple(
        Undone(**row | {"flags": tuple(sorted({flag for own in row["flags"] for flag in own.split()}))})
        for row in conditions.filter(pl.col("n") > MOST_UNDONE * pl.col("n_asked")).sort(CONDITION).to_dicts()
    )


def describe_undone(undone: Undone, system: str = "") -> str:
    """`No verdict on sentence_removal(mode='last_half'): it did not do what it says on 40 of 40 questions (no …)`."""
    of_system = f" of {system}" if system else ""
    flags = ", ".join(flag.replace("_", " ") for flag in undone.flags if flag != "nothing_changed")
    return (
        f"No verdict on {undone.perturbation}{of_system}: it did not do what it says on {undone.n:,} of "
        f"{undone.n_asked:,} questions ({flags or 'nothing changed'}). {remedy_for(undone.perturbation, undone.flags)}"
    )


def without_verdicts(reader: ScoreReader, undone: Iterable[Undone]) -> ScoreReader:
    """The scores without values in these conditions, so that no analysis speaks of them."""
    rows = [tuple(getattr(own, name) for name in CONDITION) for own in undone]
    if not rows:
        return reader
    named = pl.DataFrame(rows, schema=dict.fromkeys(CONDITION, pl.String), orient="row").with_columns(is_undone=True)

    def keep(scores: pl.DataFrame) -> pl.DataFrame:
        joined = scores.join(named, on=CONDITION, how="left", nulls_equal=True, maintain_order="left")
        left_out = pl.col("is_undone").fill_null(False)
        return joined.with_columns(
            value=pl.when(left_out).then(None).otherwise("value"), is_left_out=pl.col("is_left_out") | left_out
        ).drop("is_undone")

    return Narrowed(reader=reader, keep=keep)


def remedy_for(perturbation: str, flags: Iterable[str]) -> str:
    """What works instead: a setting where there is one."""
    try:
        name, settings = catalog.parse(perturbation)
        fields = {field.name for field in catalog.listed_fields(catalog.find("perturbation", name))}
    except PartError:  # A component of another process.
        name, settings, fields = "", {}, set()
    if name == "sentence_removal" and settings.get("mode") in ("last_half", "answer"):
        return "Use sentence_removal(mode='auto'), its default, which finds the sentences that hold the answer."
    if "sentences" in fields and settings.get("sentences") != "all":
        return f"Use {catalog.write(name, {**settings, 'sentences': 'all'})}."
    needs = [REMEDIES[flag] for flag in flags if flag in REMEDIES]
    return f"It needs {needs[0]}." if needs else "Leave it out, or ask questions on which it can be done."
