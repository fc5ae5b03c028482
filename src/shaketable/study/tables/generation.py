"""[generation]: how answers are sampled."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from shaketable.study.tables.keys import FREE, Table, costs

MOST_TOKENS = "Tokens of an answer, at most; what is longer is cut and counted as cut."
TOP_P = "Nucleus sampling: only the likeliest tokens that together have this probability are drawn from. 1 turns it off"
TOP_K = "Only so many of the likeliest tokens are drawn from. 0 turns it off"
PENALTY = "Makes tokens that were used already less likely. 1 turns it off"
LIBRARY = (
    "Use the truncation values of the checkpoint or provider in place of top_p, top_k and repetition_penalty, as most "
    "published studies did without saying so"
)
NOT_GIVEN = "Absent: as in [generation]."


class ModelGeneration(Table):
    """What differs for one model; absent values are those of [generation]."""

    max_tokens: int = Field(
        256,
        ge=1,
        description=f"{MOST_TOKENS} {NOT_GIVEN}",
        examples=[1000],
        json_schema_extra=costs("Bounds the tokens that are paid for."),
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description=f"{TOP_P}. {NOT_GIVEN}", examples=[0.9], json_schema_extra=costs(FREE)
    )
    top_k: int = Field(0, ge=0, description=f"{TOP_K}. {NOT_GIVEN}", examples=[50], json_schema_extra=costs(FREE))
    repetition_penalty: float = Field(
        1.0, gt=0, description=f"{PENALTY}. {NOT_GIVEN}", examples=[1.1], json_schema_extra=costs(FREE)
    )
    library_defaults: bool = Field(
        False, description=f"{LIBRARY}. {NOT_GIVEN}", examples=[True], json_schema_extra=costs(FREE)
    )
    methods: dict[str, dict[str, Any]] = Field(
        {},
        description="Settings of methods that differ for this model: the name of the method, and a table of its "
        "settings. Absent: methods are the same for all models.",
        examples=[{"search_o1": {"max_tokens": 20480}}],
        json_schema_extra=costs("As the settings do."),
    )


class Generation(Table):
    """How answers are sampled. The defaults are neutral: nothing but the temperature shapes them."""

    max_tokens: int = Field(
        256,
        ge=1,
        description=f"{MOST_TOKENS} Absent: 256.",
        examples=[48],
        json_schema_extra=costs("Bounds the tokens, and so the time or money, of each answer."),
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description=f"{TOP_P}. Absent: off.", examples=[0.9], json_schema_extra=costs(FREE)
    )
    top_k: int = Field(0, ge=0, description=f"{TOP_K}. Absent: off.", examples=[50], json_schema_extra=costs(FREE))
    repetition_penalty: float = Field(
        1.0, gt=0, description=f"{PENALTY}. Absent: off.", examples=[1.1], json_schema_extra=costs(FREE)
    )
    library_defaults: bool = Field(
        False, description=f"{LIBRARY}. Absent: no.", examples=[True], json_schema_extra=costs(FREE)
    )
    logprobs: bool = Field(
        False,
        description="Keep the log-probability of every generated token. Metrics of uncertainty need it. Absent: no.",
        examples=[True],
        json_schema_extra=costs("Larger records; some endpoints refuse it."),
    )
    top_logprobs: bool = Field(
        False,
        description="Keep each token's likeliest alternatives too, of the answers at temperature 0; the metric entropy "
        "reads them. Absent: no.",
        examples=[True],
        json_schema_extra=costs("Larger records; some endpoints refuse it."),
    )
    models: dict[str, ModelGeneration] = Field(
        {},
        description="What differs for single models: the model as it stands in cross.models, and a table of the keys "
        "below. Absent: all models are sampled alike.",
        examples=[{"smollm2": {"top_p": 0.9, "top_k": 50}}],
        json_schema_extra=costs(FREE),
    )
