"""Where texts lie in the strip, how they are cut into pages, and what tokens take from what they see."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from tiny import write_model

from shaketable.engine.captured import card
from shaketable.engine.captured.arena import TRASH, Arena, Segment
from shaketable.engine.captured.graphs import ID, N_ENDS, PAGE_LENGTHS, PAGE_STARTS, PLACE, POSITION
from shaketable.engine.captured.pages import Text, pages
from shaketable.engine.captured.ragged_attention import attend_segments
from shaketable.engine.captured.seen import Scoring, Seen
from shaketable.models.transformers import Transformers


@given(st.lists(st.one_of(st.integers(0, 40), st.none()), max_size=60))
def test_segments_never_overlap_and_all_room_comes_back(steps):
    arena, taken = Arena(100), []
    for step in steps:
        if step is None:
            if taken:
                arena.give_back(taken.pop(len(taken) // 2))
        elif segment := arena.take(step):
            taken.append(segment)
        places = [place for start, length in taken for place in range(start, start + length)]
        assert len(set(places)) == len(places)
        assert TRASH not in places
        assert arena.n_taken == len(places) + 1
    for segment in taken:
        arena.give_back(segment)
    assert arena.free == [Segment(1, 99)]


def test_a_strip_that_grows_joins_its_new_room_with_the_free_end():
    arena = Arena(10)
    first = arena.take(6)
    assert arena.take(5) is None
    arena.grow(14)
    assert arena.take(7) == Segment(7, 7)
    arena.give_back(first)
    assert arena.free == [first]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=90), st.integers(5, 40))
def test_every_token_is_read_once_at_its_place_and_every_text_ends_once(lengths, n_tokens):
    starts = np.cumsum([100, *lengths])
    texts = [
        Text(ids=range(1000 * i, 1000 * i + n), segment=Segment(int(start), n), opening=Segment(7, i % 3))
        for i, (n, start) in enumerate(zip(lengths, starts, strict=False))
    ]
    read = list(pages(texts, n_tokens))
    assert all(len(page) <= n_tokens and len(ends) <= N_ENDS for page, ends in read)
    lines = np.concatenate([page for page, _ in read])
    assert lines[:, ID].tolist() == [token for text in texts for token in text.ids]
    assert lines[:, PLACE].tolist() == list(range(100, 100 + sum(lengths)))
    assert (lines[:, POSITION] + 1 == lines[:, PAGE_LENGTHS].sum(1)).all()
    assert (lines[:, PAGE_STARTS][:, 1] + lines[:, PAGE_LENGTHS][:, 1] - 1 == lines[:, PLACE]).all()
    last = [int(page[end, ID]) for page, ends in read for end in ends]
    assert last == [text.ids[-1] for text in texts]


CASES = [  # heads, groups, width, value width, softcap, window
    (6, 2, 16, 16, None, None),
    (4, 4, 24, 24, None, 7),
    (8, 1, 32, 16, 5.0, None),
    (32, 8, 64, 64, None, 70),
    (3, 1, 128, 128, 20.0, 3),
]
SEEN = Seen(
    starts=torch.tensor([[1, 50, 120], [3, 60, 10], [0, 0, 0], [1, 2, 3], [0, 100, 200]]),
    lengths=torch.tensor([[10, 67, 3], [0, 130, 1], [0, 0, 0], [0, 1, 0], [0, 64, 90]]),
)


def made(heads, groups, width, value_width):
    torch.manual_seed(heads)
    return torch.randn(5, heads, width), torch.randn(300, groups, width), torch.randn(300, groups, value_width)


@pytest.mark.parametrize("case", CASES)
def test_a_token_takes_what_the_library_gives_it_of_the_same_keys(case):
    *shape, softcap, window = case
    query, keys, values = made(*shape)
    found = attend_segments(query, keys, values, SEEN, Scoring(scaling=0.3, softcap=softcap, window=window))
    assert not found[2].any(), "it sees nothing"
    for i in (0, 1, 3, 4):
        spans = zip(SEEN.starts[i].tolist(), SEEN.lengths[i].tolist(), strict=True)
        places = [place for start, length in spans for place in range(start, start + length)][-(window or 999) :]
        share = shape[0] // shape[1]
        for head in range(shape[0]):
            scores = (keys[places, head // share] @ query[i, head] * 0.3).double()
            scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
            expected = torch.softmax(scores, 0) @ values[places, head // share].double()
            assert torch.allclose(found[i, head].double(), expected, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_takes_what_the_formula_does_beside_any_others(case, dtype):
    *shape, softcap, window = case
    scoring = Scoring(scaling=0.3, softcap=softcap, window=window)
    query, keys, values = (tensor.to(dtype) for tensor in made(*shape))
    expected = attend_segments(query.float(), keys.float(), values.float(), SEEN, scoring)
    on_card = [tensor.cuda() for tensor in (query, keys, values)]
    found = attend_segments(*on_card, Seen(starts=SEEN.starts.cuda(), lengths=SEEN.lengths.cuda()), scoring)
    assert torch.allclose(found.float().cpu(), expected, atol={torch.float32: 1e-5}.get(dtype, 2e-2))
    order = torch.tensor([4, 2, 4, 0, 1, 1, 3, 0, 2] * 31)
    again = attend_segments(
        on_card[0][order.cuda()],
        *on_card[1:],
        Seen(starts=SEEN.starts[order].cuda(), lengths=SEEN.lengths[order].cuda()),
        scoring,
    )
    assert torch.equal(again, found[order.cuda()])


# --- what a card has room for ----------------------------------------------------------------------


@pytest.fixture
def small_card(monkeypatch):
    """No card is at hand here: PyTorch's own words about one of 8 GB of which 6 are free stand in."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (6_000_000_000, 8_000_000_000))
    monkeypatch.setattr("torch.cuda.memory_reserved", lambda device: 300_000_000)
    monkeypatch.setattr("torch.cuda.memory_allocated", lambda device: 100_000_000)


def test_a_tenth_of_the_card_is_kept_free(small_card):
    assert card.free_bytes("cuda") == 6_000_000_000 + 200_000_000 - 800_000_000


def test_weights_that_do_not_fit_are_told_before_they_are_loaded(small_card, tmp_path, monkeypatch):
    folder = write_model("llama", tmp_path)
    [file] = folder.glob("*.safetensors")
    with safe_open(file, framework="pt") as opened:
        assert card.n_weights(folder) == sum(opened.get_tensor(name).numel() for name in opened.keys())  # noqa: SIM118
    model = Transformers(path=str(folder), device="cuda")
    assert model.lacks() is None
    monkeypatch.setattr(card, "n_weights", lambda folder: 7_000_000_000)
    assert "takes 28.0 GB as float32, but cuda has room for 5.4 GB. Use dtype=bfloat16" in model.lacks()
    bf16 = Transformers(path=str(folder), device="cuda", dtype="bfloat16")
    assert "takes 14.0 GB as bfloat16" in bf16.lacks()
