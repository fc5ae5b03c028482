"""What a model is asked, and what it replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shaketable.types.evidence import Hit
from shaketable.types.plain import NOTHING, Json, Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How tokens are drawn; neutral by default, so that temperature alone shapes the dice."""

    temperature: float
    """0 means greedy: the most likely token, lowest id among equals."""
    max_tokens: int
    """New tokens at most, the end mark counted."""
    top_p: float = 1.0
    top_k: int = 0
    """0 means off."""
    repetition_penalty: float = 1.0
    library_defaults: bool = False
    """Use what the checkpoint or the provider ships instead of the three values above."""
    stop: tuple[str, ...] = ()
    """Generation ends after the first of these; it stays at the end of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    messages: tuple[Message, ...]
    """A last message by the assistant is continued, not answered."""
    sampling: Sampling
    seed: int
    layout: Literal["chat", "plain"] = "chat"
    """`plain` joins the contents as raw text without a chat template."""
    hits: tuple[Hit, ...] = ()
    """Evidence as passages, for a pipeline; a model reads the messages alone."""
    wants: tuple[str, ...] = ()
    """Extras per token: `logprobs`, `top_logprobs`, `entropy`, and `processed_logprobs`, `processed_entropy` of the
    distribution that was really sampled; `token_ids`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What a model replied to a prompt.

    >>> import shaketable
    >>> reply = shaketable.Completion(text="Paris", finish_reason="end", n_prompt_tokens=9, n_tokens=2, seconds=0.1)
    >>> reply.text
    'Paris'
    """

    text: str
    finish_reason: Literal["end", "stop", "length"]
    """The model's end mark, a stop string, or max_tokens."""
    n_prompt_tokens: int
    n_tokens: int
    """Tokens generated, thoughts and the end mark included."""
    seconds: float
    """Time the reply took, its share where it was computed with others."""
    thoughts: str = ""
    """A reasoning model's thinking, kept apart from the answer."""
    n_thought_tokens: int | None = 0
    """None: the endpoint gives thoughts without a count."""
    written: str = ""
    """Thoughts and text as one, with their tags, word for word: what a later prompt goes on from. Empty: the text."""
    tokens: tuple[str, ...] = ()
    """The generated tokens as text; empty unless extras were wanted."""
    extras: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What was wanted and could be had, one list per name, aligned with `tokens`."""
    decoding: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """The values really used: temperature, top_p, top_k, penalty, seed."""
    notes: tuple[str, ...] = ()
    """What the endpoint ignored, such as `seed_ignored` or `logprobs_missing`."""
    dollars: float | None = None
    """What the call cost, where the system says so itself; None: by the model's prices, if it has any."""
    n_calls: int = 1
    """Calls of a model that stand behind it; a pipeline may make several, and none yet while it waits."""
    hits: tuple[Hit, ...] = ()
    """What a pipeline found by itself."""
    waits: bool = False
    """Whether a pipeline wants these hits back, disturbed, before it goes on; there is no text yet then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """What a model has written of a reply that is not finished."""

    made_by: str
    """A digest of the model and of all on its machine that a token may depend on: no other goes on from it."""
    token_ids: tuple[int, ...]
    seconds: float
    """Time it took, its share where it was computed with others."""
    extras: Mapping[str, list[Json]]
    """As those of a completion, of these tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a trial has no answer. It is kept as what it is, and never counted as a wrong answer.

    >>> import shaketable
    >>> shaketable.Failure(kind="timeout", message="no answer in 120 s", step="generate", may_retry=True).kind
    'timeout'
    """

    kind: str
    """`too_long`, `timeout`, `rate_limit`, `server`, `refused_setting`, `method`, `no_evidence` ..."""
    message: str
    step: str
    """The step that failed: search, generate, probe or method."""
    may_retry: bool
    """Whether running again may help; such trials are tried again on resume."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointFact:
    """Something an endpoint does or does not do, as its replies tell."""

    value: bool | None
    """None: the replies could not tell."""
    reason: str
