from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from score_rows import score_rows

from shaketable.analyses.wording.retrieval_quality import retrieval_quality
from shaketable.report.sections.retrieval_quality import section


def test_sentences_say_what_was_measured() -> None:
    before = score_rows({"q1": (1.0, 1.0), "q2": (0.5, 0.5), "q3": (1.0,)}, metric="recall@5", retriever="bm25")
    after = score_rows(
        {"q1": (0.0, 0.5), "q2": (0.5,)}, metric="recall@5", retriever="bm25", perturbation="sentence_removal"
    )
    other = score_rows({"q1": (1.0,)}, metric="mrr@5", retriever="bm25")
    tables = few_tables(pl.concat([before, after, other]))
    result = retrieval_quality(tables)
    texts = [headline.text for headline in section(result, made_page(tables, result)).headlines]
    assert len(texts) == 3
    assert texts[0].startswith("bm25, unchanged: recall@5 is 0.83 [")
    assert texts[1].startswith("bm25, sentence removal: recall@5 is 0.38 [")
    assert texts[2].startswith("bm25: sentence removal is not shown to change recall@5; the loss is 0.38 [")
    assert texts[2].endswith("(n = 2); 2 questions are too few to claim anything.")


def test_what_is_lost_and_what_is_gained_are_told_apart() -> None:
    ids = [f"q{i}" for i in range(12)]
    before, worse, better = (
        score_rows(dict.fromkeys(ids, (value,)), metric="recall@5", retriever="bm25", perturbation=perturbation)
        for value, perturbation in ((0.5, "unchanged"), (0.2, "sentence_removal"), (0.9, "synonym"))
    )
    tables = few_tables(pl.concat([before, worse, better]))
    result = retrieval_quality(tables)
    lost, gained = section(result, made_page(tables, result)).headlines[3:]
    assert lost.sentence.startswith("bm25: sentence removal costs 0.30 [") and lost.is_clear
    assert gained.sentence.startswith("bm25: synonym adds 0.40 [") and gained.is_clear
