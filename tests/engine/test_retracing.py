"""Drafts: a reply that a process left unfinished goes on in another one, and ends as it would have."""

import functools
from dataclasses import replace

import pytest
from rounding import Double, all_sizes_differ, few_rows_differ
from sweeps import SHORT, after_an_example, in_turns, prompt, sweep
from tiny import FAMILIES, write_model

from shaketable.engine.fixed_products import PRODUCT_ROWS
from shaketable.engine.sweep import SweepEngine
from shaketable.types import Completion

WINDOWED = {"gemma2", "mistral"}
"""Families whose layers see the last tokens alone."""

slow = functools.partial(pytest.param, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return functools.cache(lambda family: write_model(family, tmp_path_factory.mktemp(family)))


def steps(engine, prompts, n_steps):
    """The replies and drafts after so many steps of a process that is then gone."""
    for ticket, asked in enumerate(prompts):
        engine.submit(ticket, asked)
    replies = {}
    for _ in range(n_steps):
        replies.update(engine.collect(0.0))
    drafts = engine.drafts()
    engine.forget()
    return replies, drafts


def gone_on(engine, prompts, replies, drafts):
    """All replies, once those that were not finished went on from their drafts."""
    left = [ticket for ticket in range(len(prompts)) if ticket not in replies]
    for ticket in left:
        if ticket in drafts:
            engine.go_on(ticket, prompts[ticket], drafts[ticket])
        else:
            engine.submit(ticket, prompts[ticket])
    replies = dict(replies)
    while len(replies) < len(prompts):
        replies.update(engine.collect())
    return [but_for_time(replies[ticket]) for ticket in range(len(prompts))]


def but_for_time(reply):
    assert isinstance(reply, Completion), reply
    return replace(reply, seconds=0.0)


def whole(engine, prompts):
    return list(map(but_for_time, engine.generate(prompts)))


@pytest.mark.parametrize("n_steps", [slow(1), 19, slow(33)])
@pytest.mark.parametrize("family", sorted(set(FAMILIES) - WINDOWED))
def test_replies_that_go_on_from_drafts_are_those_of_one_process(folder, family, n_steps):
    """After 16 tokens of its own a row gets more room: before, behind and far behind that."""
    engine = SweepEngine(folder(family), n_rows=32)
    assert engine.proof.retraces
    prompts = sweep(max_tokens=40, repeats=2, wants=("entropy", "top_logprobs", "token_ids"))
    expected = whole(engine, prompts)
    replies, drafts = steps(engine, prompts, n_steps)
    assert len(replies) + len(drafts) == len(prompts) and drafts
    assert {len(draft.token_ids) for draft in drafts.values()} == {n_steps}
    other = SweepEngine(folder(family), n_rows=32)
    assert gone_on(other, prompts, replies, drafts) == expected


def test_going_on_computes_no_step_again(folder, monkeypatch):
    engine = SweepEngine(folder("llama"), n_rows=32)
    prompts = [prompt(SHORT, 1.0, seed, max_tokens=30) for seed in range(3)]
    replies, drafts = steps(engine, prompts, 20)
    n_left = max(30 - len(draft.token_ids) for draft in drafts.values())
    taken, advance = [], engine.advance
    monkeypatch.setattr(engine, "advance", lambda *given: (taken.append(1), advance(*given))[1])
    gone_on(engine, prompts, replies, drafts)
    assert len(taken) < n_left


def test_drafts_of_different_lengths_and_prompts_with_openings_go_on_side_by_side(folder):
    engine = in_turns(SweepEngine, folder("llama"), n_rows=32)
    prompts = [replace(one, sampling=replace(one.sampling, max_tokens=30)) for one in after_an_example("and three?")]
    expected = whole(engine, prompts)
    _, early = steps(engine, prompts, 3)
    replies, late = steps(engine, prompts, 18)
    mixed = {ticket: (early if ticket % 2 else late)[ticket] for ticket in late if ticket}
    assert gone_on(engine, prompts, replies, mixed) == expected, "one of them has no draft"


def test_a_long_draft_is_read_in_parts(folder, monkeypatch):
    monkeypatch.setattr("shaketable.engine.retracing.PLACES_AT_ONCE", 200)
    engine = SweepEngine(folder("qwen2"), n_rows=8)
    prompts = [prompt(SHORT, 1.5, seed, max_tokens=60) for seed in range(2)]
    expected = whole(engine, prompts)
    assert gone_on(engine, prompts, *steps(engine, prompts, 40)) == expected


def test_greedy_repeats_that_are_one_row_go_on_as_one(folder):
    engine = SweepEngine(folder("llama"), n_rows=8)
    prompts = [prompt(SHORT, 0.0, seed, max_tokens=20) for seed in range(3)]
    expected = whole(engine, prompts)
    replies, drafts = steps(engine, prompts, 5)
    assert gone_on(engine, prompts, replies, {2: drafts[2]}) == expected, "the draft of one serves all"


@pytest.mark.parametrize("family", sorted(WINDOWED))
def test_models_with_a_window_begin_anew(folder, family):
    engine = SweepEngine(folder(family), n_rows=8)
    prompts = [prompt(SHORT, 1.0, seed) for seed in range(2)]
    assert steps(engine, prompts, 3)[1] == {}


def test_a_draft_of_another_maker_is_not_used(folder):
    """Another machine, library or setting may round otherwise; what it began, nobody here would have written."""
    engine = SweepEngine(folder("llama"), n_rows=8)
    prompts = [prompt(SHORT, 1.0, 1, max_tokens=20)]
    expected = whole(engine, prompts)
    _, drafts = steps(engine, prompts, 5)
    strange = replace(drafts[0], made_by="another", token_ids=(7, 7, 7))
    assert gone_on(engine, prompts, {}, {0: strange}) == expected
    assert SweepEngine(folder("llama"), n_rows=9).maker != engine.maker == SweepEngine(folder("llama"), n_rows=8).maker


@pytest.mark.parametrize(("error", "product_rows"), [(few_rows_differ, 0), (all_sizes_differ, PRODUCT_ROWS)])
def test_where_rows_round_by_their_number_drafts_go_on_in_the_shapes_of_their_steps(
    folder, monkeypatch, error, product_rows
):
    Double(monkeypatch, error)
    engine = SweepEngine(folder("llama"), n_rows=16)
    assert engine.proof.product_rows == product_rows and engine.proof.retraces
    prompts = [prompt(SHORT, 1.0, seed, max_tokens=24) for seed in range(3)]
    expected = whole(engine, prompts)
    assert gone_on(engine, prompts, *steps(engine, prompts, 18)) == expected


def test_the_proof_sees_a_retracing_that_rounds_otherwise(folder, monkeypatch):
    from shaketable.engine.retracing import RetracingCache

    update = RetracingCache.update
    monkeypatch.setattr(
        RetracingCache,
        "update",
        lambda cache, keys, values, layer, *rest: update(cache, keys, values * (1 + 2.0**-20), layer, *rest),
    )
    engine = SweepEngine(folder("llama"), n_rows=8)
    assert not engine.proof.retraces
    assert steps(engine, [prompt(SHORT, 1.0, 1)], 3)[1] == {}
