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
    texts = [headline.text for headline in section(retrieval_quality(tables), made_page(tables)).headlines]
    assert len(texts) == 3
    assert texts[0].startswith("bm25, unchanged: recall@5 is 0.83 [")
    assert texts[1].startswith("bm25, sentence removal: recall@5 is 0.38 [")
    assert texts[2].startswith("bm25: sentence removal costs 0.38 [") and texts[2].endswith("(n = 2) of recall@5.")
