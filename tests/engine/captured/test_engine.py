"""Rows in fixed slots, on a processor without graphs: a GPU runs the same steps, by a kernel of the same formula."""

import functools
import gc
import random

import pytest
import torch
from sweeps import LONG, SHORT, after_an_example, in_turns, library_text, prompt, sweep, texts
from tiny import FAMILIES, write_model

from shaketable.engine.captured import engine as captured_engine
from shaketable.engine.captured.engine import CapturedEngine
from shaketable.engine.captured.graphs import FixedPasses
from shaketable.engine.sweep import SweepEngine
from shaketable.errors import ModelError
from shaketable.types import Completion, Failure


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return functools.cache(lambda family: write_model(family, tmp_path_factory.mktemp(family)))


@pytest.fixture(autouse=True)
def few_slots(monkeypatch):
    """Fewer than the rows that are asked for, so that slots are filled again."""
    monkeypatch.setattr(captured_engine, "FIXED_SLOTS", 6)
    monkeypatch.setattr(captured_engine, "FIRST_PLACES", 64)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_in_slots_have_the_texts_of_the_library_and_of_any_other_company(folder, family):
    engine = CapturedEngine(folder(family))
    prompts = sweep()
    together = texts(engine.generate(prompts))
    assert engine.invariance == "fixed"
    # Routines for a processor round the last numbers of odd widths otherwise; a GPU's do not.
    assert engine.proof.is_captured or family == "odd"
    for text in (LONG, SHORT):
        greedy = next(i for i, one in enumerate(prompts) if one.messages[0].content == text)
        assert together[greedy] == library_text(folder(family), text)
    shuffled = list(range(len(prompts)))
    random.Random(4).shuffle(shuffled)
    assert texts(engine.generate([prompts[i] for i in shuffled])) == [together[i] for i in shuffled]
    for i in (0, 7, 13, 23):
        assert texts(engine.generate([prompts[i]])) == [together[i]]


def test_without_the_promise_rows_sit_in_as_many_slots_as_are_set(folder):
    free = CapturedEngine(folder("llama"), n_rows=20, batching="free")
    assert texts(free.generate(sweep())) == texts(CapturedEngine(folder("llama")).generate(sweep()))
    assert (free.n_slots, free.invariance, free.environment()["batching"]) == (20, "any", "free")


def test_truncation_penalty_and_extras_are_those_of_the_other_engine(folder):
    prompts = [
        *sweep(texts=(LONG,), repeats=2, wants=("logprobs", "entropy", "processed_entropy", "token_ids"), top_k=5),
        *sweep(texts=(LONG,), repeats=2, wants=("top_logprobs",), top_p=0.7, repetition_penalty=1.3),
        *sweep(texts=(SHORT,), repeats=1),
    ]
    captured, usual = CapturedEngine(folder("llama")).generate(prompts), SweepEngine(folder("llama")).generate(prompts)
    assert texts(captured) == texts(usual)
    for one, other in zip(captured, usual, strict=True):
        assert one.extras.keys() == other.extras.keys()
        for want in ("logprobs", "entropy", "processed_entropy"):
            assert one.extras.get(want, []) == pytest.approx(other.extras.get(want, []), abs=1e-4)
        assert (one.finish_reason, one.n_tokens, one.decoding) == (other.finish_reason, other.n_tokens, other.decoding)


def test_an_opening_is_read_once_and_its_place_is_given_back(folder, monkeypatch):
    monkeypatch.setattr("shaketable.engine.prompt_reader.LEAST_OPENING", 8)
    prompts = [one for n in range(6) for one in after_an_example(f"one and {n}{n * 'x'}?")]
    engine, usual = in_turns(CapturedEngine, folder("llama")), in_turns(SweepEngine, folder("llama"))
    read, pages = [], engine.passes.read
    assert engine.invariance == "fixed"
    monkeypatch.setattr(engine.passes, "read", lambda page, ends: (read.append(len(page)), pages(page, ends))[1])
    assert texts(engine.generate(prompts)) == texts(usual.generate(prompts))
    [opening] = engine.seating.opened.values()
    rests = sum(len(engine.encode(one.messages, "chat")) - len(opening.ids) for one in prompts[::4])
    assert sum(read) == len(opening.ids) + rests
    assert engine.seating.arena.n_taken == 1 + len(opening.ids), "all but the opening was given back"


def test_the_strip_grows_and_rows_wait_where_it_cannot(folder, monkeypatch):
    expected = texts(CapturedEngine(folder("llama")).generate(sweep()))
    narrow = CapturedEngine(folder("llama"))
    monkeypatch.setattr(narrow, "_n_more_places", lambda: 0)
    assert texts(narrow.generate(sweep())) == expected
    assert narrow.seating.arena.n_tokens == 64, "room for one long prompt and a row at a time"


def test_a_card_without_room_for_one_row_is_an_error_with_a_way_out(folder, monkeypatch):
    engine = CapturedEngine(folder("llama"))
    monkeypatch.setattr(engine, "_n_more_places", lambda: 0)
    with pytest.raises(ModelError, match=r"too little memory.*40 tokens.*max_tokens"):
        engine.generate([prompt(LONG, 0.0, 1, max_tokens=60)])
    assert isinstance(engine.generate([prompt(SHORT, 0.0, 1)])[0], Completion)


def test_a_prompt_that_is_too_long_fails_alone(folder):
    failed, answered = CapturedEngine(folder("llama")).generate(
        [prompt(LONG, 0.0, 1, max_tokens=120), prompt(SHORT, 0.0, 1, max_tokens=1)]
    )
    assert isinstance(failed, Failure)
    assert answered.n_tokens == 1


def test_a_model_that_the_strip_does_not_fit_goes_the_other_way(folder, monkeypatch):
    expected = texts(SweepEngine(folder("llama")).generate(sweep()))
    monkeypatch.setattr("shaketable.engine.captured.strip.attend_segments", lambda query, *_: torch.zeros_like(query))
    engine = CapturedEngine(folder("llama"))
    assert texts(engine.generate(sweep())) == expected
    assert not engine.proof.is_captured


def test_a_digit_that_depends_on_the_slot_is_found_out(folder):
    """It stands in for a library that rounds by place."""
    engine = CapturedEngine(folder("llama"))
    by_place = 1e-5 * torch.arange(2000.0)[None, :, None]
    engine.model.lm_head.register_forward_hook(lambda layer, given, logits: logits + by_place[:, : logits.shape[1]])
    assert not engine.proof.is_captured


# --- on a GPU --------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_keeps_the_promise(folder, family, dtype):
    engine = CapturedEngine(folder(family), device="cuda", dtype=dtype)
    prompts = sweep()
    together = texts(engine.generate(prompts))
    assert engine.proof.is_captured
    assert engine.passes.advancing[engine.n_slots].graph, "steps are replayed"
    assert texts(engine.generate(prompts[::-1])) == together[::-1]
    for i in (0, 7, 13, 23):
        assert texts(engine.generate([prompts[i]])) == [together[i]]
    again = CapturedEngine(folder(family), device="cuda", dtype=dtype)
    assert texts(again.generate(prompts[5:])) == together[5:]
    if dtype == "float32":
        assert together[0] == library_text(folder(family), LONG)


@pytest.mark.gpu
@pytest.mark.parametrize("batching", ["exact", "free"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_goes_on_after_shared_openings_as_a_processor_does(folder, family, batching, monkeypatch):
    monkeypatch.setattr("shaketable.engine.prompt_reader.LEAST_OPENING", 8)
    greedy = [one for n in range(6) for one in after_an_example(f"one and {n}{n * 'x'}?", temperature=0.0)]
    on_gpu = in_turns(CapturedEngine, folder(family), device="cuda", n_rows=16, batching=batching)
    assert texts(on_gpu.generate(greedy)) == texts(in_turns(SweepEngine, folder(family)).generate(greedy))
    assert len(on_gpu.seating.opened) == 1
    hot = [one for n in range(6) for one in after_an_example(f"one and {n}?")]
    together = texts(on_gpu.generate(hot))
    if batching == "exact":
        assert texts(on_gpu.generate(hot[::-1])) == together[::-1]
        assert [texts(on_gpu.generate([one]))[0] for one in hot[::5]] == together[::5]


@pytest.mark.gpu
def test_a_gpu_draws_with_truncation_and_penalty_in_any_company(folder):
    engine = CapturedEngine(folder("llama"), device="cuda")
    careful = [*sweep(top_k=5, wants=("entropy", "processed_logprobs")), *sweep(top_p=0.7, repetition_penalty=1.3)]
    mixed = texts(engine.generate([*sweep(), *careful]))[len(sweep()) :]
    assert texts(engine.generate(careful[::-1])) == mixed[::-1]
    assert [texts(engine.generate([one]))[0] for one in careful[::7]] == mixed[::7]


@pytest.mark.gpu
def test_graphs_that_become_garbage_while_others_are_captured_do_not_spoil_them(folder, monkeypatch):
    usual, forward, n_captures = gc.get_threshold(), FixedPasses._forward, 0
    engine = CapturedEngine(folder("llama"), device="cuda")
    expected = texts(engine.generate(sweep()))
    old = [captured.graph for captured in (*engine.passes.advancing.values(), *engine.passes.drawing.values())]
    assert old and all(old)
    engine.passes.forget_graphs()

    def leaving_garbage(passes: FixedPasses, *args: object) -> torch.Tensor:
        nonlocal n_captures
        if torch.cuda.is_current_stream_capturing():
            n_captures += 1
            garbage = [*old]
            old.clear()
            garbage.append(garbage)
            del garbage
            gc.set_threshold(1, 1, 1)
            _ = [[] for _ in range(100)]
            gc.set_threshold(*usual)
        return forward(passes, *args)

    monkeypatch.setattr(FixedPasses, "_forward", leaving_garbage)
    assert texts(engine.generate(sweep())) == expected
    assert n_captures
