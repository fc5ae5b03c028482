"""Tables with the names and in the layout of "How You Ask Matters!"."""

from __future__ import annotations

from typing import Any

from made_page import made_page
from made_wordings import NO_RETRIEVAL, tables_of, trial

from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.report.section import Section, Table
from shaketable.report.sections import cost_stability as costs
from shaketable.report.sections import wording_accuracy as accuracy


def trials() -> list[dict[str, Any]]:
    """Two methods on two datasets: misspelling doubles the searches and halves what is right."""
    return [
        trial(
            f"{dataset}{i}",
            name,
            dataset=dataset,
            correct=float(name == "original" or i % 2),
            **(
                {"n_searches": 2 if name == "original" else 4, "method": "search_o1(k=3)"}
                if method == "GB"
                else NO_RETRIEVAL
            ),
        )
        for dataset in ("nq", "squad")
        for i in range(4)
        for name in ("original", "spelling")
        for method in ("GB", "NR")
    ]


def table_of(made: Section, title: str) -> Table:
    (table,) = [table for table in made.tables if table.title == f"{title}, as the paper prints it"]
    return table


def test_datasets_and_methods_stand_down_and_wordings_across() -> None:
    tables = tables_of(trials())
    result = cost_stability(tables)
    table = table_of(costs.section(result, made_page(tables, result)), "RE of the retriever")
    # |4 − 2| / 2 = 1; counts 2 and 4 have the coefficient 1/3, and CVR 3/4.
    assert table.columns == ("Dataset", "Method", "spelling", "CVR")
    assert [row for row in table.rows if row[0] != "all datasets"] == [
        ("nq", "GB (search o1 (k: 3))", "1.000", "0.750"),
        ("squad", "GB (search o1 (k: 3))", "1.000", "0.750"),
    ]


def test_inaccuracy_is_printed_in_percent() -> None:
    made = tables_of(trials())
    result = wording_accuracy(made)
    section = accuracy.section(result, made_page(made, result))
    table = table_of(section, "InAccuracy (contains)")
    assert table.columns == ("Dataset", "Method", "original", "spelling")
    assert ("nq", "NR (closed book)", "100.0 %", "50.0 %") in table.rows


def test_one_wording_has_no_such_table() -> None:
    made = tables_of([own for own in trials() if own["variation"] == "original"])
    result = wording_accuracy(made)
    section = accuracy.section(result, made_page(made, result))
    assert not [table for table in section.tables if "paper" in table.title]
