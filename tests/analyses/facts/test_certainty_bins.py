from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_facts import fact_rows, fact_tables, known, made_certainties, table_of

from shaketable.analyses.facts.certainty_bins import bin_of, certainty_bins


@pytest.mark.parametrize(
    ("certainty", "place"),
    [(0.0, 0), (0.0999, 0), (0.1, 1), ((0.9 + 0.7 + 0.8) / 3, 8), (0.9, 9), (0.7 + 0.2, 9), (1.0, 9), (0.95, 9)],
)
def test_bins_hold_their_lower_end(certainty, place):
    # The third is the example of the specification, 7.1: the mean of .9, .7, .8 belongs to [.8, .9).
    assert bin_of(certainty) == place


def at_1(values):
    return [value for value in values if value.cell.temperature == 1.0]


def test_answers_are_counted_by_certainty_and_correctness():
    result = certainty_bins(fact_tables(made_certainties([0.95, 0.35, 0.92, 0.05])))
    shares = {(bin.start, bin.is_correct): bin.share.value for bin in at_1(result.bins)}
    assert {place: share for place, share in shares.items() if share} == {
        (0.9, True): 0.25,
        (0.3, True): 0.25,
        (0.9, False): 0.25,
        (0.0, False): 0.25,
    }
    ((mean,), (sure,)) = at_1(result.certainties), at_1(result.sure_and_wrong)
    assert mean.certainty.value == pytest.approx((0.95 + 0.35 + 0.92 + 0.05) / 4)
    assert (sure.share.value, sure.n_answers) == (0.5, 4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10).filter(lambda values: len(values) % 2 == 0))
def test_the_bins_of_a_temperature_add_up_to_one(certainties):
    bins = certainty_bins(fact_tables(made_certainties(certainties), n_resamples=10)).bins
    for temperature in (0.0, 1.0):
        assert sum(bin.share.value for bin in bins if bin.cell.temperature == temperature) == pytest.approx(1)


def test_without_certain_answers_nothing_is_known_of_them():
    (sure,) = at_1(certainty_bins(fact_tables(made_certainties([0.5, 0.4]))).sure_and_wrong)
    assert (sure.share.value, sure.share.reason) == (None, "no answer is that certain")


def test_all_questions_can_be_taken_instead_of_known_facts():
    tables = fact_tables(table_of(fact_rows("q", scores=known(0.1, right=0.0, certainty=0.5))))
    assert certainty_bins(tables).bins == ()
    assert certainty_bins(tables, known="").bins
