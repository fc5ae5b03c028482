"""What one system answered to all wordings of its questions, paired with its answers to the original wording."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shaketable.factors import ORIGINAL, Cell, System, is_by_people

Group = TypeVar("Group")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A finished trial."""

    key: str
    question_id: str
    variation: str
    wording: str
    repeat: int
    n_runs: int
    """Of its variation, those that failed too: where repeats end of themselves, some variations have more."""
    answer: str
    n_searches: int
    n_generations: int
    n_tokens: int

    @property
    def is_empty(self) -> bool:
        """Whether the answer has no word."""
        return not self.answer.strip()

    @property
    def searched(self) -> bool:
        return self.n_searches > 0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What one system answered to the wordings of one dataset's questions, or of all its datasets."""

    cell: Cell
    """Of any variation; its dataset is None where several are taken together."""
    replies: Mapping[str, Sequence[Reply]]
    """By question id."""
    n_failed: Mapping[str, int]
    """By variation: trials that failed. They are in no number."""

    @property
    def system(self) -> System:
        assert self.cell.system is not None, "answers belong to a system"
        return self.cell.system

    @property
    def variations(self) -> list[str]:
        """The original first, the others by name."""
        names = {reply.variation for reply in self.every_reply()} | set(self.n_failed)
        return sorted(names, key=lambda name: (name != ORIGINAL, name))

    @property
    def reworded(self) -> list[str]:
        return [name for name in self.variations if name != ORIGINAL]

    @property
    def n_runs(self) -> int:
        """Trials of the original wording of a question, at most."""
        runs = Counter(reply.question_id for reply in self.every_reply() if reply.variation == ORIGINAL)
        return max(runs.values(), default=0)

    @property
    def searches(self) -> bool:
        """Whether it can search, or did."""
        return self.system.retriever is not None or any(reply.searched for reply in self.every_reply())

    @property
    def choices_of_people(self) -> tuple[bool, ...]:
        """With rewrites by people, and without where there are both, as the study tells them apart."""
        by_people = [is_by_people(variation) for variation in self.reworded]
        return (True, False) if 0 < sum(by_people) < len(by_people) else (True,)

    def every_reply(self) -> Iterator[Reply]:
        return (reply for replies in self.replies.values() for reply in replies)

    def means(self, number: Callable[[Reply], float | None]) -> dict[str, dict[str, float]]:
        """Variation → question → mean of a number over its wordings and runs."""
        return _averaged(
            (reply.variation, question, number(reply))
            for question, replies in self.replies.items()
            for reply in replies
        )

    def paired(self, number: Callable[[Reply, Reply], float | None]) -> dict[str, dict[str, float]]:
        """Variation → question → mean of a number of original and reworded over wordings and runs."""
        return _averaged(
            (reworded.variation, original.question_id, number(original, reworded))
            for original, reworded in self.pairs()
        )

    def pairs(self) -> Iterator[tuple[Reply, Reply]]:
        """Each reworded trial with the trial of the original wording of the same run."""
        for replies in self.replies.values():
            originals = {reply.repeat: reply for reply in replies if reply.variation == ORIGINAL}
            for reply in replies:
                if reply.variation != ORIGINAL and reply.repeat in originals:
                    yield originals[reply.repeat], reply

    def sets(self, *, with_people: bool = True) -> Iterator[tuple[str, list[Reply]]]:
        """Each question with the trials of one run to two wordings or more, the original among them. Only runs that all
        its variations have: others would compare fewer wordings."""
        for question, replies in self.replies.items():
            runs: dict[int, list[Reply]] = {}
            n_shared = min((reply.n_runs for reply in replies), default=0)
            for reply in replies:
                if reply.repeat < n_shared and (with_people or not is_by_people(reply.variation)):
                    runs.setdefault(reply.repeat, []).append(reply)
            for run in runs.values():
                if len(run) > 1 and any(reply.variation == ORIGINAL for reply in run):
                    yield question, run

    def over_sets(self, number: Callable[[list[Reply]], float | None], *, with_people: bool = True) -> dict[str, float]:
        """Question → mean over runs of a number of all its wordings together."""
        values = ((None, question, number(run)) for question, run in self.sets(with_people=with_people))
        return _averaged(values).get(None, {})

    def originals(self) -> Iterator[tuple[str, list[Reply]]]:
        """Each question with its trials of the original wording, where there are two or more: chance alone differs."""
        for question, replies in self.replies.items():
            runs = [reply for reply in replies if reply.variation == ORIGINAL]
            if len(runs) > 1:
                yield question, runs

    def between_originals(self, number: Callable[[Reply, Reply], float | None]) -> dict[str, float]:
        """Question → mean of a number of two trials over all pairs of the original wording, either of them first.

        The noise of `paired`: what it would give if a rewording did nothing.
        """
        values = (
            (None, question, number(first, second))
            for question, runs in self.originals()
            for first, second in itertools.permutations(runs, 2)
        )
        return _averaged(values).get(None, {})

    def over_originals(self, number: Callable[[list[Reply]], float | None]) -> dict[str, float]:
        """Question → a number of all trials of its original wording together: the noise of `over_sets`."""
        return _averaged((None, question, number(runs)) for question, runs in self.originals()).get(None, {})


def _averaged(values: Iterable[tuple[Group, str, float | None]]) -> dict[Group, dict[str, float]]:
    grouped: dict[Group, dict[str, list[float]]] = {}
    for group, question, value in values:
        if value is not None:
            grouped.setdefault(group, {}).setdefault(question, []).append(value)
    # fsum, so that the order of the records does not change the last bit.
    return {
        group: {question: math.fsum(numbers) / len(numbers) for question, numbers in by_question.items()}
        for group, by_question in grouped.items()
    }
