from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_facts import fact_rows, known, table_of

from shaketable.analyses.facts.certainty_bins import bin_of, certainty_bins


@pytest.mark.parametrize(
    ("certainty", "place"),
    [(0.0, 0), (0.0999, 0), (0.1, 1), ((0.9 + 0.7 + 0.8) / 3, 8), (0.9, 9), (0.7 + 0.2, 9), (1.0, 9), (0.95, 9)],
)
def test_bins_hold_their_lower_end(certainty, place):
    # The third is the example of the specification, 7.1: the mean of .9, .7, .8 belongs to [.8, .9).
    assert bin_of(certainty) == place


def made(certainties):
    """One known fact: answers at temperature 1 with these certainties, the first half of them correct."""
    n = len(certainties)
    rows = fact_rows("q", scores=known(0.1, certainty=1.0), shares={1.0: 0.5}, n=n)
    hot = [row for row in rows if row["temperature"] == 1.0]
    return table_of(rows, [row | {"metric": "certainty", "value": c} for row, c in zip(hot, certainties, strict=True)])


def test_answers_are_counted_by_certainty_and_correctness():
    finding = certainty_bins(made([0.95, 0.35, 0.92, 0.05]))
    shares = {(row["bin"], row["is_correct"]): row["value"] for row in finding.rows if row["temperature"] == 1.0}
    assert {place: share for place, share in shares.items() if share and place[0] is not None} == {
        (0.9, True): 0.25,
        (0.3, True): 0.25,
        (0.9, False): 0.25,
        (0.0, False): 0.25,
    }
    of = {row["kind"]: row["value"] for row in finding.rows if row["temperature"] == 1.0}
    assert of["certainty"] == pytest.approx((0.95 + 0.35 + 0.92 + 0.05) / 4)
    assert of["sure_and_wrong"] == 0.5
    assert finding.sentences[0].startswith(
        "Of the answers that smollm2 gives at temperature 1 with a certainty of 0.9 or more, 50 %"
    )


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10).filter(lambda values: len(values) % 2 == 0))
def test_the_bins_of_a_temperature_add_up_to_one(certainties):
    rows = certainty_bins(made(certainties), n_resamples=10).rows
    for temperature in (0.0, 1.0):
        here = [row["value"] for row in rows if row["kind"] == "bin" and row["temperature"] == temperature]
        assert sum(here) == pytest.approx(1)


def test_without_certain_answers_nothing_is_said_of_them():
    finding = certainty_bins(made([0.5, 0.4]))
    assert [row["value"] for row in finding.rows if row["kind"] == "sure_and_wrong" and row["temperature"]] == [None]
    assert finding.sentences == ()


def test_all_questions_can_be_taken_instead_of_known_facts():
    rows = fact_rows("q", scores=known(0.1, right=0.0, certainty=0.5))
    assert certainty_bins(table_of(rows)).rows == ()
    assert certainty_bins(table_of(rows), known="").rows
