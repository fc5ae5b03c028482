"""Are reworded questions longer, less likely, or further from the original for the model that reads them?"""

from __future__ import annotations

import polars as pl

from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    ORIGINAL,
    Asked,
    Number,
    Row,
    asked_of,
    differences,
    finding_of,
    nothing_row,
    number_rows,
    scores_of,
    tell,
    told_variation,
)
from shaketable.analyses.wording.vectors import ENCODER, Vectors, vectors_of
from shaketable.report.old_words import bounds, number, questions, sentence_case
from shaketable.types import OldFinding

NAME = "query_difficulty"
NO_NUMBERS = "query_loss was not scored; add query_loss to score.metrics"


def query_difficulty(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    encoder: str = ENCODER,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Length in words (`query_words`) and tokens, loss under the answering model, and similarity of each wording.

    Wordings count once, however many systems and runs were asked. Loss is the mean negative log-likelihood of the
    wording's tokens, in nats; it and `query_tokens` come from the metric `query_loss`.
    """
    rows: list[Row] = []
    if records is not None and len(table):
        once = _once(records)
        numbers = {name: scores_of(table, name) for name in ("query_loss", "query_tokens")}
        vectors = vectors_of(once["wording"], encoder)
        for asked in asked_of(once, **numbers):
            rows += number_rows(NAME, asked, _numbers(asked, vectors), confidence=confidence, n_resamples=n_resamples)
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    _add_sentences(rows)
    return finding_of(
        NAME,
        "Are reworded questions harder to read for a model?",
        rows,
        (f"Wordings are compared as vectors of {encoder}.",),
        confidence=confidence,
        n_resamples=n_resamples,
        encoder=encoder,
    )


def _once(records: pl.DataFrame) -> pl.DataFrame:
    """Each wording once for each model and dataset, by a trial that did not fail where there is one."""
    nowhere = [pl.lit(None, dtype=pl.String).alias(name) for name in ("method", "retriever", "perturbation")]
    return (
        records.sort(pl.col("answer").is_null(), "key")
        .unique(("dataset", "model", "question_id", "variation", "wording"), keep="first", maintain_order=True)
        .with_columns(*nowhere, temperature=pl.lit(None, dtype=pl.Float64), repeat=pl.lit(0))
    )


def _numbers(asked: Asked, vectors: Vectors) -> list[Number]:
    numbers = differences(asked, "query_words", lambda row: float(len(row["wording"].split())), "count")
    for name in ("query_loss", "query_tokens"):
        if any(row[name] is not None for rows in asked.answers.values() for row in rows):
            numbers += differences(asked, name, lambda row, name=name: row[name], "score")  # type: ignore[misc]
        else:
            numbers.append(Number(metric=name, variation=None, values={}, reason=NO_NUMBERS))
    alike = asked.paired(lambda original, reworded: vectors.similarity(original["wording"], reworded["wording"]))
    return numbers + [
        Number(metric="query_similarity", variation=variation, values=alike.get(variation, {}), reason=vectors.reason)
        for variation in asked.reworded
    ]


def _add_sentences(rows: list[Row]) -> None:
    """One for each model and dataset: the wording with the highest loss, else the longest change in length."""
    places: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row["value"] is not None and not row["contrast"] and row["variation"]:
            places.setdefault((row["system"], row["dataset"]), []).append(row)
    for found in places.values():
        of = {(row["metric"], row["variation"]): row for row in found}
        losses = [row for row in found if row["metric"] == "query_loss" and row["variation"] != ORIGINAL]
        original = of.get(("query_loss", ORIGINAL))
        if not losses or original is None:
            continue
        most = max(losses, key=lambda row: row["value"])
        words, before = of["query_words", most["variation"]], of["query_words", ORIGINAL]
        sentence = (
            f"{sentence_case(told_variation(most['variation']))} makes the least likely questions for {most['model']} "
            f"on {most['dataset']}: {number(most['value'], 'score')}{bounds(most)} nats a token, "
            f"{number(original['value'], 'score')}{bounds(original)} before."
        )
        lengths = f"{number(words['value'], 'score')} words, {number(before['value'], 'score')} before"
        tell(most, "query", sentence, f"{lengths} ({questions(most['n'])}).")
