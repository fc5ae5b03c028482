"""What driver and workers tell each other: frozen values, which Ray packs for its own processes and nobody stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shaketable.errors import ShaketableError
from shaketable.types import Json, Question, Record, Study, Trial


@dataclass(frozen=True, kw_only=True, slots=True)
class Orders:
    """What a worker is started with."""

    study: Study
    """With one model, and with the texts of prompts that files hold."""
    identities: tuple[str, ...]
    """Of the conditions as the driver has them: a worker with another version of a part must not answer."""
    threads: int
    folder: str
    """The driver's working folder, from which relative paths of parts are read where it exists."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of the environment; never a secret."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    trials: tuple[tuple[Trial, int], ...]
    """Each with the place of its condition among those of the orders."""
    questions: tuple[Question, ...]
    """That the trials ask, each once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A worker has its model and waits for trials."""

    where: str
    machine: Mapping[str, Json]
    """What the last digit of a product may depend on; empty: nothing is computed there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    records: tuple[Record, ...]
    environment: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """What a user can mend, and no other worker would do better."""

    where: str
    error: ShaketableError


@dataclass(frozen=True, kw_only=True, slots=True)
class Died:
    """A worker is gone, alone or with its node."""

    why: str


Message = Loaded | Answers | Refused | Died
