"""Where repeats end of themselves one wording has more runs than another: what is compared, what weighs how much."""

from __future__ import annotations

import polars as pl
from made_wordings import made, only, tables_of, trial

from shaketable.analyses.wording.answers import group_replies
from shaketable.analyses.wording.retrieval_quality import retrieval_quality


def runs(counts, failed=()):
    """Of one question, so many runs of each variation; those that failed have no answer."""
    return [
        trial("q", variation, repeat=repeat, answer=None if (variation, repeat) in failed else f"{variation} {repeat}")
        for variation, n in counts.items()
        for repeat in range(n)
    ]


def replies_of(trials):
    [asked] = group_replies(made(trials)[1])
    return asked


def test_a_set_is_of_a_run_that_all_wordings_have() -> None:
    asked = replies_of(runs({"original": 4, "spelling": 2, "formality": 4}))
    assert [sorted(reply.answer for reply in run) for _, run in asked.sets()] == [
        ["formality 0", "original 0", "spelling 0"],
        ["formality 1", "original 1", "spelling 1"],
    ]


def test_a_run_in_which_a_wording_failed_is_still_a_run_of_the_others() -> None:
    asked = replies_of(runs({"original": 2, "spelling": 2, "formality": 2}, failed=[("spelling", 1)]))
    assert [len(run) for _, run in asked.sets()] == [3, 2]


def test_pairs_are_of_the_same_run_and_means_of_all() -> None:
    asked = replies_of(runs({"original": 5, "spelling": 2}))
    assert [(original.repeat, reworded.repeat) for original, reworded in asked.pairs()] == [(0, 0), (1, 1)]
    assert asked.means(lambda reply: float(reply.repeat)) == {"original": {"q": 2.0}, "spelling": {"q": 0.5}}


def test_a_temperature_that_was_repeated_more_often_weighs_no_more_in_retrieval() -> None:
    """Recall 1 at temperature 0, once, and 0 at temperature 1, four times: the mean is one half."""
    cool = [trial("q", temperature=0.0, correct=1.0)]
    hot = [trial("q", temperature=1.0, repeat=repeat, correct=0.0, wording=f"hot {repeat}") for repeat in range(4)]
    tables = tables_of([*cool, *hot])
    scores = tables.scores.with_columns(metric=pl.lit("recall@5"), retriever=pl.lit("bm25"))
    quality = retrieval_quality(type(tables)(scores=scores, bootstrap=tables.bootstrap))
    assert only(quality.levels, retriever="bm25").estimate.value == 0.5
