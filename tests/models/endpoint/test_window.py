"""The number of calls under way follows what a server gains from. Time is simulated."""

from __future__ import annotations

import pytest
from simulated_server import drive_window

from shaketable.models.endpoint.window import FIRST_SIZE, Window


def test_it_starts_with_sixteen_or_what_is_allowed() -> None:
    assert (Window(256, 120.0).size, Window(3, 120.0).size) == (16, 3)


@pytest.mark.parametrize("latency", [0.05, 1.0, 4.0])
def test_a_server_that_answers_all_at_once_gets_as_many_as_are_allowed(latency: float) -> None:
    sizes = drive_window(Window(256, 120.0), 40 * latency + 2, latency_seconds=latency, n_slots=1000)
    assert sizes[-1] == 256 and min(sizes) >= FIRST_SIZE


@pytest.mark.parametrize("seed", range(4))
def test_a_server_whose_replies_only_take_longer_is_not_given_more(seed: int) -> None:
    sizes = drive_window(Window(256, 120.0), 60, latency_seconds=0.2, n_slots=8, seed=seed)
    assert sum(sizes) / len(sizes) < 24 and max(sizes) <= 64


@pytest.mark.parametrize("seed", range(4))
def test_a_server_with_sixty_places_has_them_filled(seed: int) -> None:
    sizes = drive_window(Window(256, 120.0), 60, latency_seconds=0.5, n_slots=60, seed=seed)
    assert 60 <= sizes[-1] <= 128


def test_replies_that_come_late_halve_it_once_for_all_of_them() -> None:
    window = Window(256, 10.0)
    for n in range(16):
        window.late(100.0 + n / 100)
    assert window.size == 8
    window.late(111.0)
    assert window.size == 4


def test_single_replies_that_come_late_change_nothing() -> None:
    window = Window(16, 10.0)
    for n in range(10):
        for i in range(50):
            window.answered(n * 20 + i / 10, 0.1)
        window.late(n * 20.0 + 10)
    assert window.size == 16


def test_nothing_is_learnt_while_other_things_hold_the_calls_back() -> None:
    window = Window(256, 120.0)
    for n in range(1000):
        window.sent(3)
        window.answered(n / 10, 0.1)
    assert window.size == FIRST_SIZE
