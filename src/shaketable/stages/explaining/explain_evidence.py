"""The fewest sentences whose change turns an answer, and the fewest that give it alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shaketable.stages.explaining.asking_anew import Asker, Asking
from shaketable.stages.explaining.changed_evidence import Changed
from shaketable.stages.explaining.explained_trial import ExplainedTrial
from shaketable.stages.explaining.sentence_edits import Edits, edits_by
from shaketable.stages.explaining.set_outcomes import NOTHING, Items, Outcomes, View
from shaketable.stages.explaining.smallest_sets import find_smallest
from shaketable.store.explanations import GivenAnswer, Operation, SentenceSet

DONE: dict[Operation, str] = {
    "removal": "taking sentences away",
    "alone": "asking with few sentences alone",
    "masking": "masking names in sentences",
    "replacement": "replacing sentences",
}
SETTLED = ("smallest", "none")
"""What more calls would not change."""


class ChangedSets:
    """Sets of sentences, each changed in one way, and what is answered then."""

    def __init__(self, asker: Asker, base: GivenAnswer, before: Changed, edits: Edits, *, keeps: bool = False) -> None:
        self.asker, self.before, self.edits, self.keeps = asker, before, edits, keeps
        self.ids = tuple(edits)
        self.answers: dict[Items, GivenAnswer] = {NOTHING: base}
        # A set that is kept alone is known only where nothing but the evidence seen so far can come.
        known = [] if keeps else [(NOTHING, base.is_right)]
        self.outcomes = Outcomes(len(self.ids), self._ask, known)

    def _ask(self, sets: Sequence[Items]) -> list[bool | None]:
        answers = self.asker.ask([Asking(perturbation=self._changed(items)) for items in sets])
        self.answers.update(zip(sets, answers, strict=True))
        return [answer.is_right for answer in answers]

    def name(self, items: Items) -> tuple[str, ...]:
        """The sentences' ids, in reading order."""
        return tuple(self.ids[i] for i in sorted(items))

    def _changed(self, items: Items) -> Changed:
        chosen = self.name(items)
        if self.keeps:
            return Changed(before=self.before.before, only=frozenset(chosen))
        return Changed(before=self.before.before, edits={id: self.edits[id] for id in chosen})


class EvidenceSearch:
    def __init__(
        self, explained: ExplainedTrial, asker: Asker, base: GivenAnswer, watching: Changed, *, n_searches: int
    ) -> None:
        self.explained, self.asker, self.base, self.before = explained, asker, base, watching
        removal = edits_by("removal", explained.question, list(watching.seen.values()))
        assert not isinstance(removal, str)
        self.removal = ChangedSets(asker, base, watching, removal)
        # After several searches, taking sentences away may bring others; alone is alone then by another way.
        self.alone = ChangedSets(asker, base, watching, removal, keeps=True) if n_searches > 1 else None
        self.searched: dict[Operation, tuple[ChangedSets, View]] = {}

    def run(self, by: Sequence[Operation], n_after: int, progress: Callable[[str], None]) -> tuple[SentenceSet, ...]:
        """`n_after`: searches of other kinds that want their share of the calls."""
        operations = [operation for operation in DONE if operation in (*by, "alone")]
        sets = []
        for n_done, operation in enumerate(operations):
            progress(DONE[operation])
            changed = self._changed(operation)
            if isinstance(changed, str):
                sets.append(SentenceSet(operation=operation, reason=changed))
                continue
            self.searched[operation] = changed, self._view(operation, changed)
            budget = self.asker.n_affordable() // (len(operations) - n_done + n_after)
            sets.append(_search(operation, *self.searched[operation], budget))
        return tuple(sets)

    def settle(self, sets: Sequence[SentenceSet], progress: Callable[[str], None]) -> tuple[SentenceSet, ...]:
        """The same sets, those that are not proven smallest looked for again with the calls that are left."""
        unsettled = [own.operation for own in sets if own.reason is None and own.certainty not in SETTLED]
        settled = []
        for own in sets:
            budget = self.asker.n_affordable() // len(unsettled) if own.operation in unsettled else 0
            if budget:
                progress(f"{DONE[own.operation]}, with the calls that are left")
                again = _search(own.operation, *self.searched[own.operation], budget)
                own = replace(again, n_asked=own.n_asked + again.n_asked, n_untold=own.n_untold + again.n_untold)
                unsettled.remove(own.operation)
            settled.append(own)
        return tuple(settled)

    def _changed(self, operation: Operation) -> ChangedSets | str:
        """Or why there are none."""
        if operation in ("removal", "alone"):
            return self.alone if operation == "alone" and self.alone else self.removal
        edits = edits_by(operation, self.explained.question, list(self.before.seen.values()))
        return edits if isinstance(edits, str) else ChangedSets(self.asker, self.base, self.before, edits)

    def _view(self, operation: Operation, changed: ChangedSets) -> View:
        """The fewest that give the right answer alone; else whose change makes right wrong, or wrong right."""
        if operation == "alone":
            return View(changed.outcomes, other_side=self.alone is None)
        return View(changed.outcomes, wanted=not self.base.is_right)


def _search(operation: Operation, changed: ChangedSets, view: View, budget: int) -> SentenceSet:
    smallest = find_smallest(view, budget)
    items = smallest.items
    ids = None if items is None else changed.name(items)
    return SentenceSet(
        operation=operation,
        certainty=smallest.certainty,
        sentences=ids,
        others=tuple(map(changed.name, smallest.others)),
        answer=None if items is None else changed.answers[view.turned(items)],
        edits=() if ids is None or operation == "alone" else tuple(changed.edits[id] for id in ids),
        n_candidates=len(changed.ids),
        tried_up_to=smallest.tried_up_to,
        n_asked=smallest.n_asked,
        n_untold=smallest.n_untold,
    )
