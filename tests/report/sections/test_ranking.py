from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import made_study
from score_rows import score_rows

from shaketable.analyses.evidence.ranking import ranking
from shaketable.report.section import Section
from shaketable.report.sections.ranking import section


def crossing() -> pl.DataFrame:
    """Masking costs 0.1 when cool and nothing when hot, removal the other way round; questions differ a little."""
    costs = {"unchanged": (0.0, 0.0), "masking": (0.1, 0.0), "removal": (0.0, 0.1)}
    return pl.concat(
        [
            score_rows(
                {f"q{i:02}": (0.9 - cost * (1 + i / 20),) for i in range(12)},
                perturbation=perturbation,
                temperature=float(temperature),
            )
            for perturbation, both in costs.items()
            for temperature, cost in enumerate(both)
        ]
    )


def section_of(table: pl.DataFrame) -> Section:
    tables = few_tables(table)
    result = ranking(tables)
    return section(result, made_page(tables, result))


def test_a_reversal_is_told_with_both_differences() -> None:
    (headline,) = section_of(crossing()).headlines
    assert headline.sentence == "Masking hurts smollm2 more than removal at temperature 0, and less at temperature 1."
    assert headline.detail.startswith("The difference in lost bertscore is 0.1") and " and −0.1" in headline.detail
    assert headline.is_clear and headline.number.startswith("0.1")


def test_where_all_cost_the_same_nothing_is_claimed() -> None:
    costs = {"unchanged": 0.0, "masking": 0.05, "removal": 0.05}
    (headline,) = section_of(made_study(costs=costs, temperatures=(0.0, 1.0, 2.0), n_questions=30)).headlines
    assert headline.sentence == "No change with temperature is shown in which disturbance hurts smollm2 more."
    assert headline.detail.startswith("Masking against removal: p = ")
    assert "or more would likely have been seen" in headline.detail
    assert not headline.is_clear


def test_costs_that_differ_alike_at_all_temperatures_are_no_change() -> None:
    costs = {"unchanged": 0.0, "masking": 0.05, "removal": 0.1}
    (headline,) = section_of(made_study(costs=costs, temperatures=(0.0, 1.0, 2.0), n_questions=30)).headlines
    assert headline.sentence == (
        "Removal hurts smollm2 more than masking at every temperature tried; that how far they lie apart changes with "
        "temperature is not shown."
    )
    assert headline.is_clear and len(headline.claims) == 4


def test_cells_hold_ranks_and_tables_the_pairs() -> None:
    made = section_of(crossing())
    (matrix,) = made.matrices
    ((name, rows),) = matrix.groups
    assert name == "smollm2, bertscore"
    assert [(line, [cell.mark for cell in cells]) for line, cells in rows] == [
        ("masking", ["rank 1", "rank 2"]),
        ("removal", ["rank 2", "rank 1"]),
    ]
    pairs, taus = made.tables
    assert pairs.rows[0][1:3] == ("masking − removal", "reversal")
    assert str(pairs.rows[0][5]).endswith(" at 1") and str(pairs.rows[0][6]).endswith(" at 0")
    assert taus.is_folded and taus.rows[0][1:] == ("0 and 1", "−1.00", 12)
