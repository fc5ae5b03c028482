"""What a shaken system loses: tables small enough to work out by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from shaketable.analyses.shakes import Shaken
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.shaken import n_changed, shaken
from shaketable.factors import Cell
from shaketable.statistics.betting import CLAIMING, STAKES


def rows(variation, values, *, temperature=0.0, repeat=0, metric="correct"):
    return [
        {
            "question_id": f"q{i:02d}",
            "dataset": "csv",
            "model": "mine",
            "method": "as_asked",
            "retriever": None,
            "variation": variation,
            "perturbation": None,
            "temperature": temperature,
            "repeat": repeat,
            "key": f"{variation} {temperature} {repeat} {i}",
            "metric": metric,
            "value": value,
        }
        for i, value in enumerate(values)
    ]


def shake(*given):
    own = [row for part in given for row in part]
    return shaken(Tables(scores=pl.DataFrame(own, schema_overrides={"value": pl.Float64, "retriever": pl.String})))


CLEAN = rows("original", [1.0] * 20) + rows("original", [1.0] * 20, repeat=1)


def test_a_wording_that_breaks_many_answers_is_the_worst():
    result = shake(CLEAN, rows("spelling", [0.0] * 14 + [1.0] * 6), rows("keywords", [1.0] * 20))
    worst = result.worst
    assert worst is not None and worst.cell == Cell(variation="spelling")
    assert worst.loss.value == pytest.approx(0.7)
    assert (worst.clean, worst.disturbed, worst.loss.n) == (1.0, pytest.approx(0.3), 20)
    assert result.n_ways == 2
    assert [arm.is_shown for arm in result.arms] == [True, False]


def test_the_claim_begins_where_a_bettor_has_won_the_share_of_the_error_that_two_wordings_leave():
    """Without a gain, n losses make the mean of (1 + stake)^n over the stakes; 1 / (0.9 · 0.05 / 2) must be reached."""
    bar = 1 / (CLAIMING * 0.05 / 2)
    least = next(n for n in range(30) if sum((1 + stake) ** n for stake in STAKES) / len(STAKES) >= bar)
    for n, is_shown in ((least - 1, False), (least, True)):
        result = shake(CLEAN, rows("spelling", [0.0] * n + [1.0] * (20 - n)), rows("keywords", [1.0] * 20))
        assert (result.worst is not None) is is_shown
    assert math.isclose(result.arms[0].loss.value, least / 20)


def test_noise_is_how_often_asking_again_changes_an_answer():
    again = rows("original", [0.0] * 5 + [1.0] * 15, repeat=1)
    result = shake(rows("original", [1.0] * 20), again, rows("spelling", [1.0] * 20))
    assert result.noise.value == pytest.approx(0.25)
    assert result.level.value == pytest.approx(0.875)
    assert result.arms[0].loss.value == pytest.approx(-0.125)
    assert result.worst is None and result.examples == ()


def test_agreement_with_the_first_answer_takes_the_second_as_what_can_be_expected():
    first = rows("original", [None] * 20, metric="same_answer")
    again = rows("original", [0.0] * 4 + [1.0] * 16, repeat=1, metric="same_answer")
    result = shake(first, again, rows("spelling", [0.0] * 20, metric="same_answer"))
    assert result.noise.value == pytest.approx(0.2)
    assert result.arms[0].loss.value == pytest.approx(0.8)


def test_answers_that_failed_cannot_make_a_weakness():
    broken = rows("spelling", [0.0] * 10 + [None] * 10)
    result = shake(CLEAN, broken)
    assert result.arms[0].n_failed == 10
    assert result.arms[0].loss.value == pytest.approx(1.0)
    assert result.arms[0].is_shown
    fewer = shake(CLEAN, rows("spelling", [0.0] * 6 + [1.0] * 2 + [None] * 12))
    assert fewer.arms[0].n_failed == 12 and not fewer.arms[0].is_shown


def test_examples_are_questions_that_were_right_and_broke():
    result = shake(CLEAN, rows("spelling", [1.0] * 4 + [0.0] * 16))
    assert [example.question_id for example in result.examples] == ["q04", "q05", "q06"]
    assert result.examples[0].clean == "original 0.0 0 4"
    assert result.examples[0].broken == "spelling 0.0 0 4"


def test_the_smallest_examples_are_those_whose_words_change_least():
    scores = pl.DataFrame(CLEAN + rows("spelling", [1.0] * 4 + [0.0] * 16), schema_overrides={"value": pl.Float64})
    changed = {f"spelling 0.0 0 {i}": "Who rote it hte?" if i != 9 else "Who rote it then?" for i in range(20)}
    asked = {key: changed.get(key, "Who wrote it then?") for key in scores["key"]}
    records = pl.DataFrame({"key": list(asked), "wording": list(asked.values())})
    result = shaken(Tables(scores=scores, read_records=lambda: records))
    assert [example.question_id for example in result.examples] == ["q09", "q04", "q05"]


@pytest.mark.parametrize(("before", "after", "n"), [("a b c", "a b c", 0), ("a b c", "a x c", 2), ("a b", "a b c", 1)])
def test_changed_words_are_those_that_went_and_came(before, after, n):
    assert n_changed(before, after) == n


def test_the_e_value_is_what_a_bettor_won_by_hand():
    [arm] = shake(CLEAN, rows("spelling", [0.0] * 3 + [1.0] * 17)).arms
    assert arm.e_value == pytest.approx(sum((1 + stake) ** 3 for stake in STAKES) / len(STAKES))
    assert arm.e_needed == pytest.approx(1 / (CLAIMING * 0.05))
    assert arm.gains == 0.0


def test_a_temperature_and_a_wording_at_it_are_two_ways():
    result = shake(
        CLEAN,
        rows("spelling", [1.0] * 20),
        rows("original", [1.0] * 20, temperature=1.0),
        rows("spelling", [0.0] * 20, temperature=1.0),
    )
    assert result.n_ways == 3
    assert result.worst is not None and result.worst.cell == Cell(variation="spelling", temperature=1.0)


def test_what_could_have_been_named_is_told_of_each_way():
    result = shake(CLEAN, rows("spelling", [1.0] * 20))
    [arm] = result.arms
    assert arm.detectable is not None and 0.2 < arm.detectable < 0.6
    few = shake(CLEAN, rows("spelling", [1.0] * 3))
    assert few.arms[0].detectable is None


def test_scores_that_judge_nothing_tell_nothing():
    assert shake(rows("original", [0.4], metric="bertscore")) == Shaken()
