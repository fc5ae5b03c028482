from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from made_facts import fact_rows, fact_tables, foretold_facts, known, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.predict_breaking import predict_breaking
from shaketable.report.section import Section
from shaketable.report.sections.predict_breaking import section
from shaketable.types import Curve, Scan


def made(table: pl.DataFrame, curves: Sequence[Curve] = (), strategy: str = "full") -> Section:
    tables = fact_tables(table, curves, scan=Scan(strategy=strategy))
    result = predict_breaking(tables)
    return section(result, made_page(tables, result))


def test_entropy_that_decides_alone_foretells_and_nothing_adds_to_it() -> None:
    (headline,) = made(*foretold_facts(), "none").headlines
    assert headline.sentence.startswith("Entropy alone foretells when smollm2 loses a fact: R² is 0.99")
    assert headline.sentence.endswith("; that anything else adds to it is not shown.")
    assert headline.detail == "R² is the share of variance foretold in unseen facts (n = 60 questions)."


def test_what_adds_to_entropy_is_named() -> None:
    (headline,) = made(*foretold_facts(weight=0.5), "none").headlines
    assert "; margin add 0." in headline.sentence or "; margin + length add 0." in headline.sentence


def test_noise_was_not_shown_to_foretell() -> None:
    rng = np.random.default_rng(3)
    rows = [
        fact_rows(f"q{i}", scores=known(rng.uniform()), shares=scan(rng.choice([0.4, 1.0, 1.8]))) for i in range(50)
    ]
    (headline,) = made(table_of(*rows)).headlines
    assert headline.sentence.startswith("That entropy alone foretells when smollm2 loses a fact is not shown: R² is")


def test_the_table_says_why_too_few_facts_are_not_fitted() -> None:
    of_facts = made(made_facts(n=8))
    assert of_facts.headlines == ()
    ((system, predictors, what, estimate, _),) = of_facts.tables[0].rows
    assert (system, predictors, what) == ("smollm2", "entropy", "R²")
    assert str(estimate).endswith("25 are needed")


def test_fits_come_before_gains() -> None:
    rows = made(*foretold_facts(), "none").tables[0].rows
    assert [row[2] for row in rows] == ["R²"] * 3 + ["more than entropy alone"] * 2
