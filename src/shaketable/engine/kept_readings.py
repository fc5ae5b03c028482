"""What was read of a text, kept for trials that ask for the same: wordings of a question often get the same reply."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from shaketable.types import Reading

MOST_READING_BYTES = 1 << 26

ReadingKey = tuple[tuple[int, ...], int, tuple[str, ...]]
"""The tokens of a text, how many of them stand before what is asked of, and what is asked."""


class KeptReadings:
    """Those that were not used for longest are let go."""

    def __init__(self, most_bytes: int = MOST_READING_BYTES) -> None:
        self.most_bytes, self.n_bytes = most_bytes, 0
        self.readings: OrderedDict[ReadingKey, Reading] = OrderedDict()

    def recall(self, key: ReadingKey) -> Reading | None:
        if key in self.readings:
            self.readings.move_to_end(key)
        return self.readings.get(key)

    def keep(self, key: ReadingKey, reading: Reading) -> None:
        for value in reading.extras.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # Several methods look at it.
        self.readings[key] = reading
        self.n_bytes += _n_bytes(key, reading)
        while self.n_bytes > self.most_bytes:
            self.n_bytes -= _n_bytes(*self.readings.popitem(last=False))

    def clear(self) -> None:
        self.readings.clear()
        self.n_bytes = 0


def _n_bytes(key: ReadingKey, reading: Reading) -> int:
    """Of arrays as they are, of what is kept for each token roughly."""
    arrays = [value.nbytes for value in reading.extras.values() if isinstance(value, np.ndarray)]
    return sum(arrays) + 100 * len(key[0]) * (1 + len(reading.extras))
