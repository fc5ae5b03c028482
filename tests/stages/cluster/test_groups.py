"""Trials that share a prompt stay together, and come back in their order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from made_studies import small_study

from shaketable.stages.cluster import groups as module
from shaketable.stages.cluster.groups import Groups
from shaketable.stages.plan import plan
from shaketable.stages.sources import Listed


@pytest.fixture
def planned(tmp_path):
    """Three questions, each a prompt with two temperatures and four repeats."""
    return list(plan(small_study(tmp_path, methods=["closed_book"], repeats=4)).trials())


def prompts(trials):
    return [trial.variant.question_id for trial, _ in trials]


@pytest.mark.parametrize(("n", "sizes"), [(1, [8, 8, 8]), (8, [8, 8, 8]), (9, [16, 8]), (100, [24])])
def test_whole_prompts_are_taken(planned, n, sizes):
    groups = Groups(Listed(iter(planned)))
    taken = []
    while trials := groups.take(n):
        taken.append(trials)
    assert [len(trials) for trials in taken] == sizes
    assert [one for trials in taken for one in trials] == planned
    assert all(set(prompts(a)).isdisjoint(prompts(b)) for a, b in pairwise(taken))


def test_a_prompt_with_very_many_trials_is_cut(planned, monkeypatch):
    monkeypatch.setattr(module, "MOST_OF_A_PROMPT", 3)
    groups = Groups(Listed(iter(planned)))
    assert [len(groups.take(1)) for _ in range(4)] == [3, 3, 2, 3]


def test_what_is_put_back_comes_first_and_in_its_order(planned):
    groups = Groups(Listed(iter(planned)))
    first = groups.take(1)
    groups.put_back(first[2:])
    assert groups.take(1) == first[2:]
    assert groups.take(100) == planned[8:]


def test_conditions_of_one_wording_are_prompts_of_their_own(tmp_path):
    trials = list(plan(small_study(tmp_path, perturbations=["unchanged", "sentence_removal"])).trials())
    groups = Groups(Listed(iter(trials)))
    assert len({trial.perturbation for trial, _ in groups.take(1)}) == 1


def test_a_source_that_has_nothing_for_now_ends_a_group(planned):
    source = Listed(iter(planned[:3]))
    groups = Groups(source)
    assert groups.has_more()
    assert len(groups.take(8)) == 3
    assert not groups.has_more()
    source.trials = iter(planned[3:])
    assert groups.has_more()
    assert groups.take(1) == planned[3:8]
