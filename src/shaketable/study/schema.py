"""The whole of a study file: its tables as one model, and as a JSON Schema for editors."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag, model_validator

from shaketable.study.naming import check_name
from shaketable.study.tables.analyze import AnalyzeTable
from shaketable.study.tables.cross import Cross, Range, RepeatsTable
from shaketable.study.tables.dataset import Balance, DatasetTable
from shaketable.study.tables.gate import GateTable
from shaketable.study.tables.generation import Generation, ModelGeneration
from shaketable.study.tables.keys import ANALYSIS, FREE, Table, costs, list_or_table
from shaketable.study.tables.limits import LimitsTable
from shaketable.study.tables.scan import ScanTable
from shaketable.study.tables.score import ScoreTable
from shaketable.study.tables.shake import ShakeTable


class StudyFile(Table):
    """A Shaketable study: lists that are crossed, and what is done with the answers."""

    name: Annotated[str, AfterValidator(check_name)] = Field(
        min_length=1,
        description="What the study is called: in its report, and the folder runs/NAME if no other is given. At most "
        "100 characters, without slashes. Needed.",
        examples=["first"],
        json_schema_extra=costs(FREE),
    )
    seed: int = Field(
        0,
        description="Everything that is drawn follows from it: questions, disturbances, sampled answers of local "
        "models. The same seed gives the same run. Absent: 0.",
        examples=[7],
        json_schema_extra=costs("None; another seed is another study, and shares no answer with this one."),
    )
    dataset: Annotated[
        Annotated[DatasetTable, Tag("table")] | Annotated[list[DatasetTable], Tag("list")], Discriminator(list_or_table)
    ] = Field(
        DatasetTable(),  # type: ignore[call-arg]
        description="Which questions are asked; several datasets are [[dataset]] tables. Absent: all that ship.",
        examples=[{"name": "builtin", "limit": 24}],
        json_schema_extra=costs("The number of questions multiplies everything else."),
    )
    cross: Cross = Field(
        Cross(),  # type: ignore[call-arg]
        description="What is crossed: models, methods, evidence, wordings, temperatures, repeats. Absent: the embedded "
        "model with gold evidence at temperature 0, once.",
        examples=[{"models": ["smollm2"], "perturbations": ["unchanged", "sentence_removal"]}],
        json_schema_extra=costs("The product of its lists is the number of trials for each question."),
    )
    generation: Generation = Field(
        Generation(),  # type: ignore[call-arg]
        description="How answers are sampled. Absent: neutral sampling, at most 256 tokens.",
        examples=[{"max_tokens": 48}],
        json_schema_extra=costs("max_tokens bounds what each answer takes."),
    )
    scan: ScanTable | None = Field(
        None,
        description="Factual robustness: which facts are scanned over temperatures, and how. Absent: all is crossed.",
        examples=[{"strategy": "curtailed_bisection", "limit": 100}],
        json_schema_extra=costs("Less than crossing: only known facts are asked above temperature 0."),
    )
    shake: ShakeTable | None = Field(
        None,
        description="Ask adaptively, where the system seems to break, until a limit. Absent: all is crossed.",
        examples=[{"screened": 12}],
        json_schema_extra=costs("What [limits] says, and no more."),
    )
    score: ScoreTable = Field(
        ScoreTable(),  # type: ignore[call-arg]
        description="How answers become numbers. Absent: right or wrong, by the accepted answers.",
        examples=[{"metrics": ["correct", "token_f1"]}],
        json_schema_extra=costs("None, unless a metric or reference asks a model."),
    )
    analyze: AnalyzeTable = Field(
        AnalyzeTable(),  # type: ignore[call-arg]
        description="What is made of the scores. Absent: correctness, at 95 % confidence.",
        examples=[{"analyses": ["correctness", "variability"]}],
        json_schema_extra=costs(ANALYSIS),
    )
    gate: GateTable = Field(
        GateTable(),  # type: ignore[call-arg]
        description="Thresholds that `shaketable check` holds a run against. Absent: none.",
        examples=[{"min_accuracy": 0.7, "max_drop": 0.15}],
        json_schema_extra=costs(FREE),
    )
    limits: LimitsTable = Field(
        LimitsTable(),  # type: ignore[call-arg]
        description="Where a run stops of itself, to be resumed later. Absent: when everything is answered.",
        examples=[{"max_cost": 2.0, "max_calls": 500}],
        json_schema_extra=costs("The most that is spent."),
    )
    in_process: dict[str, dict[str, str]] = Field(
        {},
        description="Written by a run and not by you: kind, name and place of components that a script or notebook "
        "brought along. Absent: there are none.",
        examples=[{"metric": {"same_initial": "script.py"}}],
        json_schema_extra=costs(FREE),
    )

    @model_validator(mode="after")
    def _searching_needs_evidence(self) -> StudyFile:
        if not self.cross.retrievers or not self.cross.perturbations:
            raise ValueError("cross.retrievers and cross.perturbations need an entry each; use gold and unchanged")
        return self


TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): StudyFile,
    ("dataset",): DatasetTable,
    ("dataset", "balance"): Balance,
    ("cross",): Cross,
    ("cross", "temperatures"): Range,
    ("cross", "repeats"): RepeatsTable,
    ("generation",): Generation,
    ("generation", "models"): ModelGeneration,
    ("scan",): ScanTable,
    ("shake",): ShakeTable,
    ("score",): ScoreTable,
    ("analyze",): AnalyzeTable,
    ("gate",): GateTable,
    ("limits",): LimitsTable,
}
"""Where a table stands in a study → its keys."""


def study_schema() -> dict[str, Any]:
    """A JSON Schema of study files, for editors; `resources/study.schema.json` holds the same."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **StudyFile.model_json_schema()}
