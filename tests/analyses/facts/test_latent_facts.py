from __future__ import annotations

from made_facts import GRID, fact_rows, fact_tables, known, made_curve, scan, table_of

from shaketable.analyses.facts.latent_facts import latent_facts


def test_a_latent_fact_is_wrong_when_greedy_and_right_when_hotter():
    table = table_of(
        fact_rows("latent", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.0) | {0.8: 0.4, 1.0: 0.4}),
        fact_rows("lost", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.1)),
        fact_rows("known", scores=known(0.1), shares=scan(None)),
    )
    result = latent_facts(fact_tables(table))
    (share,), (fact,) = result.shares, result.facts
    assert (share.share.value, share.share.n, share.n_curves) == (0.5, 2, 0)
    assert (fact.question_id, fact.peak, fact.peak_temperature) == ("latent", 0.4, 0.8)


def test_a_curve_is_preferred_to_samples_for_the_peak():
    table = table_of(fact_rows("q", scores=known(0.1, right=0.0), shares=dict.fromkeys(GRID, 0.3)))
    tables = fact_tables(table, [made_curve("smollm2/builtin/q/0", 1.0, value=(0.0, *[0.15] * 38, None))])
    result = latent_facts(tables)
    assert ([share.share.value for share in result.shares], result.facts) == ([0], ())
    (fact,) = latent_facts(tables, least=0.1).facts
    assert (fact.peak, fact.peak_temperature, fact.source) == (0.15, 0.2, "curve")
