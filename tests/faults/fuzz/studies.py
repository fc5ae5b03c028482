"""Study files, `--set`, and the texts that name parts."""

from __future__ import annotations

import contextlib
import datetime
import functools
import math
import tomllib
from random import Random
from typing import Any

import promises
import tomli_w
from faults.fuzz.mutation import changed, damaged
from faults.fuzz.target import Target, written
from faults.fuzz.texts import integer, is_one_in, number, pick, short, text

from shaketable import catalog
from shaketable.errors import PartError, ShaketableError
from shaketable.stages.plan import plan
from shaketable.study import SHIPPED, format_study, load_study, shipped_studies

TEXTS = {name: (SHIPPED / f"{name}.toml").read_text("utf-8") for name in shipped_studies()}
PARTS = [(kind, promises.text_of(name)) for kind in promises.CLASSES for name in catalog.known(kind)]
EVERY = [*PARTS, *(("analysis", name) for name in catalog.known("analysis"))]
HARDEST = 40
"""Questions of a plan; more take longer and show nothing else."""

DATES = (datetime.date(2020, 1, 2), datetime.time(1, 2, 3), datetime.datetime(2020, 1, 2, 3, 4, 5))


def toml_value(rng: Random, deepest: int = 2) -> Any:
    """What TOML can hold."""
    kind = rng.randrange(9)
    if deepest and kind < 2:
        inner = [toml_value(rng, deepest - 1) for _ in range(rng.randrange(3))]
        return inner if kind else {short(rng): one for one in inner}
    if kind < 5:
        return (rng.choice(DATES), bool(rng.randrange(2)), rng.choice(PARTS)[1])[kind % 3]
    return pick(rng, integer, number, short)


@functools.cache
def tables(name: str) -> dict[str, Any]:
    return tomllib.loads(TEXTS[name])


def study_bytes(rng: Random, name: str) -> bytes:
    if is_one_in(rng, 3):
        return damaged(rng, TEXTS[name].encode())
    return as_toml(changed(rng, tables(name), toml_value))


def as_toml(made: Any) -> bytes:
    try:
        return tomli_w.dumps(made if isinstance(made, dict) else {"name": made}).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):  # What TOML cannot write, such as a number of 4,300 digits.
        return b"seed = 1" + b"0" * 4400


KEYS = ("name", "seed", "dataset.limit", "dataset.name", "dataset.path", "dataset.where.type", "cross.temperatures")
KEYS += ("cross.models", "cross.repeats", "generation.max_tokens", "scan.limit", "analyze.margin", "limits.max_cost")
KEYS += (
    "gate.max_drop",
    "score.metrics",
    "analyze.analyses",
    "dataset.balance.by",
    "generation.models.smollm2",
    "shake",
)


def override(rng: Random) -> str:
    """`key=value`, as `--set` takes it."""
    key = rng.choice(KEYS) if rng.randrange(4) else short(rng)
    return f"{key}={short(rng) if is_one_in(rng, 3) else safe_repr(toml_value(rng))}"


def reads_study(given: tuple[bytes, list[str]]) -> None:
    """A study is planned as it is written again."""
    content, changes = given
    file = written("study.toml", content)
    with contextlib.suppress(ShaketableError):
        study = load_study(file, changes)
        again = load_study(written("again.toml", format_study(study).encode()))
        assert again == study
        assert all(math.isfinite(t) and math.copysign(1, t) > 0 for t in study.temperatures)
        planned = plan(load_study(file, changes, limit=HARDEST))
        assert planned.n_trials >= 1
        assert len(planned.fingerprint) == 32


VALUES = (
    *(
        "()",
        "{[]: 1}",
        "{[1]}",
        "-" * 2000 + "1",
        "1" + "+1" * 2000,
        "0x" + "f" * 5000,
        "[" * 150,
        "1e999",
        "-0.0",
        "1j",
    ),
    *("...", "__import__('os')", "f'{1}'", "x", "b'a'", "(1,)", "'a' 'b'", "1_0", "''", "'\\ud83d'", "None", "True"),
)
"""What stands in a part's text for a setting."""


def part_value(rng: Random) -> str:
    if is_one_in(rng, 3):
        return rng.choice(VALUES)
    return safe_repr(pick(rng, toml_value, number, integer, short, lambda rng: (short(rng), integer(rng))))


def safe_repr(value: object) -> str:
    try:
        return repr(value)
    except ValueError:
        return "10**5000"


def part_text(rng: Random) -> tuple[str, str]:
    """A part with settings of its own, or nearly."""
    kind, usual = rng.choice(EVERY)
    name = usual.partition("(")[0]
    if is_one_in(rng, 8):
        return kind, text(rng) if is_one_in(rng, 2) else damaged(rng, usual.encode()).decode("utf-8", "replace")
    settings = [f"{rng.choice(known(kind, name))}={part_value(rng)}" for _ in range(rng.randint(1, 2))]
    if "(" in usual and rng.randrange(4):
        settings.insert(0, usual[len(name) + 1 : -1])
    return kind, f"{name}({', '.join(settings)})"


@functools.cache
def known(kind: str, name: str) -> list[str]:
    part = catalog.find(kind, name)
    own = list(catalog.values_of(part)) if kind == "analysis" else [field.name for field in catalog.listed_fields(part)]
    return [*own, *own, "name", "x"]


def builds(given: tuple[str, str]) -> None:
    """What can be built is built alike from how it is written."""
    kind, written_part = given
    with contextlib.suppress(PartError):
        if kind == "analysis":
            catalog.bind("analysis", written_part)
            return
        part = catalog.build(kind, written_part, "fuzz")
        spelled, again = catalog.written(part), None
        try:
            again = catalog.build(kind, spelled)
        except PartError as error:
            raise AssertionError(f"{spelled} was built and cannot be again: {error}") from error
        assert again == part or catalog.spelled(again) == catalog.spelled(part)
        catalog.describe(part)


def study(name: str, rng: Random) -> tuple[bytes, list[str]]:
    return study_bytes(rng, name), [override(rng)] if is_one_in(rng, 3) else []


TARGETS = (
    *(
        Target(name=f"study_{name.replace('/', '_')}", make=functools.partial(study, name), holds=reads_study)
        for name in TEXTS
        if "small" not in name
    ),
    Target(name="part_texts", make=part_text, holds=builds),
)
