"""A function of a question → a variation; a generator of steps → a method."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import ClassVar

from shaketable import catalog
from shaketable.errors import PartError, ShaketableError
from shaketable.protocols import Steps
from shaketable.stages.own.evidence import rng_of
from shaketable.stages.own.function_part import FunctionPart, trouble
from shaketable.text.normalization import without_surrogates
from shaketable.types import Answer, Question, Variant
from shaketable.variations.gate.refusal import Refusal, refuse

WORDING = "the question, as text"
VARIATION_GIVEN = ("question", "rng")
NO_WORDING = Refusal(kind="nothing_to_change", text="the variation gave no wording")


class FunctionVariation(FunctionPart):
    """Words a question another way, or several; None where it has no other wording."""

    loads_nothing: ClassVar[bool] = False
    seed: int

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [self._words(question) for question in questions]

    def _words(self, question: Question) -> list[Variant]:
        rng = rng_of(self, self.seed, question) if "rng" in self.given else None
        try:
            texts = _listed(self.call(question.text, {"question": question, "rng": rng}))
        except ShaketableError:
            raise
        except Exception as error:
            raise trouble(self, error, f"question {question.id}") from error
        label = catalog.label(self)
        if not texts:
            return [refuse(Variant(question_id=question.id, text=question.text, variation=label), NO_WORDING)]
        wordings: dict[str, None] = {}
        for text in texts:
            if not isinstance(text, str) or not text.strip():
                raise PartError(
                    f"{self.name} returned {text!r:.60} for question {question.id}. A variation returns a wording, a "
                    "list of wordings, or None."
                )
            wordings[without_surrogates(text).strip()] = None
        return [Variant(question_id=question.id, text=text, variation=label) for text in wordings]


def _listed(given: object) -> list[object]:
    """What a variation returned, one by one; a thing that is no list stands alone, and is told by what it is."""
    if given is None:
        return []
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]


class FunctionMethod(FunctionPart):
    """Answers by the steps that the function yields; it returns the answer as text, or an `Answer`."""

    searches: ClassVar[bool]
    wants: ClassVar[tuple[str, ...]] = ()

    def answer(self, wording: str) -> Steps:
        steps = self.call(wording, {})
        reply = (yield from steps) if inspect.isgenerator(steps) else steps
        if isinstance(reply, str):
            return Answer(text=reply.strip())
        if not isinstance(reply, Answer):
            raise TypeError(f"{self.name} returned {reply!r:.60}; a method returns the answer as text, or an Answer")
        return reply
