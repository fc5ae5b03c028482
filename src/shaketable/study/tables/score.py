"""[score]: how answers become numbers."""

from __future__ import annotations

from pydantic import Field

from shaketable.study.tables.keys import FREE, Table, costs

SHORT, TEMPLATE = WITHOUT_MODEL = ("short", "template")
"""The values of score.reference that name no model."""
REFERENCE_SLOTS = ("question", "answer")


class ScoreTable(Table):
    """How answers become numbers."""

    metrics: list[str] = Field(
        ["correct"],
        description="What each answer is measured by; `shaketable ls metrics` lists them. Absent: correct alone.",
        examples=[["correct", "token_f1", "bertscore"]],
        json_schema_extra=costs(
            "Most take milliseconds. bertscore loads an encoder; a judge calls a model for each answer."
        ),
    )
    reference: str = Field(
        "short",
        description="What answers are compared with: short (the accepted answers), template (a fixed sentence around "
        "them), or a model that writes a sentence for each question, such as smollm2. Absent: short.",
        examples=["template"],
        json_schema_extra=costs("None for short and template; a model is called once for each question."),
    )
    reference_prompt: str | None = Field(
        None,
        description="What that model is asked, word for word: a text with {question} and {answer}, or a file that "
        "holds one. Absent: our own prompt.",
        examples=["Answer '{question}' with '{answer}' in one whole sentence."],
        json_schema_extra=costs(FREE, reference="smollm2"),
    )
    reference_temperature: float = Field(
        0.0,
        ge=0,
        description="The temperature at which that model writes. Absent: 0, so that references are the same again.",
        examples=[1.0],
        json_schema_extra=costs(FREE, reference="smollm2"),
    )
    reference_max_tokens: int = Field(
        100,
        ge=1,
        description="Tokens of a reference, at most. Absent: 100.",
        examples=[1000],
        json_schema_extra=costs("Bounds the tokens that are paid for.", reference="smollm2"),
    )
