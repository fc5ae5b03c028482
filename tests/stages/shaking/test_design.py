"""Which answers are asked for next: hand-walked designs."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from shaketable.analyses.arms import CLEAN, Arm, Levels
from shaketable.stages.shaking.design import (
    LEAST_SCREENED,
    N_CLEAN,
    N_FIRST,
    choose,
    least_calls,
    promise,
    screen,
    walk,
)
from shaketable.types import Shake

LEVELS = Levels(variations=("a", "b"), perturbations=("p",), temperatures=(1.0,))
HOT_A = Arm(variation="a", temperature=1.0)


def asked_by(design, kept, n_calls):
    """Every ask of a design whose answers are `kept(ask)`, as far as a budget of calls goes."""
    asks, outcomes = [], None
    try:
        while True:
            batch = next(design) if outcomes is None else design.send(outcomes)
            asks += batch
            if len(asks) >= n_calls:
                return asks[:n_calls]
            outcomes = [kept(ask) for ask in batch]
    except StopIteration:
        return asks


def test_the_ways_to_ask_are_single_levels_and_pairs_of_two_factors():
    assert LEVELS.single == (Arm(variation="a"), Arm(variation="b"), Arm(perturbation="p"), Arm(temperature=1.0))
    assert len(LEVELS.paired) == 2 * 1 + 1 * 1 + 2 * 1
    assert HOT_A.parts == (Arm(variation="a"), Arm(temperature=1.0))
    assert Arm(variation="a").parts == ()


def test_all_claims_together_spend_the_whole_error_and_no_more():
    spent = sum(LEVELS.error_of(arm, 0.05) for arm in (*LEVELS.single, *LEVELS.paired))
    assert spent == pytest.approx(0.05)
    words_alone = Levels(variations=("a", "b"))
    assert words_alone.error_of(Arm(variation="a"), 0.05) == pytest.approx(0.025)


def test_a_small_budget_screens_one_factor_at_a_time():
    assert screen(LEVELS, 100, 1000).arms == (*LEVELS.single, *LEVELS.paired)
    assert screen(LEVELS, 100, 120).arms == (*LEVELS.single, *LEVELS.heated)
    assert screen(LEVELS, 100, 80).arms == LEVELS.single
    assert screen(LEVELS, 3, 1000).n_questions == 3


def test_each_way_gets_a_beginning_of_the_questions_and_each_question_its_clean_answers():
    asks = asked_by(walk(LEVELS, 40, lambda: 300, Shake()), lambda ask: 1.0, 300)
    by_arm = {arm: [ask.place for ask in asks if ask.arm == arm] for arm in {ask.arm for ask in asks}}
    for arm, places in by_arm.items():
        if arm != CLEAN:
            assert sorted(places) == list(range(len(places)))
    clean = Counter(by_arm[CLEAN])
    assert set(clean.values()) == {N_CLEAN}
    assert all(place in clean for places in by_arm.values() for place in places)


def test_what_breaks_only_in_a_pair_is_asked_of_all_questions():
    def kept(ask):
        return 0.0 if ask.arm == HOT_A else 1.0

    asks = asked_by(walk(LEVELS, 60, lambda: 400, Shake()), kept, 400)
    asked = Counter(ask.arm for ask in asks)
    assert asked[HOT_A] == 60
    assert all(asked[arm] < 60 for arm in (*LEVELS.single, *LEVELS.paired) if arm != HOT_A)


def test_a_budget_that_is_large_enough_asks_everything_once():
    asks = asked_by(walk(LEVELS, 12, lambda: math.inf, Shake()), lambda ask: 0.0, 10_000)
    assert Counter(ask.arm for ask in asks) == {CLEAN: 24} | dict.fromkeys((*LEVELS.single, *LEVELS.paired), 12)


def test_a_system_that_answers_none_of_the_first_questions_is_asked_no_more():
    asks = asked_by(walk(LEVELS, 12, lambda: math.inf, Shake()), lambda ask: None, 10_000)
    assert Counter(ask.arm for ask in asks) == {CLEAN: N_CLEAN * N_FIRST}
    assert len({ask.place for ask in asks}) == N_FIRST


def test_the_least_budget_looks_at_each_factor_alone():
    assert least_calls(LEVELS, 100) == (N_CLEAN + len(LEVELS.single)) * LEAST_SCREENED
    assert least_calls(LEVELS, 2) == (N_CLEAN + len(LEVELS.single)) * 2


def test_a_pair_promises_what_it_loses_beyond_its_parts():
    losses = {Arm(variation="a"): [1.0] * 9, Arm(temperature=1.0): [0.0] * 9, HOT_A: [1.0] * 9}
    assert promise(HOT_A, losses) < promise(Arm(variation="a"), losses)
    assert promise(HOT_A, losses | {Arm(variation="a"): [0.0] * 9}) == promise(Arm(variation="a"), losses)


def test_fewer_ways_are_continued_in_each_round():
    losses = {arm: [0.0] for arm in (*LEVELS.single, *LEVELS.paired)}
    assert [len(choose(list(losses), losses, n)) for n in (1, 2, 3)] == [5, 3, 3]
