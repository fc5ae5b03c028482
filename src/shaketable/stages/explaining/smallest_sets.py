"""Which few of n things make the difference: all sets by size as far as calls allow, then delta debugging.

Nothing is taken for granted of the things: a set may do what a larger one does not. So "smallest" is said only where
every smaller set was tried. Delta debugging is `ddmin` of Zeller and Hildebrandt (2002), "Simplifying and isolating
failure-inducing input".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shaketable.stages.explaining.set_outcomes import NOTHING, Items, View
from shaketable.store.explanations import Certainty

AT_ONCE = 64
"""Sets that are asked together: enough to fill a batch, few enough to stop early."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallestSet:
    items: Items | None
    """None: no set that was tried does it."""
    others: tuple[Items, ...]
    """Of the same size that do it too, of those that were tried."""
    certainty: Certainty
    tried_up_to: int
    """Every set of up to so many things was tried; −1: not even the empty one could be told."""
    n_asked: int
    n_untold: int
    """Sets that were asked without an answer that can be judged."""


def find_smallest(view: View, budget: int) -> SmallestSet:
    """The smallest set that does it, or one that is hard to make smaller, for at most `budget` sets asked."""
    return _Search(view, budget).run()


class _Search:
    def __init__(self, view: View, budget: int) -> None:
        self.view, self.left = view, budget
        self.asked: set[Items] = set()

    def run(self) -> SmallestSet:
        self._look([NOTHING])
        self._by_size(share=0.5)
        if self._best() is None:
            self._look([self.view.everything])
        if (start := self._best()) is not None and not self._is_irreducible(start):
            self._shrink(start)
        self._by_size(share=1.0)
        return self._result()

    def _look(self, sets: Iterable[Items]) -> None:
        turned = [self.view.turned(items) for items in sets]
        before = self.view.outcomes.known.keys() & set(turned)
        self.left -= self.view.outcomes.look(turned, self.left)
        self.asked |= {items for items in turned if items in self.view.outcomes.known and items not in before}

    def _best(self) -> Items | None:
        return next(iter(self.view.holding()), None)

    def _is_irreducible(self, items: Items) -> bool:
        return all(self.view.holds(items - {item}) is False for item in items)

    def _by_size(self, share: float) -> None:
        """Every set of one size after the other, below the best one, while a size takes no more than a share of the
        budget that is left."""
        for size in range(self.view.n + 1):
            best = self._best()
            if best is not None and len(best) <= size:
                return
            # Single things do it more often than not, so they are worth more.
            most = (max(share, 0.6) if size <= 1 else share) * self.left
            unknown = [items for items in self._of_size(size, most) if self.view.turned(items) not in self._known]
            if len(unknown) > most:
                return
            for start in range(0, len(unknown), AT_ONCE):
                batch = unknown[start : start + AT_ONCE]
                self._look(batch)
                if any(map(self.view.holds, batch)):
                    return

    @property
    def _known(self) -> dict[Items, bool | None]:
        return self.view.outcomes.known

    def _of_size(self, size: int, most: float) -> Iterator[Items]:
        """As many as could be afforded, and one more: nobody lists a million sets to leave them."""
        n = int(most) + len(self._known) + 1
        return map(frozenset, itertools.islice(itertools.combinations(range(self.view.n), size), n))

    def _shrink(self, start: Items) -> None:
        """Delta debugging, a round at a time: what is left without each of n parts is asked together; parts that can go
        one by one go together where that does it too. The parts halve until each is one thing, and none can go."""
        items, n_parts = start, min(2, len(start))
        while self.left and items:
            parts = _split(sorted(items), n_parts)
            self._look(items - part for part in parts)
            spare = [part for part in parts if self.view.holds(items - part)]
            if not spare:
                if n_parts == len(items):
                    return
                n_parts = min(2 * n_parts, len(items))
                continue
            together = items.difference(*spare)
            self._look([together])
            if self.view.holds(together):
                items, n_parts = together, n_parts - len(spare)
            else:
                items, n_parts = min((items - part for part in spare), key=len), n_parts - 1
            n_parts = min(max(n_parts, 2), len(items))

    def _result(self) -> SmallestSet:
        holding = self.view.holding()
        best, tried = next(iter(holding), None), self.view.tried_up_to()
        certainty: Certainty
        if best is None:
            certainty = "none" if tried == self.view.n else "not_found"
        elif tried >= len(best) - 1:
            certainty = "smallest"
        else:
            certainty = "irreducible" if self._is_irreducible(best) else "unfinished"
        n_untold = sum(self._known[items] is None for items in self.asked)
        return SmallestSet(
            items=best,
            others=tuple(items for items in holding[1:] if best is not None and len(items) == len(best)),
            certainty=certainty,
            tried_up_to=tried,
            n_asked=len(self.asked),
            n_untold=n_untold,
        )


def _split(items: Sequence[int], n: int) -> list[Items]:
    """In n parts of nearly equal size, in order."""
    bounds = [len(items) * i // n for i in range(n + 1)]
    return [frozenset(items[low:high]) for low, high in itertools.pairwise(bounds)]
