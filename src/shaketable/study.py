"""A study file (TOML) → a Study. Foreign input stops here: unknown keys and wrong values are named."""

from __future__ import annotations

import dataclasses
import math
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


def _costs(cost: str, **beside: Json) -> dict[str, Any]:
    """What a key does to the price of a run, for the reference; `beside`: keys that its example needs."""
    return {"x-cost": cost} | ({"x-beside": beside} if beside else {})


FREE = "None."
ANALYSIS = "None for answers; the analysis alone."


class Balance(_Table):
    """How the questions are spread over types, so that each type has as many."""

    by: list[str] = Field(
        min_length=1,
        description="Tags of the questions. Each combination of their values is a cell, and cells are filled evenly.",
        examples=[["type", "n_facts"]],
        json_schema_extra=_costs("None by itself: it chooses which questions are asked."),
    )
    per_cell: int | None = Field(
        None,
        ge=1,
        description="Questions in each cell. Absent: all that there are, up to dataset.limit.",
        examples=[100],
        json_schema_extra=_costs("Proportional: trials grow with the number of questions."),
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


class DatasetTable(BaseModel):
    """Which questions are asked. Keys that are not listed here are settings of the loader, such as `path`."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(
        "builtin",
        description="The loader that reads the questions: builtin (questions that ship), csv or jsonl (a file of "
        "your own), hotpotqa, squad and others; `shaketable ls datasets` lists them. Absent: builtin.",
        examples=["builtin"],
        json_schema_extra=_costs(FREE),
    )
    where: dict[str, Values] = Field(
        {},
        description="Only questions with these tags: for each tag a value, or a list of values. Absent: all of them.",
        examples=[{"n_facts": [2, 3, 4], "type": "bridge"}],
        json_schema_extra=_costs("Fewer questions, fewer trials."),
    )
    balance: Balance | None = Field(
        None,
        description="Draw as many questions of each type as of any other. Absent: questions in the order of the data.",
        examples=[{"by": ["type"], "per_cell": 50}],
        json_schema_extra=_costs("None by itself: it chooses which questions are asked."),
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Questions in all, spread evenly over the cells of `balance`. Absent: all of them.",
        examples=[24],
        json_schema_extra=_costs("Proportional: half the questions are half the trials, and wider intervals."),
    )
    shard: Shard | None = Field(
        None,
        description="One part of these questions, for several machines: '2/8' asks the second of eight parts; "
        "`shaketable merge` joins the runs. Absent: all questions.",
        examples=["2/8"],
        json_schema_extra=_costs("One part has its share of the trials; all parts together cost what the whole does."),
    )


class Range(_Table):
    """Temperatures at equal steps, in place of a list."""

    start: float = Field(
        alias="from",
        ge=0,
        description="The lowest temperature.",
        examples=[0.0],
        json_schema_extra=_costs("The number of temperatures multiplies the trials."),
    )
    to: float = Field(
        description="The highest temperature, if a step falls on it; none lies above it.",
        examples=[2.0],
        json_schema_extra=_costs("The number of temperatures multiplies the trials."),
    )
    step: float = Field(
        gt=0,
        description="From one temperature to the next.",
        examples=[0.2],
        json_schema_extra=_costs("Half the step is twice the trials."),
    )


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
        "share. It is looked at after whole repeats, holds however often one looks, and is of these questions.",
        examples=["±0.03"],
        json_schema_extra=_costs("Half the width takes about four times the repeats."),
    )
    max: int = Field(
        50,
        ge=2,
        description="Repeats of each question, at most.",
        examples=[50],
        json_schema_extra=_costs("The most that can be spent: it multiplies the trials as a number of repeats does."),
    )
    min: int = Field(
        2,
        ge=2,
        description="Repeats of each question, at least.",
        examples=[2],
        json_schema_extra=_costs("The least that is spent."),
    )

    @model_validator(mode="after")
    def _min_is_no_more(self) -> RepeatsTable:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max is {self.max}: give a max of at least min")
        return self


def _repeats_shape(given: Any) -> Literal["number", "table"]:
    return "table" if isinstance(given, dict) else "number"


class Cross(_Table):
    """What is crossed: every entry of a list meets every entry of the others.

    Trials = questions × wordings × models × methods × evidence × temperatures × repeats.
    """

    models: list[str] = Field(
        ["smollm2"],
        min_length=1,
        description="The models, or whole pipelines, under test, each with its settings in brackets. Absent: the small "
        "embedded model, which needs no network and no key.",
        examples=[["smollm2", "openai(model='gpt-4o', price_in=2.5, price_out=10.0)"]],
        json_schema_extra=_costs("Multiplies the trials. `price_in` and `price_out` of a model make costs known."),
    )
    methods: list[str] = Field(
        ["single_retrieval"],
        min_length=1,
        description="How a model is asked: without evidence (closed_book), with what one search finds "
        "(single_retrieval), or by a method that decides itself when to search. Absent: single_retrieval.",
        examples=[["closed_book", "single_retrieval(k=3)"]],
        json_schema_extra=_costs("Multiplies the trials; adaptive methods also make several calls for one answer."),
    )
    retrievers: list[str] = Field(
        ["gold"],
        description="Where evidence comes from: the passages that hold the answer (gold), or a search (bm25, dense). "
        "Methods that do not search are not crossed with it. Absent: gold.",
        examples=[["gold", "bm25"]],
        json_schema_extra=_costs("Multiplies the trials of methods that search; an index is built once."),
    )
    variations: list[str] = Field(
        ["original"],
        min_length=1,
        description="How the question is worded: as it is (original), or reworded, such as formality or spelling "
        "(typing errors). Absent: original alone.",
        examples=[["original", "formality", "spelling"]],
        json_schema_extra=_costs("Multiplies the trials; rewording by a model is one more call for each question."),
    )
    perturbations: list[str] = Field(
        ["unchanged"],
        description="What happens to the evidence before the model reads it: nothing (unchanged), or a disturbance "
        "such as sentence_removal or entity_masking. Methods that do not search are not crossed with it. Absent: "
        "unchanged alone, so no evidence is disturbed.",
        examples=[["unchanged", "sentence_removal", "entity_masking"]],
        json_schema_extra=_costs("Multiplies the trials of methods that search."),
    )
    temperatures: Annotated[
        Annotated[Range, Tag("table")] | Annotated[list[Annotated[float, Field(ge=0)]], Tag("list")],
        Discriminator(_shape),
    ] = Field(
        [0.0],
        description="Sampling temperatures: a list, or { from, to, step }. 0 always takes the likeliest token; higher "
        "ones draw more at random. Absent: 0 alone.",
        examples=[[0.0, 0.5, 1.0], {"from": 0.0, "to": 2.0, "step": 0.2}],
        json_schema_extra=_costs("Multiplies the trials. A local model reads each prompt once for all temperatures."),
    )
    repeats: Annotated[
        Annotated[RepeatsTable, Tag("table")] | Annotated[int, Field(ge=1, le=1_000_000), Tag("number")],
        Discriminator(_repeats_shape),
    ] = Field(
        1,
        description="How often each question is asked in each condition, or { until = '±0.03' }: until the mean of the "
        "condition is known. Repeats show how far answers of one and the same setting differ. Absent: once.",
        examples=[3, {"until": "±0.03", "max": 50}],
        json_schema_extra=_costs("Multiplies the trials; `until` stops as soon as more would tell nothing new."),
    )


MOST_TOKENS = "Tokens of an answer, at most; what is longer is cut and counted as cut."
TOP_P = "Nucleus sampling: only the likeliest tokens that together have this probability are drawn from. 1 turns it off"
TOP_K = "Only so many of the likeliest tokens are drawn from. 0 turns it off"
PENALTY = "Makes tokens that were used already less likely. 1 turns it off"
LIBRARY = (
    "Use the truncation values of the checkpoint or provider in place of top_p, top_k and repetition_penalty, as most "
    "published studies did without saying so"
)
NOT_GIVEN = "Absent: as in [generation]."


class ModelGeneration(_Table):
    """What differs for one model; absent values are those of [generation]."""

    max_tokens: int = Field(
        256,
        ge=1,
        description=f"{MOST_TOKENS} {NOT_GIVEN}",
        examples=[1000],
        json_schema_extra=_costs("Bounds the tokens that are paid for."),
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description=f"{TOP_P}. {NOT_GIVEN}", examples=[0.9], json_schema_extra=_costs(FREE)
    )
    top_k: int = Field(0, ge=0, description=f"{TOP_K}. {NOT_GIVEN}", examples=[50], json_schema_extra=_costs(FREE))
    repetition_penalty: float = Field(
        1.0, gt=0, description=f"{PENALTY}. {NOT_GIVEN}", examples=[1.1], json_schema_extra=_costs(FREE)
    )
    library_defaults: bool = Field(
        False, description=f"{LIBRARY}. {NOT_GIVEN}", examples=[True], json_schema_extra=_costs(FREE)
    )


class Generation(_Table):
    """How answers are sampled. The defaults are neutral: nothing but the temperature shapes them."""

    max_tokens: int = Field(
        256,
        ge=1,
        description=f"{MOST_TOKENS} Absent: 256.",
        examples=[48],
        json_schema_extra=_costs("Bounds the tokens, and so the time or money, of each answer."),
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description=f"{TOP_P}. Absent: off.", examples=[0.9], json_schema_extra=_costs(FREE)
    )
    top_k: int = Field(0, ge=0, description=f"{TOP_K}. Absent: off.", examples=[50], json_schema_extra=_costs(FREE))
    repetition_penalty: float = Field(
        1.0, gt=0, description=f"{PENALTY}. Absent: off.", examples=[1.1], json_schema_extra=_costs(FREE)
    )
    library_defaults: bool = Field(
        False, description=f"{LIBRARY}. Absent: no.", examples=[True], json_schema_extra=_costs(FREE)
    )
    logprobs: bool = Field(
        False,
        description="Keep the log-probability of every generated token. Metrics of uncertainty need it. Absent: no.",
        examples=[True],
        json_schema_extra=_costs("Larger records; some endpoints refuse it."),
    )
    top_logprobs: bool = Field(
        False,
        description="Keep each token's likeliest alternatives too, of the answers at temperature 0; the metric entropy "
        "reads them. Absent: no.",
        examples=[True],
        json_schema_extra=_costs("Larger records; some endpoints refuse it."),
    )
    models: dict[str, ModelGeneration] = Field(
        {},
        description="What differs for single models: the model as it stands in cross.models, and a table of the keys "
        "below. Absent: all models are sampled alike.",
        examples=[{"smollm2": {"top_p": 0.9, "top_k": 50}}],
        json_schema_extra=_costs(FREE),
    )


class ScoreTable(_Table):
    """How answers become numbers."""

    metrics: list[str] = Field(
        ["correct"],
        description="What each answer is measured by; `shaketable ls metrics` lists them. Absent: correct alone.",
        examples=[["correct", "token_f1", "bertscore"]],
        json_schema_extra=_costs(
            "Most take milliseconds. bertscore loads an encoder; a judge calls a model for each answer."
        ),
    )
    reference: str = Field(
        "short",
        description="What answers are compared with: short (the accepted answers), template (a fixed sentence around "
        "them), or a model that writes a sentence for each question, such as smollm2. Absent: short.",
        examples=["template"],
        json_schema_extra=_costs("None for short and template; a model is called once for each question."),
    )
    reference_prompt: str | None = Field(
        None,
        description="What that model is asked, word for word: a text with {question} and {answer}, or a file that "
        "holds one. Absent: our own prompt.",
        examples=["Answer '{question}' with '{answer}' in one whole sentence."],
        json_schema_extra=_costs(FREE, reference="smollm2"),
    )


class ScanTable(_Table):
    """Factual robustness: at which sampling temperature a fact that the model knows breaks."""

    strategy: Literal["full", "incremental", "curtailed", "bisection", "curtailed_bisection", "sequential", "none"] = (
        Field(
            "full",
            description="How each fact's temperatures are walked through: full asks every temperature and repeat, the "
            "others stop as soon as it is clear where the fact breaks, none samples nothing and reads its curve alone. "
            "Absent: full.",
            examples=["curtailed_bisection"],
            json_schema_extra=_costs("full costs most; curtailed_bisection a fraction of it; none no samples at all."),
        )
    )
    known: str | None = Field(
        "exact_match",
        description="The metric that must be 1 at temperature 0 for a fact to count as known; '' scans every question. "
        "Absent: exact_match.",
        examples=["contains"],
        json_schema_extra=_costs("A laxer metric knows more facts, and each is scanned."),
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Known facts that are scanned for each condition and dataset. Absent: all.",
        examples=[100],
        json_schema_extra=_costs("Proportional."),
    )
    union: bool = Field(
        False,
        description="One list of facts for all evidence and wordings of a model: a fact known in any of them is "
        "scanned in each in which it is known, and the limit counts it once. Absent: a list for each.",
        examples=[True],
        json_schema_extra=_costs("More facts are scanned than by one condition alone."),
    )
    correct: str = Field(
        "contains",
        description="The metric that judges sampled answers. Absent: contains.",
        examples=["contains"],
        json_schema_extra=_costs(FREE),
    )
    threshold: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="A fact is broken where the share of correct answers lies below this. Absent: 0.5.",
        examples=[0.5],
        json_schema_extra=_costs(FREE),
    )
    curves: Literal["none", "known", "all"] = Field(
        "none",
        description="For which questions the chance of a right answer is estimated at all temperatures from the "
        "model's logits; a model that runs here is needed. Absent: none.",
        examples=["known"],
        json_schema_extra=_costs("curve_budget token positions for each question."),
    )
    curve_budget: int = Field(
        400,
        ge=1,
        description="Token positions that the model may compute for one curve, samples included. Absent: 400.",
        examples=[400],
        json_schema_extra=_costs("Proportional, for each curve."),
    )
    curve_samples: int = Field(
        90,
        ge=0,
        description="Paths at most that are sampled of what a curve's bounds leave open; 0: bounds alone. There is no "
        "estimate where fewer than 20 count. Absent: 90.",
        examples=[90],
        json_schema_extra=_costs("Part of curve_budget."),
    )
    curve_end: float = Field(
        4.0,
        ge=2.0,
        le=20.0,
        description="The highest temperature of a curve: so far it is looked where a fact breaks. Absent: 4.",
        examples=[4.0],
        json_schema_extra=_costs(FREE),
    )


class ShakeTable(_Table):
    """An adaptive search for what breaks a system, as `shaketable shake` writes it."""

    model_config = ConfigDict(strict=True)

    screened: int = Field(
        12,
        ge=1,
        description="Questions that each way to ask gets at first, at most. Absent: 12.",
        examples=[12],
        json_schema_extra=_costs("None in all: the budget in [limits] is what is spent. It is spread more evenly."),
    )


class AnalyzeTable(_Table):
    """What is made of the scores. All of it can be changed and made again without a new answer."""

    analyses: list[str] = Field(
        ["correctness"],
        description="What is computed and reported; `shaketable ls analyses` lists them. Absent: correctness alone.",
        examples=[["correctness", "degradation", "variability"]],
        json_schema_extra=_costs("None for answers; seconds to minutes of computing on large runs."),
    )
    metric: str | None = Field(
        None,
        description="The main metric: the one number that findings, report and viewer speak of, such as contains or "
        "bertscore. Absent: the first of score.metrics of which more is better.",
        examples=["correct"],
        json_schema_extra=_costs(ANALYSIS),
    )
    without_flags: list[str] = Field(
        [],
        description="Leave out records whose evidence carries one of these flags, such as fallback_other_document of "
        "sentence_replacement; a run's report lists the flags there are. Absent: none is left out.",
        examples=[["fallback_other_document"]],
        json_schema_extra=_costs(ANALYSIS),
    )
    margin: Annotated[float, Field(gt=0)] | Annotated[str, Field(pattern=MARGIN)] | None = Field(
        None,
        description="How much of the main metric is too little to matter: in its own unit (0.05 is 5 points of a "
        "share), or in its spread, such as '0.2 sd': the standard deviation between questions with undisturbed "
        "evidence at the lowest temperature. Absent: 0.05 for a share, '0.2 sd' for anything else.",
        examples=[0.05, "0.2 sd"],
        json_schema_extra=_costs(ANALYSIS),
    )
    confidence: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="Of every confidence interval, and of everything that the report claims; 0.95 means 95 %. Absent: "
        "0.95.",
        examples=[0.95],
        json_schema_extra=_costs(ANALYSIS),
    )
    n_resamples: int = Field(
        2000,
        ge=1,
        description="Resamples of the questions behind every bootstrap interval. Absent: 2000.",
        examples=[500],
        json_schema_extra=_costs("None for answers; analyses take proportionally longer."),
    )


Share = Annotated[float, Field(ge=0, le=1)]
NOT_ASKED = "Absent: not asked."


class GateTable(_Table):
    """Thresholds of `shaketable check`. A minimum must be shown to be reached, a maximum not to be passed."""

    model_config = ConfigDict(strict=True)

    min_accuracy: float | None = Field(
        None,
        description=f"The least value of the main metric where nothing is shaken. {NOT_ASKED}",
        examples=[0.7],
        json_schema_extra=_costs(FREE),
    )
    max_drop: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The most that the worst condition may lose of it: 0.1 is 10 points of a share. {NOT_ASKED}",
        examples=[0.1],
        json_schema_extra=_costs(FREE),
    )
    max_flip_rate: Share | None = Field(
        None,
        description="How often an answer may be judged otherwise in the worst condition than where nothing is shaken. "
        f"{NOT_ASKED}",
        examples=[0.2],
        json_schema_extra=_costs(FREE),
    )
    min_breaking_temperature: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The sampling temperature at which known facts break, on average, at least. {NOT_ASKED}",
        examples=[0.8],
        json_schema_extra=_costs(FREE),
    )
    min_frs: float | None = Field(
        None,
        description=f"The least mean Factual Robustness Score of known facts. {NOT_ASKED}",
        examples=[0.3],
        json_schema_extra=_costs(FREE),
    )
    max_cost: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The most dollars that an answer may cost, by the prices of its model. {NOT_ASKED}",
        examples=[0.002],
        json_schema_extra=_costs("None: it judges what was spent. What stops a run is limits.max_cost."),
    )
    max_failures: Share | None = Field(
        None,
        description=f"The largest share of trials without an answer. {NOT_ASKED}",
        examples=[0.01],
        json_schema_extra=_costs(FREE),
    )
    max_regression: float = Field(
        0.0,
        ge=0,
        description="With --against: how much worse than the base a run may be. Absent: 0, not at all.",
        examples=[0.05],
        json_schema_extra=_costs(FREE),
    )
    confidence: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        description="With which each threshold must be shown, one-sided. Absent: 0.95.",
        examples=[0.95],
        json_schema_extra=_costs(FREE),
    )
    undecided: Literal["pass", "fail"] | None = Field(
        None,
        description="What counts where the data show neither. Absent: a threshold of one run fails until it is shown "
        "to hold, and a comparison passes until the run is shown to be worse.",
        examples=["fail"],
        json_schema_extra=_costs(FREE),
    )


class LimitsTable(_Table):
    """Where the run stops of itself, to be resumed. When a run stops changes no answer."""

    model_config = ConfigDict(strict=True)

    max_cost: float | None = Field(
        None,
        gt=0,
        description="US dollars that all goes at the run may spend on answers; models need their prices for it. "
        "Absent: no limit.",
        examples=[2.0],
        json_schema_extra=_costs("The most that is spent on answers. Judges and rewording models are not counted."),
    )
    max_calls: int | None = Field(
        None,
        ge=1,
        description="Calls of models that all goes at the run may make, failed ones too. Absent: no limit.",
        examples=[500],
        json_schema_extra=_costs("The most calls that are made for answers."),
    )
    max_minutes: float | None = Field(
        None,
        gt=0,
        description="Minutes that all goes at answering may take, loading of models included. Absent: no limit.",
        examples=[10.0],
        json_schema_extra=_costs("The longest that answering takes."),
    )


class StudyFile(_Table):
    """A Shaketable study: lists that are crossed, and what is done with the answers."""

    name: str = Field(
        min_length=1,
        description="What the study is called: in its report, and the folder runs/NAME if no other is given. Needed.",
        examples=["first"],
        json_schema_extra=_costs(FREE),
    )
    seed: int = Field(
        0,
        description="Everything that is drawn follows from it: questions, disturbances, sampled answers of local "
        "models. The same seed gives the same run. Absent: 0.",
        examples=[7],
        json_schema_extra=_costs("None; another seed is another study, and shares no answer with this one."),
    )
    dataset: Annotated[
        Annotated[DatasetTable, Tag("table")] | Annotated[list[DatasetTable], Tag("list")], Discriminator(_shape)
    ] = Field(
        DatasetTable(),  # type: ignore[call-arg]
        description="Which questions are asked; several datasets are [[dataset]] tables. Absent: all that ship.",
        examples=[{"name": "builtin", "limit": 24}],
        json_schema_extra=_costs("The number of questions multiplies everything else."),
    )
    cross: Cross = Field(
        Cross(),  # type: ignore[call-arg]
        description="What is crossed: models, methods, evidence, wordings, temperatures, repeats. Absent: the embedded "
        "model with gold evidence at temperature 0, once.",
        examples=[{"models": ["smollm2"], "perturbations": ["unchanged", "sentence_removal"]}],
        json_schema_extra=_costs("The product of its lists is the number of trials for each question."),
    )
    generation: Generation = Field(
        Generation(),  # type: ignore[call-arg]
        description="How answers are sampled. Absent: neutral sampling, at most 256 tokens.",
        examples=[{"max_tokens": 48}],
        json_schema_extra=_costs("max_tokens bounds what each answer takes."),
    )
    scan: ScanTable | None = Field(
        None,
        description="Factual robustness: which facts are scanned over temperatures, and how. Absent: all is crossed.",
        examples=[{"strategy": "curtailed_bisection", "limit": 100}],
        json_schema_extra=_costs("Less than crossing: only known facts are asked above temperature 0."),
    )
    shake: ShakeTable | None = Field(
        None,
        description="Ask adaptively, where the system seems to break, until a limit. Absent: all is crossed.",
        examples=[{"screened": 12}],
        json_schema_extra=_costs("What [limits] says, and no more."),
    )
    score: ScoreTable = Field(
        ScoreTable(),  # type: ignore[call-arg]
        description="How answers become numbers. Absent: right or wrong, by the accepted answers.",
        examples=[{"metrics": ["correct", "token_f1"]}],
        json_schema_extra=_costs("None, unless a metric or reference asks a model."),
    )
    analyze: AnalyzeTable = Field(
        AnalyzeTable(),  # type: ignore[call-arg]
        description="What is made of the scores. Absent: correctness, at 95 % confidence.",
        examples=[{"analyses": ["correctness", "variability"]}],
        json_schema_extra=_costs(ANALYSIS),
    )
    gate: GateTable = Field(
        GateTable(),  # type: ignore[call-arg]
        description="Thresholds that `shaketable check` holds a run against. Absent: none.",
        examples=[{"min_accuracy": 0.7, "max_drop": 0.15}],
        json_schema_extra=_costs(FREE),
    )
    limits: LimitsTable = Field(
        LimitsTable(),  # type: ignore[call-arg]
        description="Where a run stops of itself, to be resumed later. Absent: when everything is answered.",
        examples=[{"max_cost": 2.0, "max_calls": 500}],
        json_schema_extra=_costs("The most that is spent."),
    )
    in_process: dict[str, dict[str, str]] = Field(
        {},
        description="Written by a run and not by you: kind, name and place of components that a script or notebook "
        "brought along. Absent: there are none.",
        examples=[{"metric": {"same_initial": "script.py"}}],
        json_schema_extra=_costs(FREE),
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
    _refuse_unusable(tables, where)
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
    """A JSON Schema of study files, for editors; `resources/study.schema.json` holds the same."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **StudyFile.model_json_schema()}


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


def _refuse_unusable(value: Any, where: str, name: str = "") -> None:
    """TOML's whole numbers have 64 bits; Python reads longer ones, which no table or database holds. And `nan` equals
    nothing, itself neither: a study that holds it would never be found the same again."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            step_name = f"{name}[{step}]" if isinstance(value, list) else f"{name}.{step}".lstrip(".")
            _refuse_unusable(inner, where, step_name)
    elif isinstance(value, float) and math.isnan(value):
        raise StudyError(f"{where}, {name}: found nan, which is no number. Give one, or leave the key out.")
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
    cross = tables.get("cross")
    if isinstance(cross, dict) and isinstance(cross.get("retrievers"), list):
        cross["retrievers"] = [_with_corpus(text, study_path.parent) for text in cross["retrievers"]]


def _with_corpus(retriever: Any, folder: Path) -> Any:
    """The same with the corpus that lies beside the study, where none lies in the working folder under that name."""
    try:
        name, settings = catalog.parse(retriever)
    except (PartError, AttributeError):
        return retriever  # The plan says what is wrong with it, as with any part.
    corpus = settings.get("corpus")
    if not isinstance(corpus, str) or Path(corpus).expanduser().exists() or not (folder / corpus).exists():
        return retriever
    return catalog.write(name, {**settings, "corpus": str((folder / corpus).absolute())})


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
