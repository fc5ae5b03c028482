from __future__ import annotations

from made_facts import GRID, fact_rows, fact_tables, known, made_curve, table_of
from made_page import made_page

from shaketable.analyses.facts.latent_facts import latent_facts
from shaketable.report.sections.latent_facts import section


def test_latent_facts_are_counted_and_listed() -> None:
    table = table_of(
        fact_rows("latent", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.0) | {0.8: 0.4, 1.0: 0.4}),
        fact_rows("lost", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.1)),
    )
    tables = fact_tables(table)
    of_facts = section(latent_facts(tables), made_page(tables))
    (headline,) = of_facts.headlines
    assert headline.sentence == (
        "Of the facts that smollm2 gets wrong when greedy, 50 % [0, 100] are right in at least 20 % of the answers at "
        "some higher temperature."
    )
    assert headline.detail == "Sampling several answers may bring them out (n = 2 questions)."
    assert [row[1:] for row in of_facts.tables[0].rows] == [("latent", "", "40 % at 0.8")]
    assert any("chance alone lifts it" in caveat for caveat in of_facts.caveats)


def test_without_latent_facts_there_is_no_sentence() -> None:
    table = table_of(fact_rows("q", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.3)))
    tables = fact_tables(table, [made_curve("smollm2/builtin/q/0", 1.0, value=(0.0, *[0.15] * 38, None))])
    of_facts = section(latent_facts(tables), made_page(tables))
    assert (of_facts.headlines, of_facts.tables) == ((), ())
