"""A study file (TOML) → a Study. Foreign input stops here: unknown keys and wrong values are named."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from shaketable import catalog
from shaketable.errors import PartError, StudyError, did_you_mean
from shaketable.prompts import read_own
from shaketable.prompts.own import names_file, read_file
from shaketable.types import DatasetChoice, Gate, Json, Limits, Precision, Scan, Shake, Study

SHORT, TEMPLATE = WITHOUT_MODEL = ("short", "template")
"""The values of score.reference that name no model."""
REFERENCE_SLOTS = ("question", "answer")
MOST_TEMPERATURES = 10_000
MARGIN = r"^\s*\d*\.?\d+\s*sd\s*$"
"""A margin in units of a metric's spread: `0.2 sd`."""
HALF_WIDTH = r"^\s*(±|\+-|\+/-)?\s*0?\.\d+\s*$"
"""Half the width of an interval: `±0.03`."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


class Balance(_Table):
    by: list[str] = Field(min_length=1, description="Tags whose combinations make the cells, such as type and n_facts.")
    per_cell: int | None = Field(None, ge=1, description="Questions per cell; absent: all of them.")


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


class DatasetTable(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = Field("builtin", description="A loader: builtin, hotpotqa, jsonl ...")
    where: dict[str, Values] = Field(
        {}, description="Only questions with these tags, such as { n_facts = [2, 3, 4], type = 'bridge' }."
    )
    balance: Balance | None = None
    limit: int | None = Field(None, ge=1, description="Questions in all, balanced over the cells.")
    shard: Shard | None = Field(
        None,
        description="One part of these questions: '2/8' asks the second of eight. Runs of all parts make the whole: "
        "shaketable merge.",
    )


class Range(_Table):
    start: float = Field(alias="from", ge=0)
    to: float
    step: float = Field(gt=0)


def _shape(given: Any) -> Literal["list", "table"]:
    """Which of two shapes a value is read as, so that a mistake in it is explained once."""
    return "list" if isinstance(given, list) else "table"


def _half_width(given: Any) -> float:
    """`±0.03`, `+-0.03` or 0.03."""
    text = str(given).strip()
    for sign in ("±", "+/-", "+-"):
        text = text.removeprefix(sign).strip()
    try:
        value = float("nan" if isinstance(given, bool) else text)
    except ValueError:
        value = float("nan")
    if not 0 < value < 0.5:
        raise ValueError("give half the width of the interval, between 0 and 0.5, such as '±0.03'")
    return value


class RepeatsTable(_Table):
    """Repeats that end where the mean of a condition is known well enough."""

    model_config = ConfigDict(strict=True)

    until: Annotated[
        float,
        BeforeValidator(_half_width),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
                    {"type": "string", "pattern": HALF_WIDTH},
                ]
            }
        ),
    ] = Field(
        description="Half the width of the interval over repeats of the main metric, such as '±0.03': 3 points of a "
        "share. It is looked at after whole repeats, holds however often one looks, and is of these questions."
    )
    max: int = Field(50, ge=2, description="Repeats of each question, at most.")
    min: int = Field(2, ge=2, description="Repeats of each question, at least.")

    @model_validator(mode="after")
    def _min_is_no_more(self) -> RepeatsTable:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max is {self.max}: give a max of at least min")
        return self


def _repeats_shape(given: Any) -> Literal["number", "table"]:
    return "table" if isinstance(given, dict) else "number"


class Cross(_Table):
    models: list[str] = Field(["smollm2"], min_length=1)
    methods: list[str] = Field(["single_retrieval"], min_length=1)
    retrievers: list[str] = ["gold"]
    variations: list[str] = Field(["original"], min_length=1)
    perturbations: list[str] = ["unchanged"]
    temperatures: Annotated[
        Annotated[Range, Tag("table")] | Annotated[list[Annotated[float, Field(ge=0)]], Tag("list")],
        Discriminator(_shape),
    ] = [0.0]
    repeats: Annotated[
        Annotated[RepeatsTable, Tag("table")] | Annotated[int, Field(ge=1, le=1_000_000), Tag("number")],
        Discriminator(_repeats_shape),
    ] = Field(1, description="Of each question in each condition, or until its mean is known: { until = '±0.03' }.")


class ModelGeneration(_Table):
    """What differs for one model; absent values are those of [generation]."""

    max_tokens: int = Field(256, ge=1)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    repetition_penalty: float = Field(1.0, gt=0)
    library_defaults: bool = False


class Generation(_Table):
    max_tokens: int = Field(256, ge=1)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0, description="0: off.")
    repetition_penalty: float = Field(1.0, gt=0)
    library_defaults: bool = Field(False, description="Use the checkpoint's or provider's own truncation values.")
    logprobs: bool = Field(False, description="Keep the log-probability of every generated token.")
    top_logprobs: bool = Field(
        False, description="Keep each token's likeliest alternatives too, of the answers at temperature 0."
    )
    models: dict[str, ModelGeneration] = Field({}, description="Model, as in cross.models, and what differs for it.")


class ScoreTable(_Table):
    metrics: list[str] = ["correct"]
    reference: str = Field(
        "short",
        description="What answers are compared with: short (the accepted answers), template (a fixed sentence), or a "
        "model that writes a sentence for each question, such as smollm2.",
    )
    reference_prompt: str | None = Field(
        None,
        description="What that model is asked, word for word: a text with {question} and {answer}, or a file that "
        "holds one. Absent: our own prompt.",
    )


class ScanTable(_Table):
    strategy: Literal["full", "incremental", "curtailed", "bisection", "curtailed_bisection", "sequential", "none"] = (
        Field("full", description="How each fact's temperatures are walked through; none: by its curve alone.")
    )
    known: str | None = Field(
        "exact_match", description="The metric that must be 1 at temperature 0; '' scans every question."
    )
    limit: int | None = Field(None, ge=1, description="Known facts per condition and dataset; absent: all.")
    union: bool = Field(
        False,
        description="One list of facts for all evidence and wordings of a model: a fact known in any of them is "
        "scanned in each in which it is known, and the limit counts it once.",
    )
    correct: str = Field("contains", description="The metric that judges sampled answers.")
    threshold: float = Field(0.5, gt=0, lt=1, description="Broken: the share of correct answers lies below this.")
    curves: Literal["none", "known", "all"] = Field(
        "none", description="For which questions the curve over all temperatures is estimated from logits."
    )
    curve_budget: int = Field(
        400, ge=1, description="Token positions that the model may compute for one curve, samples included."
    )
    curve_samples: int = Field(
        90,
        ge=0,
        description="Paths at most that are sampled of what a curve's bounds leave open; 0: bounds alone. There is no "
        "estimate where fewer than 20 count.",
    )
    curve_end: float = Field(
        4.0, ge=2.0, le=20.0, description="The highest temperature of a curve: so far it is looked where a fact breaks."
    )


class ShakeTable(_Table):
    model_config = ConfigDict(strict=True)

    screened: int = Field(12, ge=1, description="Questions that each way to ask gets at first, at most.")


class AnalyzeTable(_Table):
    analyses: list[str] = ["correctness"]
    metric: str | None = Field(
        None,
        description="The one number that findings, report and viewer speak of, such as contains or bertscore; absent: "
        "the first of score.metrics of which more is better.",
    )
    without_flags: list[str] = Field(
        [],
        description="Leave out records whose evidence carries one of these flags, such as fallback_other_document of "
        "sentence_replacement; a run's report lists the flags there are.",
    )
    margin: Annotated[float, Field(gt=0)] | Annotated[str, Field(pattern=MARGIN)] | None = Field(
        None,
        description="How much of that number is too little to matter: in its own unit (0.05 is 5 points of a share), "
        "or in its spread, such as '0.2 sd': the standard deviation between questions with undisturbed evidence at "
        "the lowest temperature. Absent: 0.05 for a share, '0.2 sd' for anything else.",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="Of every interval; 0.95 means 95 %.")
    n_resamples: int = Field(
        2000, ge=1, description="Resamples of the questions behind every bootstrap interval; more take longer."
    )


Share = Annotated[float, Field(ge=0, le=1)]


class GateTable(_Table):
    """Thresholds of `shaketable check`. A minimum must be shown to be reached, a maximum not to be passed."""

    model_config = ConfigDict(strict=True)

    min_accuracy: float | None = Field(None, description="Of the main metric, where nothing is shaken.")
    max_drop: Annotated[float, Field(ge=0)] | None = Field(
        None, description="From there to the worst condition: 0.1 is 10 points of a share."
    )
    max_flip_rate: Share | None = Field(
        None, description="How often an answer is judged otherwise in the worst condition than where nothing is shaken."
    )
    min_breaking_temperature: Annotated[float, Field(ge=0)] | None = Field(
        None, description="At which known facts break, on average."
    )
    min_frs: float | None = Field(None, description="The mean Factual Robustness Score of known facts.")
    max_cost: Annotated[float, Field(ge=0)] | None = Field(None, description="Dollars for an answer.")
    max_failures: Share | None = Field(None, description="The share of trials without an answer.")
    max_regression: float = Field(0.0, ge=0, description="With --against: how much worse than the base.")
    confidence: float = Field(0.95, gt=0.5, lt=1, description="With which each threshold must be shown, one-sided.")
    undecided: Literal["pass", "fail"] | None = Field(
        None,
        description="What counts where the data show neither. Absent: a threshold of one run fails until it is shown "
        "to hold, and a comparison passes until the run is shown to be worse.",
    )


class LimitsTable(_Table):
    """Where the run stops, to be resumed; keys do not know it."""

    model_config = ConfigDict(strict=True)

    max_cost: float | None = Field(
        None, gt=0, description="USD that all goes at the run may spend on answers; models need their prices for it."
    )
    max_calls: int | None = Field(None, ge=1, description="Calls of models that all goes at the run may make.")
    max_minutes: float | None = Field(None, gt=0, description="Minutes that all goes at answering may take.")


class StudyFile(_Table):
    """A Shaketable study: lists that are crossed, and what is done with the answers."""

    name: str = Field(min_length=1)
    seed: int = 0
    dataset: Annotated[
        Annotated[DatasetTable, Tag("table")] | Annotated[list[DatasetTable], Tag("list")], Discriminator(_shape)
    ] = DatasetTable()  # type: ignore[call-arg]
    cross: Cross = Cross()  # type: ignore[call-arg]
    generation: Generation = Generation()  # type: ignore[call-arg]
    scan: ScanTable | None = Field(None, description="Facts: which are scanned, and how. Absent: all is crossed.")
    shake: ShakeTable | None = Field(
        None, description="Ask adaptively, where the system seems to break, until a limit. Absent: all is crossed."
    )
    score: ScoreTable = ScoreTable()  # type: ignore[call-arg]
    analyze: AnalyzeTable = AnalyzeTable()  # type: ignore[call-arg]
    gate: GateTable = GateTable()  # type: ignore[call-arg]
    limits: LimitsTable = LimitsTable()  # type: ignore[call-arg]
    in_process: dict[str, dict[str, str]] = Field(
        {}, description="Written by a run: kind, name and place of components that a script or notebook brought along."
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

SHIPPED = resources.files("shaketable") / "resources" / "studies"


def shipped_studies() -> list[str]:
    """By name; those with all settings of the published studies as `published/NAME`."""
    return [
        f"{prefix}{entry.name.removesuffix('.toml')}"
        for prefix, folder in (("", SHIPPED), ("published/", SHIPPED / "published"))
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    ]


def load_study(path: str | Path, overrides: Sequence[str] = (), limit: int | None = None) -> Study:
    """Read a study file, or a study that ships (by name), with `key=value` overrides.

    >>> import shaketable
    >>> study = shaketable.load_study("demo", ["cross.repeats=2"], limit=4)
    >>> study.name, study.repeats, study.datasets[0].limit
    ('demo', 2, 4)
    """
    where, text = _read(path)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # A number of thousands of digits, or thousands of brackets.
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "a number or a list in it is too long"
        raise StudyError(
            f"{where}: this is not TOML: {reason}. See the studies that ship: shaketable ls studies."
        ) from error
    override(tables, overrides)
    _refuse_large(tables, where)
    if limit is not None:
        for table in _dataset_tables(tables):
            table["limit"] = limit
    _resolve_paths(tables, Path(path))
    return parse_study(tables, where)


def parse_study(tables: Mapping[str, Any], where: str) -> Study:
    try:
        file = StudyFile.model_validate(tables)
    except ValidationError as error:
        raise StudyError("\n".join(_explain(problem, where) for problem in error.errors())) from error
    datasets = file.dataset if isinstance(file.dataset, list) else [file.dataset]
    cross = file.cross
    for kind, origins in file.in_process.items():
        for name, origin in origins.items():
            catalog.tell_elsewhere(kind, name, origin)
    return Study(
        name=file.name,
        seed=file.seed,
        datasets=tuple(
            DatasetChoice(
                name=table.name,
                settings=dict(sorted((table.model_extra or {}).items())),
                where={tag: tuple(values) for tag, values in table.where.items()},
                balance_by=tuple(table.balance.by) if table.balance else (),
                per_cell=table.balance.per_cell if table.balance else None,
                limit=table.limit,
                shard=parse_shard(table.shard),
            )
            for table in datasets
        ),
        models=_unique(cross.models, "cross.models", where),
        methods=_with_prompts(_unique(cross.methods, "cross.methods", where), where),
        retrievers=_unique(cross.retrievers, "cross.retrievers", where),
        perturbations=_unique(cross.perturbations, "cross.perturbations", where),
        variations=_unique(cross.variations, "cross.variations", where),
        temperatures=_temperatures(cross.temperatures, where),
        repeats=cross.repeats.max if isinstance(cross.repeats, RepeatsTable) else cross.repeats,
        precision=_precision(file, where),
        generation=file.generation.model_dump(exclude={"models"}),
        generation_of=_generation_of(file, where),
        metrics=_unique(file.score.metrics, "score.metrics", where),
        reference=file.score.reference,
        reference_prompt=_reference_prompt(file.score, where),
        analyses=_unique(file.analyze.analyses, "analyze.analyses", where),
        main_metric=file.analyze.metric,
        margin=file.analyze.margin,
        confidence=file.analyze.confidence,
        n_resamples=file.analyze.n_resamples,
        without_flags=tuple(file.analyze.without_flags),
        gate=Gate(**file.gate.model_dump()),
        scan=None if file.scan is None else Scan(**file.scan.model_dump() | {"known": file.scan.known or None}),
        limits=Limits(**file.limits.model_dump()),
        shake=None if file.shake is None else Shake(**file.shake.model_dump()),
        in_process=file.in_process,
    )


def parse_shard(given: str | None) -> tuple[int, int] | None:
    """`2/8`, the second of eight parts."""
    if given is None:
        return None
    number, _, of = given.partition("/")
    return int(number), int(of)


def change_gate(gate: Gate, changes: Mapping[str, Json], where: str) -> Gate:
    """The same with some of its keys, which come from options or a marker, and are checked as those of a study are."""
    try:
        return Gate(**GateTable.model_validate(dataclasses.asdict(gate) | dict(changes)).model_dump())
    except ValidationError as error:
        problems = ({**problem, "loc": ("gate", *problem["loc"])} for problem in error.errors())
        raise StudyError("\n".join(_explain(problem, where) for problem in problems)) from error


def format_study(study: Study) -> str:
    """The study as TOML again, every value spelled out: what a run freezes."""
    tables: list[dict[str, Any]] = []
    for choice in study.datasets:
        table: dict[str, Any] = {"name": choice.name, **choice.settings}
        if choice.where:
            table["where"] = {tag: list(values) for tag, values in choice.where.items()}
        if choice.balance_by:
            table["balance"] = {"by": list(choice.balance_by)} | (
                {"per_cell": choice.per_cell} if choice.per_cell else {}
            )
        if choice.limit:
            table["limit"] = choice.limit
        if choice.shard:
            table["shard"] = "{}/{}".format(*choice.shard)
        tables.append(table)
    scan = {} if study.scan is None else {"scan": _written(study.scan)}
    shake = {} if study.shake is None else {"shake": dataclasses.asdict(study.shake)}
    return tomli_w.dumps(
        {
            "name": study.name,
            "seed": study.seed,
            "dataset": tables[0] if len(tables) == 1 else tables,
            "cross": {
                "models": list(study.models),
                "methods": list(study.methods),
                "retrievers": list(study.retrievers),
                "variations": list(study.variations),
                "perturbations": list(study.perturbations),
                "temperatures": list(study.temperatures),
                "repeats": _written_repeats(study),
            },
            "generation": dict(study.generation)
            | (
                {"models": {name: dict(own) for name, own in study.generation_of.items()}}
                if study.generation_of
                else {}
            ),
            **scan,
            **shake,
            "score": {"metrics": list(study.metrics), "reference": study.reference}
            | ({} if study.reference_prompt is None else {"reference_prompt": study.reference_prompt}),
            "analyze": _given(metric=study.main_metric, margin=study.margin)
            | {
                "confidence": study.confidence,
                "n_resamples": study.n_resamples,
                "without_flags": list(study.without_flags),
                "analyses": list(study.analyses),
            },
            "gate": _given(**dataclasses.asdict(study.gate)),
            **({"limits": limits} if (limits := _given(**dataclasses.asdict(study.limits))) else {}),
            **({"in_process": {kind: dict(own) for kind, own in study.in_process.items()}} if study.in_process else {}),
        }
    )


def _given(**values: Any) -> dict[str, Any]:
    """TOML has no word for nothing: what is absent is left out."""
    return {name: value for name, value in values.items() if value is not None}


def _written(scan: Scan) -> dict[str, Any]:
    """An absent limit is left out, an absent metric is empty."""
    return _given(**{**dataclasses.asdict(scan), "known": scan.known or ""})


def _written_repeats(study: Study) -> int | dict[str, Any]:
    if study.precision is None:
        return study.repeats
    return {"until": f"±{study.precision.until!r}", "max": study.repeats, "min": study.precision.least}


def study_schema() -> dict[str, Any]:
    """A JSON Schema of study files, for editors."""
    return StudyFile.model_json_schema()


def _read(path: str | Path) -> tuple[str, str]:
    file = Path(path)
    if file.is_dir() and (file / "study.toml").is_file():
        file = file / "study.toml"
    if file.is_file():
        try:
            return str(path), file.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise StudyError(f"{path}: byte {error.start} is not UTF-8. Save the study as UTF-8.") from error
    shipped = SHIPPED / f"{path}.toml"
    if shipped.is_file():
        return f"{path}.toml", shipped.read_text("utf-8")
    names = shipped_studies()
    near = did_you_mean(Path(path).stem, names)
    raise StudyError(
        f"No study file {path}.{near} Give the path of a TOML file, or a study that ships: {', '.join(names)}."
    )


def override(tables: dict[str, Any], overrides: Sequence[str]) -> None:
    """Put `key=value` texts, as `--set` takes them, into the tables of a study."""
    for text in overrides:
        _override(tables, text)


def _override(tables: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise StudyError(f"--set {override}: write KEY=VALUE, such as --set generation.max_tokens=48.")
    *path, last = key.strip().split(".")
    for table in _dataset_tables(tables) if path[:1] == ["dataset"] else [tables]:
        inner = table
        for step in path[1:] if path[:1] == ["dataset"] else path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise StudyError(f"--set {override}: '{step}' is a value, not a table of the study.")
        if path == ["dataset"] and last == "name":
            _forget_loader(inner, value)
        inner[last] = _parse_value(value)


def _forget_loader(table: dict[str, Any], name: str) -> None:
    """Settings of one loader mean nothing to another, such as the part of the built-in data."""
    if table.get("name", "builtin") != name:
        for key in table.keys() - DatasetTable.model_fields.keys() - {"path"}:
            del table[key]


def _parse_value(text: str) -> Any:
    """A TOML value; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _dataset_tables(tables: dict[str, Any]) -> list[dict[str, Any]]:
    given = tables.setdefault("dataset", {})
    return [table for table in (given if isinstance(given, list) else [given]) if isinstance(table, dict)]


def _refuse_large(value: Any, where: str, name: str = "") -> None:
    """TOML's whole numbers have 64 bits; Python reads longer ones, which no table or database holds."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_large(inner, where, f"{name}[{step}]" if isinstance(value, list) else f"{name}.{step}".lstrip("."))
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise StudyError(
            f"{where}, {name}: found a whole number beyond 64 bits, which TOML has none of. Give a smaller one."
        )


def _resolve_paths(tables: dict[str, Any], study_path: Path) -> None:
    """A dataset path may be relative to the working folder or to the study; a run keeps the absolute one."""
    for table in _dataset_tables(tables):
        if isinstance(table.get("path"), str):
            given = Path(table["path"]).expanduser()
            beside = study_path.parent / given
            table["path"] = str((given if given.exists() or not beside.exists() else beside).absolute())


def _precision(file: StudyFile, where: str) -> Precision | None:
    repeats = file.cross.repeats
    if not isinstance(repeats, RepeatsTable):
        return None
    for table, own in (("scan", file.scan), ("shake", file.shake)):
        if own is not None:
            raise StudyError(
                f"{where}, cross.repeats: found 'until' beside the table [{table}], which itself decides by the "
                f"answers what is asked next. Give a number of repeats, such as repeats = {min(repeats.max, 10)}, or "
                f"leave [{table}] out."
            )
    return Precision(until=repeats.until, least=repeats.min)


def _generation_of(file: StudyFile, where: str) -> dict[str, dict[str, Any]]:
    for name in file.generation.models:
        if name not in file.cross.models:
            raise StudyError(
                f"{where}, generation.models: '{name}' is none of cross.models.{did_you_mean(name, file.cross.models)} "
                f"Write it as there: {', '.join(file.cross.models)}."
            )
    return {name: own.model_dump(exclude_unset=True) for name, own in file.generation.models.items()}


def _reference_prompt(score: ScoreTable, where: str) -> str | None:
    """The text itself, so that a frozen study holds what was asked and not the name of a file."""
    if score.reference_prompt is None:
        return None
    if score.reference in WITHOUT_MODEL:
        raise StudyError(
            f"{where}, score.reference_prompt: no model is asked where score.reference is '{score.reference}'. "
            "Name the model that writes the references, or leave the prompt out."
        )
    try:
        return read_own(score.reference_prompt, REFERENCE_SLOTS, Path(where).parent)
    except ValueError as error:
        raise StudyError(f"{where}, score.reference_prompt: {error}.") from error


def hold_prompts(study: Study) -> Study:
    """The same with the texts of prompts that methods name by files, so that a frozen study holds what was asked."""
    return dataclasses.replace(study, methods=_with_prompts(study.methods, ""))


def note_registered(study: Study) -> Study:
    """The same with the place of each part that is in this process alone, so that another can tell what it lacks."""
    listed = {
        "dataset": [choice.name for choice in study.datasets],
        "model": study.models,
        "method": study.methods,
        "retriever": study.retrievers,
        "perturbation": study.perturbations,
        "variation": study.variations,
        "metric": study.metrics,
        "analysis": study.analyses,
    }
    noted = {kind: dict(origins) for kind, origins in study.in_process.items()}
    for kind, texts in listed.items():
        for name in (text.partition("(")[0].strip() for text in texts):
            if part := catalog.registered(kind).get(name):
                noted.setdefault(kind, {})[name] = f"{part.origin} (source {part.source_digest[:8]})"
    return dataclasses.replace(study, in_process=noted)


def _with_prompts(methods: Sequence[str], where: str) -> tuple[str, ...]:
    folder = Path(where).parent if where else None

    def read(given: object) -> str | None:
        return read_file(given, folder) if isinstance(given, str) and names_file(given) else None

    held = []
    for i, text in enumerate(methods):
        try:
            held.append(catalog.hold_files("method", text, read))
        except ValueError as error:
            raise StudyError(f"{where or 'study'}, cross.methods[{i}]: {text}: {error}.") from error
        except PartError:
            held.append(text)  # The plan says what is wrong with it, as with any part.
    return tuple(held)


def _temperatures(given: Range | list[float], where: str) -> tuple[float, ...]:
    if isinstance(given, list):
        values = [value + 0.0 for value in given]  # Not -0.0: it is the same temperature, and would be another key.
    else:
        if given.to < given.start:
            raise StudyError(f"{where}, cross.temperatures: 'to' ({given.to}) lies below 'from' ({given.start}).")
        if (given.to - given.start) / given.step > MOST_TEMPERATURES:
            raise StudyError(
                f"{where}, cross.temperatures: from {given.start} to {given.to} by {given.step} are more than "
                f"{MOST_TEMPERATURES:,} temperatures. Give a larger step."
            )
        n_steps = int((given.to - given.start) / given.step + 1e-9)
        values = [round(given.start + i * given.step, 9) for i in range(n_steps + 1)]
    if not values:
        raise StudyError(f"{where}, cross.temperatures: the list is empty. Give at least one, such as [0.0].")
    if len(set(values)) < len(values):
        doubled = next(value for value in values if values.count(value) > 1)
        raise StudyError(f"{where}, cross.temperatures: {doubled} is listed twice. Give each temperature once.")
    return tuple(values)


def _unique(texts: list[str], key: str, where: str) -> tuple[str, ...]:
    doubled = [text for text in dict.fromkeys(texts) if texts.count(text) > 1]
    if doubled:
        raise StudyError(f"{where}, {key}: '{doubled[0]}' is listed twice. Name each component once.")
    return tuple(texts)


def _explain(problem: Any, where: str) -> str:
    steps = [step for step in problem["loc"] if step not in ("list", "table", "number")]
    names = tuple(step for step in steps if isinstance(step, str))
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    location = f"{where}, {written}" if written else where
    if problem["type"] == "extra_forbidden":
        known = _keys(names[:-1])
        return f"{location}: unknown key '{names[-1]}'.{did_you_mean(names[-1], known)} Known keys: {', '.join(known)}."
    if problem["type"] == "missing":
        return f"{location}: this key is missing. Add it to the study."
    if problem["type"] == "model_type":
        known = _keys(names)
        return f"{location}: found {problem['input']!r}; write a table with the keys {', '.join(known)}."
    return f"{location}: found {problem['input']!r}; {problem['msg'][0].lower()}{problem['msg'][1:]}."


def _keys(names: tuple[str, ...]) -> list[str]:
    """The keys of the table that stands there; a model's own name is no place of its own."""
    table = TABLES[names[:2] if names[:2] == ("generation", "models") else names]
    return [field.alias or name for name, field in table.model_fields.items()]
