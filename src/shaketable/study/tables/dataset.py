"""[dataset]: which questions are asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from shaketable.study.tables.keys import FREE, Numbered, Table, costs


class Balance(Table):
    """How the questions are spread over types, so that each type has as many."""

    by: list[str] = Field(
        min_length=1,
        description="Tags of the questions. Each combination of their values is a cell, and cells are filled evenly.",
        examples=[["type", "n_facts"]],
        json_schema_extra=costs("None by itself: it chooses which questions are asked."),
    )
    per_cell: int | None = Field(
        None,
        ge=1,
        description="Questions in each cell. Absent: all that there are, up to dataset.limit.",
        examples=[100],
        json_schema_extra=costs("Proportional: trials grow with the number of questions."),
    )


def _values(given: Any) -> list[Any]:
    """One value of a tag stands for a list of one."""
    values = given if isinstance(given, list) else [given]
    if not values or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError("give a value of the tag, or a list of values, such as [2, 3, 4]")
    return values


_VALUE = {"type": ["string", "number", "boolean"]}
Values = Annotated[
    list[Any],
    BeforeValidator(_values),
    WithJsonSchema({"anyOf": [_VALUE, {"type": "array", "items": _VALUE, "minItems": 1}]}),
]


def _shard(given: str) -> str:
    number, _, of = given.partition("/")
    if not 1 <= int(number) <= int(of):
        raise ValueError("give the number of the part, from 1, and how many there are, such as '2/8'")
    return given


Shard = Annotated[str, Field(pattern=r"^\d{1,9}/\d{1,9}$"), AfterValidator(_shard)]


class DatasetTable(Numbered):
    """Which questions are asked. Keys that are not listed here are settings of the loader, such as `path`."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(
        "builtin",
        description="The loader that reads the questions: builtin (questions that ship), csv or jsonl (a file of "
        "your own), hotpotqa, squad and others; `shaketable ls datasets` lists them. Absent: builtin.",
        examples=["builtin"],
        json_schema_extra=costs(FREE),
    )
    where: dict[str, Values] = Field(
        {},
        description="Only questions with these tags: for each tag a value, or a list of values. Absent: all of them.",
        examples=[{"n_facts": [2, 3, 4], "type": "bridge"}],
        json_schema_extra=costs("Fewer questions, fewer trials."),
    )
    with_rewrites: bool = Field(
        False,
        description="Only questions that have a rewrite in the file of a variation rewrites(path=…), as a study of "
        "people's rewrites needs where some questions have none. Absent: all questions.",
        examples=[True],
        json_schema_extra=costs("Fewer questions, fewer trials."),
    )
    balance: Balance | None = Field(
        None,
        description="Draw as many questions of each type as of any other. Absent: questions in the order of the data.",
        examples=[{"by": ["type"], "per_cell": 50}],
        json_schema_extra=costs("None by itself: it chooses which questions are asked."),
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Questions in all, spread evenly over the cells of `balance`. Absent: all of them.",
        examples=[24],
        json_schema_extra=costs("Proportional: half the questions are half the trials, and wider intervals."),
    )
    shard: Shard | None = Field(
        None,
        description="One part of these questions, for several machines: '2/8' asks the second of eight parts; "
        "`shaketable merge` joins the runs. Absent: all questions.",
        examples=["2/8"],
        json_schema_extra=costs("One part has its share of the trials; all parts together cost what the whole does."),
    )


def dataset_tables(tables: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of a study that is read and not checked yet; what is put into them is put into the study."""
    given = tables.setdefault("dataset", {})
    return [table for table in (given if isinstance(given, list) else [given]) if isinstance(table, dict)]
