import itertools
import math
from collections import Counter

import pytest

from shaketable.perturbations.combination import Combination, subset
from shaketable.retrievers.full_gold import FullGold
from shaketable.types import Query


def ids(evidence):
    return tuple(sentence.id for hit in evidence.hits for sentence in hit.passage.sentences)


FACTS = ("Alpha#0", "Alpha#2", "Beta#0", "Beta#1")


def test_all_subsets_come_in_order_when_they_fit_the_budget(example, shake):
    outputs = [ids(shake(Combination(m=2, index=index), example())) for index in range(6)]
    assert outputs == list(itertools.combinations(FACTS, 2))
    assert shake(Combination(m=2, index=6), example()).flags == ("no_such_subset",)


def test_subsets_over_the_budget_are_drawn_without_repetition(example, shake):
    for seed in range(20):
        outputs = [ids(shake(Combination(m=2, index=index, budget=5, seed=seed), example())) for index in range(5)]
        assert len(set(outputs)) == 5
        assert set(outputs) <= set(itertools.combinations(FACTS, 2))


def test_each_subset_is_as_likely(example, shake):
    drawn = Counter(ids(shake(Combination(m=2, budget=5, seed=seed), example())) for seed in range(600))
    # Six subsets, 600 draws: 100 ± 5 standard deviations (9.1).
    assert len(drawn) == 6
    assert all(abs(n - 100) < 46 for n in drawn.values())


def test_passages_stay_or_go_whole(example, shake):
    question = example()
    (hits,) = FullGold().search([Query(text="?", question=question)], 0)
    evidence = shake(Combination(unit="passage", index=1), question, hits)
    assert [hit.passage for hit in evidence.hits] == [hits[1].passage]


@pytest.mark.parametrize("m", [4, 5])
def test_keeping_everything_is_no_change_and_says_so(example, shake, m):
    evidence = shake(Combination(m=m), example())
    assert (ids(evidence), evidence.flags) == (FACTS, ("too_few_units",))


@pytest.mark.parametrize(("n", "m"), [(5, 1), (5, 3), (6, 6), (7, 2)])
def test_numbers_name_subsets_as_itertools_does(n, m):
    listed = [list(chosen) for chosen in itertools.combinations(range(n), m)]
    assert [subset(n, m, number) for number in range(math.comb(n, m))] == listed


def test_a_huge_number_of_subsets_is_no_trouble(example, shake):
    question = example(facts=[("Alpha", i) for i in range(90)], alpha=[f"Sentence {i}." for i in range(90)], n=90)
    evidence = shake(Combination(m=45, index=3), question)
    assert len(ids(evidence)) == 45
