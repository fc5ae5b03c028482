from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_study import made_study
from score_rows import score_rows

from shaketable.analyses.evidence.ranking import Ranking, ranking


def ranked(table: pl.DataFrame) -> Ranking:
    return ranking(few_tables(table))


def crossing(n_questions: int = 12) -> pl.DataFrame:
    """Masking costs 0.1 when cool and nothing when hot, removal the other way round; questions differ a little."""
    costs = {("unchanged", 0.0): 0, ("unchanged", 1.0): 0, ("masking", 0.0): 0.1, ("masking", 1.0): 0.0}
    costs |= {("removal", 0.0): 0.0, ("removal", 1.0): 0.1}
    return pl.concat(
        [
            score_rows(
                {f"q{i:02}": (0.9 - cost * (1 + i / 20),) for i in range(n_questions)},
                perturbation=perturbation,
                temperature=temperature,
            )
            for (perturbation, temperature), cost in costs.items()
        ]
    )


def test_a_reversal_is_found() -> None:
    result = ranked(crossing())
    assert [(own.cell.perturbation, own.other) for own in result.contrasts] == [("masking", "removal")] * 2
    cool, hot = (own.difference for own in result.contrasts)
    assert cool.low is not None and hot.high is not None and cool.low > 0 > hot.high
    assert [own.p for own in result.contrasts] == [2 / 2**12] * 2
    (pair,) = result.interactions
    assert (pair.p, pair.strength.n) == (2 / 2**12, 12) and (pair.strength.value or 0) > 0.9
    (agreement,) = result.agreements
    assert (agreement.cell.temperature, agreement.other_temperature, agreement.tau.value) == (0, 1, -1)


def test_ranks_put_the_largest_drop_first() -> None:
    ranks = {(own.cell.perturbation, own.cell.temperature): own.rank for own in ranked(crossing()).drops}
    assert ranks == {("masking", 0.0): 1, ("removal", 0.0): 2, ("masking", 1.0): 2, ("removal", 1.0): 1}


COSTS = {"unchanged": 0.0, "masking": 0.05, "removal": 0.1}


def test_costs_that_differ_alike_at_all_temperatures_are_no_interaction() -> None:
    result = ranked(made_study(costs=COSTS, temperatures=(0.0, 1.0, 2.0), n_questions=30))
    (pair,) = (own for own in result.interactions if own.cell.group is None)
    assert pair.p is not None and pair.p > 0.05
    assert pair.strength.low is not None and pair.strength.low <= 0


def test_what_may_be_claimed_are_interactions_and_contrasts_whose_temperatures_weigh_as_one() -> None:
    claims = list(ranked(made_study(costs=COSTS, temperatures=(0.0, 1.0, 2.0), n_questions=30)).claims())
    assert [claim.subject.kind for claim in claims] == ["ranking", *["contrast"] * 3]
    assert {claim.subject.cell.group for claim in claims} == {None}
    assert sum(claim.weight for claim in claims[1:]) == 1


def test_questions_with_a_hole_are_left_out_of_contrasts_and_counted() -> None:
    table = crossing().with_columns(
        value=pl.when((pl.col("question_id") == "q03") & (pl.col("perturbation") == "removal"))
        .then(None)
        .otherwise("value")
    )
    contrasts = ranked(table).contrasts
    assert {(own.difference.n, own.n_left_out, own.n_missing) for own in contrasts} == {(11, 1, 2)}


def test_one_disturbance_has_a_rank_and_no_rival() -> None:
    result = ranked(crossing().filter(pl.col("perturbation") != "removal"))
    assert [own.rank for own in result.drops] == [1, 1]
    assert result.contrasts == result.interactions == result.agreements == ()
