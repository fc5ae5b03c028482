from __future__ import annotations

import pytest
from made_facts import fact_rows, fact_tables, known, scan, table_of
from scipy import stats

from shaketable.analyses.facts.robustness_with_evidence import robustness_with_evidence

CLOSED = {"method": "recall"}
ORIGINAL = {"method": "recall(k=5)", "retriever": "gold", "perturbation": "unchanged"}
DISTURBED = ORIGINAL | {"perturbation": "sentence_removal"}


def right(name, entropy, breaking, **where):
    return fact_rows(name, scores=known(entropy), shares=scan(breaking), **where)


def wrong(name, entropy, **where):
    return fact_rows(name, scores=known(entropy, right=0.0), **where)


def of_d_1(scores):
    """By perturbation; None is closed book."""
    return {score.cell.perturbation: score for score in scores if score.d == 1}


# Worked by hand, d = 1; right ones are rows of the study's table. a closed: f = .75 - .25 = .5, 1.5 / 2.5 = .6;
# b disturbed: f = .5 - .5 = 0, 1 / 2 = .5. c is wrong everywhere and no fact.
WORKED = table_of(
    wrong("a", 0.25, **CLOSED),
    right("a", 0.10, 1.0, **ORIGINAL),  # .733333
    right("a", 0.25, 0.6, **DISTURBED),  # .671458
    right("b", 0.10, 0.2, **CLOSED),  # .666296
    right("b", 0.00, 2.0, **ORIGINAL),  # .8
    wrong("b", 0.50, **DISTURBED),
    *(wrong("c", 0.9, **where) for where in (CLOSED, ORIGINAL, DISTURBED)),
)


def test_gain_and_loss_over_the_union_of_known_facts_worked_by_hand():
    result = robustness_with_evidence(fact_tables(WORKED))
    scores = {evidence: (score.score.value, score.score.n) for evidence, score in of_d_1(result.scores).items()}
    assert scores == {
        None: (pytest.approx((0.6 + 0.666296) / 2, abs=1e-6), 2),
        "unchanged": (pytest.approx((0.733333 + 0.8) / 2, abs=1e-6), 2),
        "sentence_removal": (pytest.approx((0.671458 + 0.5) / 2, abs=1e-6), 2),
    }
    gains, losses = of_d_1(result.gains), of_d_1(result.losses)
    assert (list(gains), list(losses)) == (["unchanged"], ["sentence_removal"])
    gain = gains["unchanged"].score
    assert gain.value == pytest.approx((0.133333 + 0.133704) / 2, abs=1e-6)
    t_interval = stats.ttest_1samp([0.133333, 0.133704], 0).confidence_interval()
    assert [gain.low, gain.high] == pytest.approx([t_interval.low, t_interval.high], abs=1e-5)
    assert losses["sentence_removal"].score.value == pytest.approx((0.061875 + 0.3) / 2, abs=1e-6)
    assert result.spreads == ()


def test_the_spread_is_the_range_of_a_fact_over_its_wordings():
    other = {"variation": "typos"}
    table = table_of(
        right("a", 0.10, 1.0, **ORIGINAL), wrong("a", 0.25, **ORIGINAL, **other),  # .733333 and .6
        right("b", 0.00, 2.0, **ORIGINAL), right("b", 0.00, None, **ORIGINAL, **other),  # .8 and 1
        *(wrong(name, 0.25, **CLOSED, **more) for name in "ab" for more in ({}, other)),
    )  # fmt: skip
    result = robustness_with_evidence(fact_tables(table))
    spreads = of_d_1(result.spreads)
    assert spreads["unchanged"].score.value == pytest.approx((0.133333 + 0.2) / 2, abs=1e-6)
    assert spreads[None].score.value == 0
    # Of each fact the mean over wordings, less .6 closed book.
    gain = of_d_1(result.gains)["unchanged"].score
    assert gain.value == pytest.approx(((0.733333 + 0.6) / 2 + 0.9) / 2 - 0.6, abs=1e-6)


def test_a_fact_that_is_right_and_was_not_scanned_is_counted_and_not_taken_for_unbroken():
    table = table_of(
        right("a", 0.10, 1.0, **ORIGINAL),
        wrong("a", 0.25, **CLOSED),
        right("b", 0.10, 1.0, **ORIGINAL),
        fact_rows("b", scores=known(0.1), **CLOSED),
    )
    result = robustness_with_evidence(fact_tables(table))
    closed = of_d_1(result.scores)[None]
    assert (closed.score.n, closed.n_missing, closed.score.value) == (1, 1, pytest.approx(0.6))
    gain = of_d_1(result.gains)["unchanged"].score
    assert (gain.n, gain.value) == (1, pytest.approx(0.133333, abs=1e-6))


def test_without_evidence_or_known_facts_there_is_nothing_to_tell():
    for table in (
        table_of(right("a", 0.1, 1.0, **CLOSED)),
        table_of(wrong("a", 0.1, **CLOSED), wrong("a", 0.1, **ORIGINAL)),
    ):
        result = robustness_with_evidence(fact_tables(table))
        assert (result.scores, result.spreads, result.gains, result.losses) == ((), (), (), ())
