"""Which answers to ask for next when a system is shaken: all levels a little, then more where it seems to break.

Questions come in one random order, and each way to ask gets a beginning of it. Which ways are continued may depend on
anything that was seen, which questions they get does not: what is claimed of one holds whenever the budget ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from shaketable.analyses.arms import CLEAN, Arm, Levels
from shaketable.statistics.betting import n_to_claim
from shaketable.types import Shake

N_CLEAN = 2
"""Clean answers to each question: what differs between them is noise."""
N_FIRST = 5
"""Questions whose clean answers come before all else: they tell what a call costs."""
LEAST_SCREENED = 5
"""With fewer, arms of two factors are left out for the sake of the others."""
SCREENING_SHARE = 0.4
"""Of the budget, at most, unless one factor at a time already takes more."""
NARROWEST = 3
"""Arms that are continued in a round, at least."""
OPTIMISM = 0.5
"""The spread of a loss, as a guess: an arm with few questions is not given up by bad luck."""
BLOCKS = 10
"""Rounds that it takes, at least, to ask an arm all questions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    place: int
    """Of the question, in the random order."""
    arm: Arm
    repeat: int = 0


Kept = float | None
"""1: the answer is as good as it should be, 0: it is not; None: it failed, or the question has no such wording."""
Walk = Generator[list[Ask], list[Kept], None]


@dataclass
class Seen:
    """What came of the questions so far, in their order."""

    n_questions: int
    clean: list[Kept] = field(default_factory=list)
    """The mean of a question's clean answers."""
    kept: dict[Arm, list[Kept]] = field(default_factory=dict)

    def losses(self, arm: Arm) -> list[float]:
        """Clean minus disturbed, of questions that have both."""
        pairs = zip(self.clean, self.kept.get(arm, ()), strict=False)
        return [clean - kept for clean, kept in pairs if clean is not None and kept is not None]

    def is_open(self, arm: Arm) -> bool:
        return len(self.kept.get(arm, ())) < self.n_questions

    def ask(self, arms: Sequence[Arm], n: int) -> Walk:
        """Ask the next n questions of each arm, and the clean answers that they need."""
        begins = {arm: len(self.kept.setdefault(arm, [])) for arm in arms}
        ends = {arm: min(begin + n, self.n_questions) for arm, begin in begins.items()}
        n_clean = max(ends.values()) if arms else min(n, self.n_questions)
        asks = [Ask(place=p, arm=CLEAN, repeat=r) for p in range(len(self.clean), n_clean) for r in range(N_CLEAN)]
        asks += [Ask(place=place, arm=arm) for arm in arms for place in range(begins[arm], ends[arm])]
        asks.sort(key=lambda ask: (ask.place, ask.arm != CLEAN))  # A budget that ends in between leaves whole pairs.
        outcomes = yield asks
        answers: dict[int, list[float]] = {}
        for ask, outcome in zip(asks, outcomes, strict=True):
            if ask.arm != CLEAN:
                self.kept[ask.arm].append(outcome)
            elif outcome is not None:
                answers.setdefault(ask.place, []).append(outcome)
        self.clean += [_mean(answers[place]) if place in answers else None for place in range(len(self.clean), n_clean)]


def walk(levels: Levels, n_questions: int, n_affordable: Callable[[], float], shake: Shake) -> Walk:
    """All that is asked, in batches; each is sent what became of it. It ends when every question was asked in every
    way, or when the first questions all fail, and is dropped when the budget is spent. `n_affordable`: answers that the
    whole budget is likely to buy."""
    seen = Seen(n_questions)
    yield from seen.ask((), N_FIRST)
    if all(clean is None for clean in seen.clean):
        return  # It answers nothing: the budget is not thrown after it.
    screening = screen(levels, min(n_questions, shake.screened), n_affordable())
    yield from seen.ask(screening.arms, screening.n_questions)
    n_rounds = 0
    for arms in (screening.arms, (*levels.single, *levels.paired)):
        while open_arms := [arm for arm in arms if seen.is_open(arm)]:
            n_rounds += 1
            chosen = choose(open_arms, {arm: seen.losses(arm) for arm in arms}, n_rounds)
            yield from seen.ask(chosen, max(LEAST_SCREENED, n_questions // BLOCKS))


@dataclass(frozen=True, kw_only=True, slots=True)
class Screening:
    arms: tuple[Arm, ...]
    n_questions: int
    """The first of so many are asked of each."""


def screen(levels: Levels, n_questions: int, n_calls: float) -> Screening:
    """What the budget allows to look at, of so many questions at most. Nothing that was answered decides."""
    single = levels.single
    for arms in ((*single, *levels.paired), (*single, *levels.heated), single):
        n = SCREENING_SHARE * n_calls / (N_CLEAN + len(arms))
        if n >= LEAST_SCREENED:
            return Screening(arms=arms, n_questions=int(min(n, n_questions)))
    n = n_calls / (N_CLEAN + len(single))
    return Screening(arms=single, n_questions=int(max(1, min(n, LEAST_SCREENED, n_questions))))


def least_calls(levels: Levels, n_questions: int) -> int:
    """Answers without which not even each factor is looked at alone, with a few questions."""
    return (N_CLEAN + len(levels.single)) * min(LEAST_SCREENED, n_questions)


def least_questions(levels: Levels, error: float) -> int | None:
    """With fewer, not even a factor that costs all answers could be shown to cost any."""
    return n_to_claim(1.0, 0.0, levels.error_of(levels.single[0], error), power=1.0) if levels.single else None


def choose(open_arms: Sequence[Arm], losses: Mapping[Arm, Sequence[float]], n_rounds: int) -> tuple[Arm, ...]:
    """The most promising of the arms with questions left: half as many in each round, down to a few."""
    width = max(NARROWEST, math.ceil(len(losses) / 2**n_rounds))
    return tuple(sorted(open_arms, key=lambda arm: (-promise(arm, losses), bool(arm.parts), str(arm)))[:width])


def promise(arm: Arm, losses: Mapping[Arm, Sequence[float]]) -> float:
    """How much it may lose, with optimism; of two factors at once, how much more than either does alone."""
    own = losses[arm]
    alone = [_mean(losses[part]) for part in arm.parts if losses.get(part)]
    return (_mean(own) if own else 0.0) + OPTIMISM / math.sqrt(len(own) + 1) - max([0.0, *alone])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
