"""A system and a table of questions → the study that shakes it, with every factor that the system can vary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.factors import UNCHANGED
from shaketable.identity import digest
from shaketable.protocols import ClosingModel, Model, PipelineModel, TemperatureModel
from shaketable.stages.check import lacks_for_wording, part_lacks
from shaketable.study import override, parse_study
from shaketable.types import Limits, Question, Rejected, Study

WORDINGS = ("spelling", "keywords", "disfluency", "grammar", "prefix_injection")
"""Made by rules, without a language model, in a fraction of a second for each question."""
EVIDENCE = ("random_noise(sentences='all')", "synonym(sentences='all')")
"""What leaves the facts in place: that a system fails where its facts are taken away needs no proof."""
IN_ANOTHER_ORDER = "source_reordering"
TEMPERATURES = (0.0, 0.7, 1.0)
"""That endpoints accept."""
MOST_QUESTIONS = 200
"""That are reworded and may be asked, drawn at random where the table has more."""
MAX_TOKENS = 128
"""Of an answer by a model; a pipeline writes as many as it likes."""
TABLES = {".json": "jsonl", ".jsonl": "jsonl", ".parquet": "table", ".tsv": "table"}
"""How a file ends → its loader; any other is a CSV."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """A level that would have been tried."""

    part: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    study: Study
    n_questions: int
    """In the table."""
    rejected_rows: tuple[Rejected, ...]
    left_out: tuple[LeftOut, ...]
    key: str
    """Another system, other questions or other settings have another; a budget changes nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Abilities:
    """What can be varied of a system."""

    evidence: bool
    temperature: bool
    several_passages: bool
    without_context: bool
    """Whether it takes a context that the table has not, and has a default value for it."""


def prepare_shake(
    model: str, data: Path, name: str, *, limits: Limits, seed: int = 0, overrides: Sequence[str] = ()
) -> Prepared:
    """Nothing is asked yet; what a pipeline takes is seen by importing its code, in a process of its own."""
    loader = TABLES.get(data.suffix.casefold(), "csv")
    loaded = catalog.find("dataset", loader)(path=str(data))
    questions = loaded.questions
    part = catalog.build("model", model, "TARGET")
    left_out: list[LeftOut] = []
    try:
        spelled = catalog.spelled(part)  # Before its code is imported, so that a missing file has its own error.
        abilities = _abilities(part, questions, data)
        if abilities.without_context:
            left_out.append(
                LeftOut(part="evidence", reason=f"{data.name} has no column 'context', which it can do without.")
            )
            model = _without_context(model, part)
            spelled = catalog.spelled(catalog.build("model", model, "TARGET"))
    except PartError as error:
        raise PartError(f"TARGET: {error}") from error
    finally:
        if isinstance(part, ClosingModel):
            part.close()
    tables: dict[str, Any] = {
        "name": name,
        "seed": seed,
        "dataset": {"name": loader, "path": str(data.absolute())},
        "cross": _cross(model, part, questions, abilities, left_out),
        "generation": {"max_tokens": MAX_TOKENS},
        "score": {"metrics": ["correct" if any(question.answers for question in questions) else "same_answer"]},
        "analyze": {"analyses": ["shaken"]},
        "shake": {},
    }
    if len(questions) > MOST_QUESTIONS:
        tables["dataset"]["limit"] = MOST_QUESTIONS
    override(tables, overrides)
    # Last, so that the budget is what the command says.
    tables["limits"] = {
        key: value for key in ("max_cost", "max_calls", "max_minutes") if (value := getattr(limits, key)) is not None
    }
    study = parse_study(tables, "shake")
    crossing = {key: value for key, value in tables.items() if key != "limits"}
    key = digest([crossing, spelled, data.read_bytes().hex()])
    return Prepared(
        study=study, n_questions=len(questions), rejected_rows=loaded.rejected, left_out=tuple(left_out), key=key
    )


def _abilities(part: Model, questions: Sequence[Question], data: Path) -> _Abilities:
    n_passages = max(len(question.documents) for question in questions)
    temperature = not isinstance(part, TemperatureModel) or part.takes_temperature
    takes = part.takes if isinstance(part, PipelineModel) else frozenset({"context"} if n_passages else ())
    lacks_context = "context" in takes and not n_passages and "disturb" not in takes
    without_context = lacks_context and isinstance(part, PipelineModel) and "context" in part.optional
    if lacks_context and not without_context:
        label = catalog.label(part)
        without = catalog.write("pipeline", {"python": label, "parameters": tuple(sorted(takes - {"context"}))})
        raise PartError(
            f"{label} takes a context, and {data.name} has no column 'context' to give it. Add the column; or, if it "
            "finds its passages itself, let it take 'disturb' and hand them over; or, if it can do without, take the "
            f'slot out of the template, or say what a function is given, as TARGET: "{without}".'
        )
    return _Abilities(
        evidence=not without_context and ("context" in takes or "disturb" in takes),
        temperature=temperature,
        several_passages=n_passages > 1 or "disturb" in takes,
        without_context=without_context,
    )


def _without_context(model: str, part: Model) -> str:
    """Return the target as a study writes it, called without a context."""
    assert isinstance(part, PipelineModel)
    name, settings = catalog.parse(model)
    return catalog.write(name, {**settings, "parameters": tuple(sorted(part.takes - {"context"}))})


def _cross(
    model: str, part: Model, questions: Sequence[Question], abilities: _Abilities, left_out: list[LeftOut]
) -> dict[str, Any]:
    evidence = (*EVIDENCE, *([IN_ANOTHER_ORDER] if abilities.several_passages else [])) if abilities.evidence else ()
    cross: dict[str, Any] = {
        "models": [model],
        "variations": ["original", *_ready("variation", WORDINGS, left_out)],
        "perturbations": [UNCHANGED, *_ready("perturbation", evidence, left_out)],
        "temperatures": list(TEMPERATURES if abilities.temperature else TEMPERATURES[:1]),
        "repeats": 2,
    }
    if any(question.documents for question in questions):
        cross["retrievers"] = ["distractor"]
    if not isinstance(part, PipelineModel):
        cross["methods"] = ["single_retrieval" if abilities.evidence else "closed_book"]
    return cross


def _ready(kind: str, texts: Sequence[str], left_out: list[LeftOut]) -> Iterator[str]:
    """Those that have all they need on this machine."""
    for text in texts:
        is_wording = kind == "variation"
        problem = (
            lacks_for_wording(catalog.build("variation", text))
            if is_wording
            else part_lacks(kind, catalog.build(kind, text))
        )
        if problem is None:
            yield text
        else:
            left_out.append(LeftOut(part=text, reason=problem))
