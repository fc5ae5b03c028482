"""Parts that misbehave or watch, for tests of the stages. `with_fake_parts` puts them into the catalog."""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar

from shaketable.errors import RetrieverDown
from shaketable.methods.asking import generate, search
from shaketable.retrievers.gold import Gold
from shaketable.types import Answer, Completion, Evidence, Failure, Hit

CATALOG = {
    "model": {
        "counting": "fake_parts:Counting",
        "flaky": "fake_parts:Flaky",
        "out_of_order": "fake_parts:OutOfOrder",
        "short_of_one": "fake_parts:ShortOfOne",
        "silent": "fake_parts:Silent",
        "half_emoji": "fake_parts:HalfEmoji",
        "rewriting": "fake_parts:Rewriting",
        "untouchable": "fake_parts:Untouchable",
    },
    "method": {
        "spying": "fake_parts:Spying",
        "raising": "fake_parts:Raising",
        "forgetful": "fake_parts:Forgetful",
        "asking_wrongly": "fake_parts:AskingWrongly",
        "two_steps": "fake_parts:TwoSteps",
        "own_temperature": "fake_parts:OwnTemperature",
    },
    "retriever": {
        "watched_gold": "fake_parts:WatchedGold",
        "short_search": "fake_parts:ShortSearch",
        "flaky_gold": "fake_parts:FlakyGold",
    },
    "perturbation": {"emptying": "fake_parts:Emptying"},
}

prompts: list[Any] = []
"""Every prompt that a model of this file was given."""
searched: list[tuple[str, str]] = []
"""Question id and text of every query."""
seen: list[dict[str, Any]] = []
"""Everything a spying method could reach by name."""
finished: list[int] = []
"""Tickets, in the order they were handed back."""
down: list[str] = []
"""While it holds a failure's kind, `flaky` fails so, and `rewriting` where the question is named after it; `flaky_gold`
answers as many queries as it says, and `rewriting` is interrupted after as many prompts as stand after `interrupt`."""


def forget() -> None:
    for memory in (prompts, searched, seen, finished, down):
        memory.clear()


def reply(text: str) -> Completion:
    return Completion(text=text, finish_reason="end", n_prompt_tokens=5, n_tokens=1, seconds=0.25)


class _Model:
    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def environment(self):
        return {"engine": "fake"}

    def generate(self, given):
        prompts.extend(given)
        return [self.say(prompt) for prompt in given]

    def say(self, prompt):
        return reply(f"answer {prompt.seed}")


@dataclass(frozen=True, kw_only=True)
class Counting(_Model):
    """Answers with the seed."""


@dataclass(frozen=True, kw_only=True)
class HalfEmoji(_Model):
    def say(self, prompt):
        return reply("Paris \ud83d")


@dataclass(frozen=True, kw_only=True)
class Flaky(_Model):
    """Fails above temperature 0 while it is down; `busy` may be tried again, `too_long` may not."""

    def say(self, prompt):
        if down and prompt.sampling.temperature > 0:
            return Failure(kind=down[0], message="no", step="generate", may_retry=down[0] == "busy")
        return super().say(prompt)


@dataclass(frozen=True, kw_only=True)
class Rewriting(_Model):
    """Rewords questions, another way each time it is asked."""

    def say(self, prompt):
        if down[:1] == ["interrupt"] and len(prompts) > int(down[1]):
            raise KeyboardInterrupt
        if down[:1] != ["interrupt"] and any(name in prompt.messages[0].content for name in down[1:]):
            return Failure(kind=down[0], message="no", step="generate", may_retry=down[0] == "busy")
        return reply(f"hey, who was it that wrote this book, way {len(prompts)} of {prompt.seed}?")


@dataclass(frozen=True, kw_only=True)
class Untouchable(_Model):
    """Must not be asked."""

    def environment(self):
        raise AssertionError("The model was touched.")

    def generate(self, given):
        raise AssertionError("The model was asked.")


@dataclass(frozen=True, kw_only=True)
class ShortOfOne(_Model):
    def generate(self, given):
        return super().generate(given)[:-1]


@dataclass(frozen=True, kw_only=True)
class Silent(_Model):
    def submit(self, ticket, prompt):
        pass

    def collect(self):
        return []


waiting: deque[tuple[int, Any]] = deque()


@dataclass(frozen=True, kw_only=True)
class OutOfOrder(_Model):
    """Hands one reply back at a time, the newest first; the question `q0` waits until all others are done."""

    def submit(self, ticket, prompt):
        prompts.append(prompt)
        waiting.append((ticket, prompt))

    def collect(self):
        if not waiting:
            return []
        slow = [one for one in waiting if "book 0?" in one[1].messages[-1].content]
        quick = [one for one in waiting if one not in slow]
        chosen = (quick or slow)[-1]
        waiting.remove(chosen)
        finished.append(chosen[0])
        return [(chosen[0], self.say(chosen[1]))]


class _Method:
    version: ClassVar[int] = 1
    searches: ClassVar[bool] = False
    wants: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, kw_only=True)
class Spying(_Method):
    """Notes all it is given: its arguments, and what comes back from a search."""

    searches: ClassVar[bool] = True

    def answer(self, *args, **kwargs):
        seen.append(
            {"args": args, "kwargs": kwargs, "fields": vars(self), "locals": sorted(inspect.currentframe().f_locals)}
        )
        hits = yield from search(args[0], 5)
        seen.append({"hits": hits})
        found = yield from generate("say something")
        return Answer(text=found.text, hits=hits)


@dataclass(frozen=True, kw_only=True)
class OwnTemperature(_Method):
    """Sets the temperature of its one generation itself."""

    searches: ClassVar[bool] = True

    def answer(self, wording):
        hits = yield from search(wording, 5)
        found = yield from generate(wording, sampling={"temperature": 0.7})
        return Answer(text=found.text, hits=hits)


@dataclass(frozen=True, kw_only=True)
class Raising(_Method):
    def answer(self, wording):
        if "book 1?" in wording:
            raise ZeroDivisionError("at once")
        found = yield from generate(wording)
        if "book 2?" in wording:
            raise KeyError("later")
        return Answer(text=found.text)


@dataclass(frozen=True, kw_only=True)
class Forgetful(_Method):
    def answer(self, wording):
        yield from generate(wording)


@dataclass(frozen=True, kw_only=True)
class AskingWrongly(_Method):
    def answer(self, wording):
        found = yield "please"
        return Answer(text=str(found))


@dataclass(frozen=True, kw_only=True)
class TwoSteps(_Method):
    """Searches twice and generates twice."""

    searches: ClassVar[bool] = True

    def answer(self, wording):
        yield from search(wording, 2)
        draft = yield from generate(f"draft: {wording}", max_tokens=3, sampling={"temperature": 0.7}, stop=("\n",))
        hits = yield from search(draft.text, 2)
        final = yield from generate(f"final: {draft.text}")
        return Answer(text=final.text, working=draft.text, hits=hits)


@dataclass(frozen=True, kw_only=True)
class WatchedGold(Gold):
    def search(self, queries, k) -> list[list[Hit]]:
        searched.extend((query.question.id, query.text) for query in queries)
        return super().search(queries, k)


@dataclass(frozen=True, kw_only=True)
class ShortSearch(Gold):
    def search(self, queries, k) -> list[list[Hit]]:
        return super().search(queries, k)[:-1]


@dataclass(frozen=True, kw_only=True)
class FlakyGold(WatchedGold):
    """Answers as many queries as `down` says, and is down from then on."""

    def search(self, queries, k) -> list[list[Hit]]:
        if down and len(searched) + len(queries) > int(down[0]):
            raise RetrieverDown("The engine does not answer. Check it, then run again.")
        return super().search(queries, k)


@dataclass(frozen=True, kw_only=True)
class Emptying:
    version: ClassVar[int] = 1

    def perturb(self, questions, hits):
        return [Evidence(hits=()) for _ in questions]
