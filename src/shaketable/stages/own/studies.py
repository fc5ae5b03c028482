"""Parts, functions and questions as Python has them → a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict, Unpack

from shaketable.errors import StudyError, did_you_mean
from shaketable.stages.own.questions import Questions, hold_questions
from shaketable.stages.own.texts import text_of
from shaketable.study import parse_study
from shaketable.types import Json, Study

CROSSED = {
    "models": "model",
    "methods": "method",
    "retrievers": "retriever",
    "variations": "variation",
    "perturbations": "perturbation",
}
LISTED = {"metrics": ("score", "metric"), "analyses": ("analyze", "analysis")}
TABLES = ("generation", "scan", "shake", "score", "analyze", "gate", "limits")
Parts = Sequence[object] | object
"""Texts, parts, functions; one alone counts as a list of one."""


class Tables(TypedDict, total=False):
    """What a study file has, less its headings."""

    seed: int
    dataset: Mapping[str, Json] | str
    """A loader with its settings, `{'name': 'csv', 'path': 'questions.csv'}`, or its name alone."""
    models: Parts
    methods: Parts
    retrievers: Parts
    variations: Parts
    perturbations: Parts
    temperatures: Iterable[float]
    repeats: int | Mapping[str, Json]
    """A number, or `{'until': '±0.03', 'max': 50}`."""
    metrics: Parts
    analyses: Parts
    generation: Mapping[str, Json]
    scan: Mapping[str, Json]
    shake: Mapping[str, Json]
    score: Mapping[str, Json]
    analyze: Mapping[str, Json]
    gate: Mapping[str, Json]
    limits: Mapping[str, Json]


def make_study(
    name: str, *, questions: Questions | None = None, limit: int | None = None, **tables: Unpack[Tables]
) -> Study:
    """A study of what Python has at hand. Whatever a study file says can be said here too; parts are texts, objects or
    functions, questions a list or a data frame.

    A function among `models` is a pipeline; one of an imported module runs in a process of its own. `limit` takes so
    many questions, balanced over the cells.

    >>> import shaketable
    >>> study = shaketable.make_study(
    ...     "capitals",
    ...     questions=[{"question": "What is the capital of France?", "answers": ["Paris"]}],
    ...     models=["scripted(replies=('Paris', 'Lyon'))"],
    ...     methods="closed_book",
    ...     temperatures=[0.0, 1.0],
    ...     repeats=3,
    ... )
    >>> shaketable.plan(study).n_trials
    6
    """
    where = f"make_study('{name}')"
    given: dict[str, object] = dict(tables)
    known = list(Tables.__annotations__)
    for key in given:
        if key not in known:
            raise StudyError(f"{where}: unknown key '{key}'.{did_you_mean(key, known)} Known keys: {', '.join(known)}.")
    study: dict[str, object] = {"name": name, "dataset": _dataset(given.pop("dataset", None), questions, limit, where)}
    if "seed" in given:
        study["seed"] = given.pop("seed")
    for table in TABLES:
        study[table] = dict(given.pop(table)) if table in given else None  # type: ignore[call-overload]
    cross: dict[str, object] = {}
    for key, kind in CROSSED.items():
        if key in given:
            cross[key] = _texts(kind, given.pop(key), f"{where}, {key}")
    for key, (table, kind) in LISTED.items():
        if key in given:
            study[table] = {**_mapping(study[table]), key: _texts(kind, given.pop(key), f"{where}, {key}")}
    if "temperatures" in given:
        cross["temperatures"] = _temperatures(given.pop("temperatures"))
    study["cross"] = cross | given
    return parse_study({key: value for key, value in study.items() if value is not None}, where)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(kind: str, given: object, where: str) -> list[str]:
    is_several = isinstance(given, Sequence) and not isinstance(given, str)
    parts = list(given) if is_several else [given]  # type: ignore[call-overload]
    return [text_of(kind, part, f"{where}[{i}]") for i, part in enumerate(parts)]


def _temperatures(given: object) -> object:
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        return given
    return [float(value) if _is_number(value) else value for value in given]


def _is_number(value: object) -> bool:
    convert: Callable[[object], float] = float  # type: ignore[assignment]
    try:
        convert(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


def _dataset(given: object, questions: Questions | None, limit: int | None, where: str) -> dict[str, object]:
    if given is not None and questions is not None:
        raise StudyError(f"{where}: give questions or a dataset, and not both.")
    table: dict[str, object] = {}
    if questions is not None:
        table = dict(hold_questions(questions).settings)
    elif isinstance(given, str):
        table = {"name": given}
    elif isinstance(given, Mapping):
        table = dict(given)
    elif given is not None:
        raise StudyError(f"{where}: dataset is {given!r:.60}; give a name, or {{'name': 'csv', 'path': '…'}}.")
    return table if limit is None else table | {"limit": limit}
