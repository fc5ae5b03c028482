from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from made_facts import fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.breaking import breaking
from shaketable.report.section import Section
from shaketable.report.sections.breaking import section
from shaketable.types import Curve, Scan


def made(table: pl.DataFrame, curves: Sequence[Curve] = (), scan: Scan | None = None, **settings: float) -> Section:
    tables = fact_tables(table, curves, scan=scan)
    result = breaking(tables, **settings)
    return section(result, made_page(tables, result))


def few_facts() -> pl.DataFrame:
    pairs = zip((0.05, 0.10, 0.20, 0.30, 0.40), (1.8, 1.6, 1.6, 0.8, 0.4), strict=True)
    return table_of(*(fact_rows(f"q{i}", scores=known(h), shares=scan(at)) for i, (h, at) in enumerate(pairs)))


def test_a_correlation_with_an_interval_is_claimed_with_its_direction() -> None:
    (headline,) = made(made_facts(n=40)).headlines
    assert headline.sentence.startswith(
        "The entropy of an answer foretells the temperature at which smollm2 loses it: undecided facts break earlier "
        "(Kendall's τ = −0."
    )
    assert headline.claims[0].is_shown
    assert headline.detail.startswith(
        "Over all known facts, those that do not break above all others (n = 30 questions); "
    )
    assert "as published, Pearson's r of " in headline.detail


def test_of_few_facts_nothing_is_claimed() -> None:
    (headline,) = made(few_facts()).headlines
    assert headline.sentence.startswith(
        "That the entropy of an answer foretells the temperature at which smollm2 loses it is not shown (Kendall's τ = "
        "−0.949 ["
    )
    assert headline.sentence.endswith("]; 5 questions are too few to claim anything).")
    assert not headline.is_clear


def test_without_a_correlation_there_is_no_sentence_and_the_table_says_why() -> None:
    of_facts = made(table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0))))
    assert of_facts.headlines == ()
    (table,) = of_facts.tables
    assert table.rows[0] == (
        "smollm2",
        "builtin",
        "τ of entropy and breaking temperature",
        "entropy or breaking temperature does not vary",
        1,
    )
    assert table.rows[1][2:] == ("Pearson's r, as published", "fewer than three broken facts", 1)


def test_breaks_too_early_are_laid_beside_chance() -> None:
    table = table_of(
        fact_rows("q0", scores=known(0.1), shares=scan(1.4)), fact_rows("q1", scores=known(0.1), shares=scan(1.8))
    )
    of_facts = made(table, [made_curve(f"smollm2/builtin/q{i}/0", 1.65) for i in range(2)])
    (headline,) = of_facts.headlines
    assert headline.sentence == "A sampled scan declares 50 % [0, 100] of the facts of smollm2 broken too early."
    assert headline.detail.startswith(
        "Compared with the curve of the model's own probabilities; chance alone explains "
    )
    assert [row[2] for row in of_facts.tables[0].rows] == [
        "τ of entropy and breaking temperature",
        "Pearson's r, as published",
        "broken too early by samples",
        "the same, expected by chance",
    ]


def test_facts_that_are_left_out_are_counted_in_a_caveat() -> None:
    table = table_of(*(fact_rows(f"q{i}", scores=known(0.1)) for i in range(3)))
    nothing = {"low": (0.0,) * 40, "high": (1.0,) * 40, "value": (None,) * 40, "breaking": None}
    curves = [made_curve(f"smollm2/builtin/q{i}/0", 1.0, **(nothing if i else {})) for i in range(3)]
    caveats = made(table, curves, Scan(strategy="none")).caveats
    assert any(caveat.startswith("Left out, without an entropy or a known break: 2 known facts.") for caveat in caveats)


def test_facts_that_do_not_break_are_said_to_be_left_out_or_where_they_count() -> None:
    assert any("facts that do not break are left out of it" in caveat for caveat in made(few_facts()).caveats)
    assert any("counted as breaking at 2.2" in caveat for caveat in made(few_facts(), unbroken=2.2).caveats)


def test_the_picture_has_a_line_for_each_system() -> None:
    (figure,) = made(made_facts(models=("smollm2", "gpt"), n=12)).figures
    assert {(mark.series, mark.panel) for mark in figure.marks} == {("gpt", "builtin"), ("smollm2", "builtin")}
    assert "Breaking temperature" in str(figure.draw().to_dict())
