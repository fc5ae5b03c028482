"""The six promises a part can keep. Lists go in; lists of the same length and order come out."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from shaketable.types import (
    Answer,
    Completion,
    Effort,
    Evidence,
    Failure,
    Hit,
    Json,
    Probe,
    Prompt,
    Query,
    Question,
    Reading,
    Record,
    Reply,
    Score,
    Step,
    Variant,
)

Steps = Generator[Step, Reply, Answer]


class Part(Protocol):
    """What all parts share: a frozen dataclass whose fields are its settings."""

    version: ClassVar[int]
    """Raised when the part's behavior changes, so that old and new results never mix."""


@runtime_checkable
class Variation(Protocol):
    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        """The wordings of each question; a variation may make several, or keep a rejected one."""


@runtime_checkable
class Perturbation(Protocol):
    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        """The evidence that each question gets instead of its hits. Draws come from the part's seed
        and the question id alone, so one question has one disturbed context in a whole study."""


@runtime_checkable
class Retriever(Protocol):
    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """At most k hits for each query, best first."""


@runtime_checkable
class Model(Protocol):
    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]: ...

    def environment(self) -> Mapping[str, Json]:
        """Engine, version, dtype, threads, exact model revision: stored with each record."""


@runtime_checkable
class StreamingModel(Model, Protocol):
    """A model that hands replies back as they finish, so that nobody waits for the slowest."""

    def submit(self, ticket: int, prompt: Prompt) -> None:
        """A method's later prompts have the ticket of its first: the lower a ticket, the older its trial."""

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        """Work until at least one submitted prompt is finished; empty when none is waiting."""


@runtime_checkable
class WhiteBoxModel(Model, Protocol):
    def probe(self, probes: Sequence[Probe]) -> list[Reading | Failure]: ...


@runtime_checkable
class LogitModel(Model, Protocol):
    """A model that tells the next token's distribution after any beginning of an answer."""

    def expand(self, asked: Sequence[tuple[Prompt, Sequence[tuple[int, ...]]]]) -> list[list[Any]]:
        """For each prompt and each of its beginnings, the log-probabilities of all tokens at temperature 1."""

    def token_bytes(self) -> tuple[list[bytes], frozenset[int]]:
        """What each token adds to the text, and the tokens that end it."""


@runtime_checkable
class Metric(Protocol):
    """A metric that reads the answer alone says `reads_trace: ClassVar[bool] = False`; its records then come without
    trace and evidence, which is faster."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        """The scores of each record: one number for most metrics, several named ones for some."""


@runtime_checkable
class Method(Protocol):
    """One whose settings follow the dataset says `follows_dataset`, and gives itself with them settled by
    `suited_to(hops)`, where hops is `single_hop` or `multi_hop`: the plan knows the dataset, a method never does."""

    @property
    def searches(self) -> bool:
        """False: retrievers and perturbations are not crossed with this method."""

    wants: ClassVar[tuple[str, ...]]
    """What the model must be able to give (`attention`, `entropy`); checked when planning."""

    def answer(self, wording: str) -> Steps: ...


@runtime_checkable
class BoundedMethod(Method, Protocol):
    """A method that says what it takes at most, so that a run can be paid for before it begins."""

    def at_most(self, max_tokens: int) -> Effort:
        """Of one trial, where a generation that sets no limit of its own has `max_tokens`."""


Analysis = Any
"""A plain function: (score table, questions, settings) -> Finding."""
