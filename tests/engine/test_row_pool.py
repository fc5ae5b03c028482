"""Rows that come, grow, move to larger pools and go, against attention computed for each row by itself."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.engine.pool_calls import PoolCalls
from shaketable.engine.pool_runs import Asked
from shaketable.engine.row_pool import BLOCK, FIXED_ROWS, RowPools

GROUPS, SHARE, WIDTH, LAYERS = 2, 3, 8, 2


class Twin:
    """A row in the pools, and its tokens kept plainly."""

    def __init__(self, pools, length, dice):
        self.keys, self.values = (
            [torch.randn(GROUPS, length, WIDTH, generator=dice) for _ in range(LAYERS)] for _ in range(2)
        )
        self.row = pools.add(self.keys, self.values)

    def grow(self, layer, key, value):
        self.keys[layer] = torch.cat([self.keys[layer], key[:, None]], 1)
        self.values[layer] = torch.cat([self.values[layer], value[:, None]], 1)

    def attend(self, layer, query, softcap):
        scores = query.view(GROUPS, SHARE, WIDTH) @ self.keys[layer].transpose(1, 2)
        scores = scores if softcap is None else torch.tanh(scores / softcap) * softcap
        taken = (scores.softmax(-1) @ self.values[layer]).view(GROUPS * SHARE, WIDTH)
        return taken, scores.logsumexp(-1).view(GROUPS * SHARE)


def step(pools, twins, dice, softcap):
    """One new token for every row, in every layer; what is taken is compared."""
    for twin in twins:
        twin.row = pools.make_room(twin.row)
    by_pool = {}
    for twin in twins:
        by_pool.setdefault(twin.row.pool, {})[twin.row.slot] = twin
    for pool, members in by_pool.items():
        rows = [members[slot] for slot in range(len(pool.rows))]
        assert len(members) == len(rows)
        lengths = torch.tensor([twin.row.length for twin in rows])
        asked = [Asked(twin.row, [slot], newest=twin.row.length, position=0) for slot, twin in enumerate(rows)]
        calls = PoolCalls(asked, len(rows), least_rows=1)
        for layer in range(LAYERS):
            keys, values = (torch.randn(len(rows), GROUPS, WIDTH, generator=dice) for _ in range(2))
            query = torch.randn(len(rows), GROUPS * SHARE, 1, WIDTH, generator=dice)
            pool.append(layer, keys, values, lengths)
            part = calls.attend(layer, query, softcap, None)
            for slot, twin in enumerate(rows):
                twin.grow(layer, keys[slot], values[slot])
                taken, total = twin.attend(layer, query[slot], softcap)
                torch.testing.assert_close(part.taken[slot, 0], taken, atol=1e-5, rtol=1e-5)
                found = part.score[slot, 0, :, 0] - part.weight[slot, 0, :, 0].log()
                torch.testing.assert_close(found, total, atol=1e-5, rtol=1e-5)
        for twin in rows:
            twin.row.length += 1


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 99),
    softcap=st.sampled_from([None, 5.0]),
    is_fixed=st.booleans(),
    doings=st.lists(st.one_of(st.integers(1, 2 * BLOCK), st.just("step"), st.integers(-5, -1)), max_size=25),
)
def test_a_row_takes_what_it_would_take_alone(seed, softcap, is_fixed, doings):
    dice, pools, twins = torch.Generator().manual_seed(seed), RowPools(is_fixed=is_fixed), []
    for doing in doings:
        if doing == "step":
            step(pools, twins, dice, softcap)
        elif doing > 0:
            twins.append(Twin(pools, doing, dice))
        elif twins:
            gone = twins.pop(doing % len(twins))
            gone.row.pool.remove(gone.row)
    step(pools, twins, dice, softcap)
    assert sum(len(pool.rows) for pool in pools.by_room.values()) == len(twins)
    for pool in pools.by_room.values():
        n_slots = pool.keys[0].shape[0]
        if is_fixed:
            assert n_slots == (FIXED_ROWS if pool.rows else 0)
        else:
            assert n_slots <= 4 * len(pool.rows) + 3, "No more slots are kept than rows need."


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1])
def test_a_row_moves_when_its_room_is_full(length):
    dice, pools = torch.Generator().manual_seed(1), RowPools()
    twins = [Twin(pools, length, dice), Twin(pools, 3, dice)]
    for _ in range(3):
        step(pools, twins, dice, None)
    assert twins[0].row.pool.room == 2 * BLOCK and twins[1].row.pool.room == BLOCK


def test_a_window_hides_what_lies_too_far_back():
    pools = RowPools()
    pool = pools.add([torch.zeros(GROUPS, 9, WIDTH)], [torch.zeros(GROUPS, 9, WIDTH)]).pool
    seen = pool.unseen(torch.tensor([9, 2, 4]), first=torch.tensor([7, 0, 2]))[:, 0, 0] == 0
    assert [row.nonzero()[:, 0].tolist() for row in seen] == [[7, 8, 9], [0, 1, 2], [2, 3, 4]]
