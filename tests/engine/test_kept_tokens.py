"""What prompts share is read once, and nothing depends on what happens to be kept."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import write_model

from shaketable.engine.kept_tokens import KEPT_BLOCK, KeptTokens
from shaketable.engine.sweep import SweepEngine
from shaketable.types import Message, Prompt, Sampling

OPENING = (3, 1, 4)
MODELS = ("llama", "mistral", "gemma2")
"""An ordinary model, one with a window, one with a window and a soft cap."""


def keys_of(ids, n_layers=2):
    """Numbers that tell tokens and layers apart: (head, token, width)."""
    return [torch.tensor(ids, dtype=torch.float32)[None, :, None].repeat(2, 1, 3) + layer for layer in range(n_layers)]


def keep(kept, ids, opening=OPENING):
    kept.keep(opening, ids, keys_of(ids), keys_of(ids))


def bytes_of(n_blocks):
    return n_blocks * 2 * 2 * 2 * KEPT_BLOCK * 3 * 4  # keys and values, layers, heads, tokens, width, float32


def test_what_is_kept_is_what_was_read():
    kept, ids = KeptTokens(), list(range(3 * KEPT_BLOCK))
    keep(kept, ids)
    beginning = kept.beginning(OPENING, [*ids[: 2 * KEPT_BLOCK], 999])
    keys, values = beginning.joined()
    assert beginning.length == 2 * KEPT_BLOCK
    assert torch.equal(keys, torch.stack([layer[:, : 2 * KEPT_BLOCK] for layer in keys_of(ids)]))
    assert torch.equal(values, keys)


@pytest.mark.parametrize(
    ("ids", "n_kept"),
    [
        pytest.param(list(range(2 * KEPT_BLOCK)), KEPT_BLOCK, id="the last token is always read"),
        pytest.param(list(range(2 * KEPT_BLOCK + 1)), 2 * KEPT_BLOCK, id="whole blocks"),
        pytest.param([*range(KEPT_BLOCK + 3), *[7] * KEPT_BLOCK], KEPT_BLOCK, id="up to where it differs"),
        pytest.param([99, *range(1, 2 * KEPT_BLOCK)], 0, id="another first token"),
        pytest.param([5], 0, id="one token"),
    ],
)
def test_a_text_is_known_as_far_as_it_begins_alike(ids, n_kept):
    kept = KeptTokens()
    keep(kept, list(range(3 * KEPT_BLOCK)))
    assert kept.beginning(OPENING, ids).length == n_kept


def test_the_same_tokens_after_another_opening_are_others():
    kept, ids = KeptTokens(), list(range(2 * KEPT_BLOCK))
    keep(kept, ids)
    assert kept.beginning((), ids).length == 0
    assert kept.beginning((3, 1), ids).length == 0


def test_the_same_block_after_other_tokens_is_another():
    kept, block = KeptTokens(), [1] * KEPT_BLOCK
    keep(kept, [*range(KEPT_BLOCK), *block])
    assert kept.beginning(OPENING, [*block, *block]).length == 0


def test_what_was_not_used_for_long_is_let_go_and_the_end_of_a_text_before_its_beginning():
    kept = KeptTokens(most_bytes=bytes_of(3))
    first, other = list(range(3 * KEPT_BLOCK)), list(range(500, 500 + KEPT_BLOCK))
    keep(kept, first)
    keep(kept, other)
    assert kept.n_bytes == bytes_of(3)
    assert kept.beginning(OPENING, [*first, 1]).length == 2 * KEPT_BLOCK
    assert kept.beginning(OPENING, [*other, 1]).length == KEPT_BLOCK


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=4), max_size=12), st.integers(0, 6))
def test_memory_is_bounded_and_known_beginnings_are_always_true(texts, n_blocks):
    kept = KeptTokens(most_bytes=bytes_of(n_blocks))
    for text in texts:
        ids = [token for token in text for _ in range(KEPT_BLOCK)]
        beginning = kept.beginning(OPENING, ids)
        if beginning.length:
            expected = torch.stack([layer[:, : beginning.length] for layer in keys_of(ids)])
            assert torch.equal(beginning.joined()[0], expected)
        keep(kept, ids)
        assert kept.n_bytes == sum(block.n_bytes for block in kept.blocks.values()) <= kept.most_bytes


# --- in the engine ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """Where prompts may be read beside others at all."""
    engines = {family: SweepEngine(write_model(family, tmp_path_factory.mktemp(family)), n_rows=8) for family in MODELS}
    return {family: engine for family, engine in engines.items() if engine.invariance == "any"}


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 50), st.sampled_from((0, 20)), st.booleans())
@torch.inference_mode()
def test_a_prompt_has_the_same_bits_whatever_was_read_before(engines, n_same, n_before, n_more, n_opening, is_beside):
    for engine in engines.values():
        before = [(7 * i + 5) % 250 for i in range(20 + n_before)]
        prompt = [*before[: 20 + n_same], *[(3 * i + 1) % 250 for i in range(n_more)]]
        engine.kept.clear()
        [(whole, expected)] = engine.read_prompts([(prompt, n_opening)])
        engine.kept.clear()
        engine.read_prompts([(before, n_opening)])
        beside = [(before[::-1], 0)] if is_beside else []
        read, logits = engine.read_prompts([*beside, (prompt, n_opening)])[-1]
        assert torch.equal(logits, expected)
        assert all(map(torch.equal, (*read.keys, *read.values), (*whole.keys, *whole.values)))


def asked(text, seed=0):
    return Prompt(
        messages=(Message(role="user", content=text),),
        sampling=Sampling(temperature=1.0, max_tokens=4),
        seed=seed,
        layout="plain",
    )


def test_what_prompts_share_is_read_once_also_when_they_wait_together(engines, monkeypatch):
    engine = engines.get("llama") or pytest.skip("the proof does not allow it here")
    engine.forget()
    n_read, read_together = [], engine.read_together
    monkeypatch.setattr(
        engine, "read_together", lambda texts, wanted: (n_read.append(texts.n_tokens), read_together(texts, wanted))[1]
    )
    evidence = "The station opened in 1931 and closed in 2001. It was built by Ann Lee, who lived nearby. "
    prompts = [asked(evidence + question) for question in ("When?", "Who built it?", "Where did she live?")]
    engine.generate(prompts)
    n_tokens = [len(engine.encode(prompt.messages, "plain")) for prompt in prompts]
    n_shared = len(engine.encode(asked(evidence).messages, "plain")) // KEPT_BLOCK * KEPT_BLOCK
    assert n_shared >= 2 * KEPT_BLOCK, "or nothing could be shared"
    assert sum(n_read) <= sum(n_tokens) - 2 * (n_shared - KEPT_BLOCK)
    engine.generate([asked(evidence + "When?", seed=1)])
    assert n_read[-1] <= 2 * KEPT_BLOCK, "what was read for another call is known"


def test_texts_do_not_depend_on_what_was_asked_before(engines):
    for engine in engines.values():
        prompts = [asked("By the river. " * n + "Which?", seed=n) for n in range(1, 5)]
        engine.forget()
        together = [reply.text for reply in engine.generate(prompts)]
        for n in (3, 1):
            assert engine.generate([prompts[n]])[0].text == together[n]
        engine.forget()
        assert engine.generate(prompts[2:3])[0].text == together[2]
