"""A function of a prompt → a model; a function of a question, a chain or a query engine → a pipeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from shaketable.models.calling.adapters import Adapted
from shaketable.models.calling.asking import given_by, unasked
from shaketable.models.calling.function import Called
from shaketable.stages.own.called_model import CalledModel
from shaketable.types import Prompt

PROMPT = "the prompt, as text, or called `messages` a list of {'role', 'content'}"
MODEL_GIVEN = ("temperature", "seed", "max_tokens", "top_p", "top_k", "stop")


class FunctionModel(CalledModel):
    """Completes prompts."""

    takes_messages: ClassVar[bool]

    def _called(self) -> Called:
        function, given, settings = type(self).function, self.given, self._bound()
        takes_messages = self.takes_messages

        def call(prompt: Prompt, more: Mapping[str, object]) -> object:
            messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
            text = "\n\n".join(message.content for message in prompt.messages)
            sampling = dataclasses.asdict(prompt.sampling) | {"seed": given_by(prompt)["seed"]}
            taken = {name: sampling[name] for name in given}
            return function(messages if takes_messages else text, **settings, **taken)

        return Called(takes=given, refuse=lambda prompt: None, call=call)


class FunctionPipeline(CalledModel):
    """Answers a question in its own way, and stands where a model and a method do."""

    adapted: ClassVar[Adapted]

    @property
    def takes(self) -> frozenset[str]:
        return frozenset("context" if name == "contexts" else name for name in self.given)

    @property
    def optional(self) -> frozenset[str]:
        return frozenset("context" if name == "contexts" else name for name in self.adapted.optional)

    def _called(self) -> Called:
        adapted, settings = type(self).adapted, self._bound()

        def call(prompt: Prompt, more: Mapping[str, object]) -> object:
            available = {**given_by(prompt), **more}
            taken = {name: available[name] for name in adapted.takes}
            return adapted.call(str(available["question"]), {**settings, **taken})

        return Called(takes=adapted.takes, refuse=lambda prompt: unasked(prompt, adapted.takes), call=call)
