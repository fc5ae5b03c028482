from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.stages.explaining.set_outcomes import Items, Outcomes, View
from shaketable.stages.explaining.smallest_sets import SmallestSet, find_smallest

Rule = Callable[[Items], bool | None]


def search(
    n: int, rule: Rule, budget: int, *, other_side: bool = False, wanted: bool = True
) -> tuple[SmallestSet, int]:
    """What the search gives, and how many sets it asked."""
    asked: list[Items] = []

    def ask(sets: Sequence[Items]) -> list[bool | None]:
        asked.extend(sets)
        return [rule(items) for items in sets]

    smallest = find_smallest(View(Outcomes(n, ask), other_side=other_side, wanted=wanted), budget)
    assert len(asked) == len(set(asked)), "No set is asked twice."
    return smallest, len(asked)


def every_set(n: int) -> list[Items]:
    """By size, then in order: an oracle that takes nothing for granted."""
    return [frozenset(items) for size in range(n + 1) for items in itertools.combinations(range(n), size)]


def needs(*items: int) -> Rule:
    return lambda chosen: set(items) <= chosen


@st.composite
def rules(draw: st.DrawFn) -> tuple[int, Rule]:
    """Any rule over the sets of a few things: monotone ones, which ddmin was made for, and others."""
    n = draw(st.integers(1, 7))
    if draw(st.booleans()):
        causes = draw(st.lists(st.frozensets(st.integers(0, n - 1), min_size=1), max_size=3))
        return n, lambda items: any(cause <= items for cause in causes)
    seed, share = draw(st.integers(0, 10_000)), draw(st.sampled_from([0.02, 0.1, 0.5]))
    doing = {items for items in every_set(n) if random.Random(f"{seed}{sorted(items)}").random() < share}
    return n, lambda items: items in doing


@given(rules(), st.integers(0, 140), st.booleans())
def test_what_is_claimed_of_a_set_is_true_of_any_rule(of: tuple[int, Rule], budget: int, other_side: bool) -> None:
    n, rule = of
    smallest, n_asked = search(n, rule, budget, other_side=other_side)
    assert smallest.n_asked == n_asked <= budget

    def does(items: Items) -> bool | None:
        return rule(frozenset(range(n)) - items if other_side else items)

    doing = [items for items in every_set(n) if does(items)]
    if smallest.items is None:
        assert smallest.certainty == "not_found" or not doing
        assert all(len(items) > smallest.tried_up_to for items in doing)
        return
    assert does(smallest.items)
    assert all(does(other) and len(other) == len(smallest.items) for other in smallest.others)
    if smallest.certainty == "smallest":
        assert len(smallest.items) == len(doing[0])
    elif smallest.certainty == "irreducible":
        assert not any(does(smallest.items - {item}) for item in smallest.items)
    else:
        assert n_asked == budget, "Only a budget that is spent leaves a set unsettled."


@given(rules())
def test_with_calls_for_all_sets_the_smallest_is_always_found(of: tuple[int, Rule]) -> None:
    n, rule = of
    smallest, _ = search(n, rule, 4 * 2**n)
    doing = [items for items in every_set(n) if rule(items)]
    assert smallest.certainty == ("smallest" if doing else "none")
    assert (smallest.items is None) == (not doing)
    assert smallest.items is None or len(smallest.items) == len(doing[0])


def test_two_of_twenty_are_found_and_proven_smallest_by_trying_every_single_one() -> None:
    smallest, n_asked = search(20, needs(4, 17), 100)
    assert (smallest.items, smallest.certainty) == (frozenset({4, 17}), "smallest")
    assert n_asked < 1 + 20 + 190  # The 190 pairs are not all tried.


def test_five_of_forty_are_found_by_delta_debugging_which_does_not_claim_more_than_it_knows() -> None:
    smallest, _ = search(40, needs(3, 11, 18, 26, 39), 200)
    assert (smallest.items, smallest.certainty) == (frozenset({3, 11, 18, 26, 39}), "irreducible")
    assert smallest.tried_up_to == 1


def test_calls_that_run_out_leave_a_set_that_does_it_and_say_that_it_is_unsettled() -> None:
    smallest, n_asked = search(40, needs(3, 11, 18, 26, 39), 20)
    assert smallest.certainty == "unfinished" and n_asked == 20
    assert smallest.items is not None and {3, 11, 18, 26, 39} <= smallest.items


def test_from_the_other_side_sets_are_those_that_stay() -> None:
    """Right while 1 and 3 stay: of what is taken away, neither may be in it."""
    smallest, _ = search(5, lambda gone: not gone & {1, 3}, 64, other_side=True)
    assert (smallest.items, smallest.certainty) == (frozenset({1, 3}), "smallest")


def test_nothing_at_all_can_be_enough() -> None:
    smallest, n_asked = search(5, lambda gone: True, 64, other_side=True)
    assert (smallest.items, smallest.certainty, n_asked) == (frozenset(), "smallest", 1)


def test_a_set_that_could_not_be_told_is_not_counted_as_tried() -> None:
    def rule(items: Items) -> bool | None:
        return None if items == {0} else items >= {1, 2}

    smallest, _ = search(3, rule, 64)
    assert (smallest.items, smallest.n_untold) == (frozenset({1, 2}), 1)
    assert smallest.certainty == "irreducible"  # Sentence 0 alone might do it.


def test_without_a_budget_nothing_is_asked() -> None:
    smallest, n_asked = search(3, needs(0), 0)
    assert (smallest.items, smallest.certainty, smallest.tried_up_to, n_asked) == (None, "not_found", -1, 0)


@pytest.mark.parametrize("n", [300, 3000])
def test_thousands_of_things_are_not_listed_to_be_left_out(n: int) -> None:
    smallest, n_asked = search(n, needs(7, n - 2), 60)
    assert smallest.items is not None and n_asked <= 60
