"""What is known of the sets of n things, and asked of others, as a search over them sees it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

Items = frozenset[int]
Ask = Callable[[Sequence[Items]], Sequence[bool | None]]
"""Sets → whether each does it, asked together; None: it could not be told."""

NOTHING: Items = frozenset()


class Outcomes:
    """What is known of the sets of n things; what is not is asked, as long as the budget lasts."""

    def __init__(self, n: int, ask: Ask, known: Iterable[tuple[Items, bool | None]] = ()) -> None:
        self.n, self.ask = n, ask
        self.known = dict(known)

    def look(self, sets: Iterable[Items], budget: int) -> int:
        """Ask those that are not known, at most so many; returns how many were asked."""
        new = [own for own in dict.fromkeys(sets) if own not in self.known][: max(budget, 0)]
        if new:
            self.known.update(zip(new, self.ask(new), strict=True))
        return len(new)


class View:
    """The same outcomes as a search sees them: by the sets themselves or by what they leave, for either outcome."""

    def __init__(self, outcomes: Outcomes, *, other_side: bool = False, wanted: bool = True) -> None:
        self.outcomes, self.n = outcomes, outcomes.n
        self.wanted = wanted
        self.everything = frozenset(range(self.n))
        self.other_side = other_side

    def turned(self, items: Items) -> Items:
        return self.everything - items if self.other_side else items

    def holds(self, items: Items) -> bool | None:
        """Whether a set does what is looked for; None: not known."""
        value = self.outcomes.known.get(self.turned(items))
        return None if value is None else value == self.wanted

    def holding(self) -> list[Items]:
        """The sets that are known to do it, the smallest first."""
        sets = [self.turned(items) for items, value in self.outcomes.known.items() if value == self.wanted]
        return sorted(sets, key=lambda items: (len(items), sorted(items)))

    def tried_up_to(self) -> int:
        """The size up to which each set is known not to do it."""
        failing = Counter(
            len(items) for items, value in self.outcomes.known.items() if value is not None and value != self.wanted
        )
        sizes = (self.n - size if self.other_side else size for size in range(self.n + 1))
        tried = itertools.takewhile(lambda pair: failing[pair[1]] == math.comb(self.n, pair[0]), enumerate(sizes))
        return sum(1 for _ in tried) - 1
