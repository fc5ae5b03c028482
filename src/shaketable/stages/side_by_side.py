"""How many trials are under way side by side: fewer where a run was cut before anything of it was stored."""

from __future__ import annotations

from shaketable.store.database import Database

NOTE = "side_by_side"
FEWER = 8
"""So many times fewer are begun after a go of which nothing was stored; with one, a reply comes soonest."""


class SideBySide:
    """As many as there may be, unless the last go at the run was cut with nothing to show for it: replies of many
    trials together take longer than those of a few, and a run that is killed every few seconds would never get on, or
    read the prompts of all again and again for a token or two."""

    def __init__(self, most: int, store: Database | None) -> None:
        """`store`: of the run, where the next go looks it up; None: it is not cut."""
        self.most, self.store = most, store
        noted = "" if store is None else store.meta().get(NOTE, "")
        self.n = self.first = min(most, int(noted)) if noted.isdecimal() and len(noted) < 9 and int(noted) else most
        self.has_begun = self.has_stored = False

    def begin(self) -> None:
        """Something is asked. If it is cut now, the next go begins with fewer."""
        if not self.has_begun:
            self.has_begun = True
            self._note(max(1, self.first // FEWER))

    def stored(self) -> None:
        """Something was stored: the next go may begin as this one did, and here more go side by side."""
        if not self.has_stored:
            self.has_stored = True
            self._note(self.first)
        self.n = min(2 * self.n, self.most)

    def end(self) -> None:
        """All was asked, or as much as was wanted."""
        if self.has_begun and (self.first < self.most or not self.has_stored):
            self._note(self.most)

    def _note(self, n: int) -> None:
        if self.store is not None:
            self.store.set_meta(**{NOTE: n})
