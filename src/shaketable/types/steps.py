"""The steps a method may ask for, the replies to them, and the answer it ends with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shaketable.types.evidence import Evidence, Hit
from shaketable.types.plain import NOTHING, Json, Message
from shaketable.types.prompts import Completion


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    query: str
    k: int
    found: tuple[Hit, ...] | None = None
    """What a pipeline found by itself, instead of what a retriever would; None: a retriever searches."""
    is_handed_over: bool = True
    """Whether the perturbation may act; False: what a pipeline found is told after the fact."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generate:
    messages: tuple[Message, ...]
    layout: Literal["chat", "plain"] = "chat"
    max_tokens: int | None = None
    """None: the study's value."""
    stop: tuple[str, ...] = ()
    sampling: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Values that the method fixes for this step alone, such as temperature=0.7."""
    hits: tuple[Hit, ...] = ()
    """Evidence as passages, for a pipeline; a model reads the messages alone."""
    wants: tuple[str, ...] = ()
    purpose: str = ""
    """What a call beside the method's own is for, such as `answer_completion`; such calls can be left out of counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """Read a text with a white-box model, without generating."""

    text: str
    wants: tuple[str, ...]
    """`tokens`, `attention`, `logprobs`, `entropy` ..."""
    token_ids: tuple[int, ...] | None = None
    """The very tokens to read, such as those just generated; None: the text is cut into tokens anew."""
    before: tuple[Message, ...] = ()
    """A prompt to read first; the reading is of the text alone."""
    layout: Literal["chat", "plain"] = "chat"
    """Of the prompt before, as in Generate."""
    beginning_mark: bool = False
    """Read the model's beginning mark, if it has one, before a text that has no prompt, so that the first token has a
    probability and attention has where to rest. The reading is of the text alone: rows of attention then sum to less
    than 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The reply to a Probe."""

    tokens: tuple[str, ...]
    """As text; a token that begins a word keeps the space before it."""
    extras: Mapping[str, Any]
    """`attention`: of the last layer, heads x tokens x tokens; `logprobs` and `entropy` of each token given those
    before it, None for the first of all; `token_ids`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A decision a method wants in its trace, such as a trigger with its value; it needs no reply."""

    name: str
    values: Mapping[str, Json]


Step = Search | Generate | Probe | Note
Reply = Evidence | Completion | Reading | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a method ends with.

    >>> import shaketable
    >>> shaketable.Answer(text="Paris", working="Its capital is Paris.").text
    'Paris'
    """

    text: str
    working: str = ""
    """Everything the method wrote on its way; empty where that is the answer itself."""
    hits: tuple[Hit, ...] = ()
    """The evidence the final text relied on."""
    abstained: bool = False
    reason: str | None = None
    """Why the text is empty, such as `out_of_tokens`; None: it is not, or the method does not say."""
