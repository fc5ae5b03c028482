from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import made_study

from shaketable.analyses.evidence.amplification import amplification
from shaketable.report.section import Section
from shaketable.report.sections.amplification import section


def section_of(table: pl.DataFrame) -> Section:
    tables = few_tables(table)
    result = amplification(tables)
    return section(result, made_page(tables, result))


def test_growing_costs_are_told() -> None:
    (headline,) = section_of(made_study(costs={"unchanged": 0.0, "noise": 0.05}, growth=1.0)).headlines
    assert headline.sentence.startswith("The higher the temperature of smollm2, the more noise costs it: 0.0")
    assert headline.sentence.endswith(" bertscore per unit of temperature.")
    assert (headline.detail, headline.is_clear) == ("Measured on 20 questions.", True)


def test_shrinking_costs_are_told() -> None:
    (headline,) = section_of(made_study(costs={"unchanged": 0.0, "noise": 0.05}, growth=-0.4)).headlines
    assert headline.sentence.startswith("The higher the temperature of smollm2, the less noise costs it: −0.0")


def test_steady_costs_are_not_said_to_change() -> None:
    (headline,) = section_of(made_study(costs={"unchanged": 0.0, "noise": 0.05})).headlines
    assert headline.sentence.startswith("Noise: no change of its cost with temperature is shown for smollm2 (")
    assert "or more would likely have been seen" in headline.detail
    assert not headline.is_clear


def test_cells_are_multiples_of_the_coolest_and_the_last_tells_the_slope() -> None:
    made = section_of(made_study(costs={"unchanged": 0.0, "noise": 0.05}, growth=1.0, temperatures=(0.0, 1.0, 2.0)))
    pooled, typed = made.matrices
    assert pooled.columns == ("0", "1", "2", "Slope per unit") and typed.is_folded
    ((_, ((name, cells),)),) = pooled.groups
    assert name == "noise"
    assert (cells[0].mark, cells[0].lines) == ("× 1.00", ("[1.00, 1.00]",))
    assert cells[1].mark.startswith(("× 1.9", "× 2.")) and cells[3].mark == "▲ grows"
    assert typed.groups[0][1][0][1][3].mark == ""  # Types are explored, and get no verdict.


def test_a_drop_of_next_to_nothing_is_named_in_the_cells_and_the_caveats() -> None:
    made = section_of(made_study(costs={"unchanged": 0.0, "noise": 0.0}, noise=0.0, temperatures=(0.0, 1.0)))
    cell = made.matrices[0].groups[0][1][0][1][1]
    assert (cell.mark, cell.lines) == ("–", ("the drop at the lowest temperature is below 0.001",))
    assert "Ratios are left out where the drop they are divided by may be below 0.001." in made.caveats
