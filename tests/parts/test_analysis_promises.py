"""What analyses promise: tables in, one frozen value out, which the findings file reads back and a section tells."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter

from shaketable import catalog

ANALYSES = sorted(catalog.known("analysis"))


def result_of(name: str) -> type:
    result: type = typing.get_type_hints(catalog.find("analysis", name))["return"]
    return result


def inner_types(kind: object) -> Iterator[object]:
    """Every type that a value of this type may hold."""
    yield kind
    if dataclasses.is_dataclass(kind):
        for hint in typing.get_type_hints(kind).values():
            yield from inner_types(hint)
    for argument in typing.get_args(kind):
        yield from inner_types(argument)


@pytest.mark.parametrize("name", ANALYSES)
def test_it_reads_tables_and_takes_settings_by_name(name):
    result_of(name)
    first, *settings = inspect.signature(catalog.find("analysis", name)).parameters.values()
    assert first.name == "tables"
    assert all(setting.kind is inspect.Parameter.KEYWORD_ONLY for setting in settings)
    assert not {"confidence", "n_resamples"} & {setting.name for setting in settings}  # the study says them once


@pytest.mark.parametrize("name", ANALYSES)
def test_its_result_is_a_frozen_value_that_can_be_read_back(name):
    result = result_of(name)
    TypeAdapter(result)
    for kind in inner_types(result):
        assert kind is not typing.Any
        if dataclasses.is_dataclass(kind):
            assert kind.__dataclass_params__.frozen
            assert not {"sentence", "headline", "detail", "words"} & {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("name", ANALYSES)
def test_a_section_tells_it(name):
    result = result_of(name)
    section = catalog.find("section", result.__name__)
    hints = typing.get_type_hints(section)
    assert hints["result"] is result


def test_two_analyses_never_share_a_type_of_result():
    kinds = [typing.get_type_hints(catalog.find("analysis", name))["return"] for name in ANALYSES]
    named = [kind.__name__ for kind in kinds]
    assert len(named) == len(set(named))
