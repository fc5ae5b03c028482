"""The command that opens or closes a gate."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from shaketable.analyses.gate.broken import BrokenQuestion
from shaketable.analyses.gate.verdicts import Check, Checked
from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.errors import UsageError
from shaketable.store import Run
from shaketable.store.findings_file import cell_columns
from shaketable.study import change_gate
from shaketable.types import Gate, Json

GATE_FAILED = 100
N_EXAMPLES = 3


class Undecided(enum.StrEnum):
    pass_ = "pass"
    fail = "fail"


AccuracyOption = Annotated[
    float | None, typer.Option("--min-accuracy", help="Of the main metric, where nothing is shaken; 0.7 is 70 %.")
]
DropOption = Annotated[
    float | None, typer.Option("--max-drop", help="Of it, to the worst condition; 0.1 is 10 points of a share.")
]
FlipsOption = Annotated[
    float | None,
    typer.Option("--max-flip-rate", help="How often an answer is judged otherwise in the worst condition."),
]
BreakingOption = Annotated[
    float | None, typer.Option("--min-breaking-temperature", help="Up to where known facts hold, on average.")
]
ScoreOption = Annotated[
    float | None, typer.Option("--min-frs", help="The mean Factual Robustness Score of known facts.")
]
FailuresOption = Annotated[
    float | None, typer.Option("--max-failures", help="The share of trials without an answer; 0.01 is 1 %.")
]
RegressionOption = Annotated[
    float | None,
    typer.Option("--max-regression", help="How much worse than the base is allowed; 0.02 is 2 points of a share."),
]
BrokenOption = Annotated[
    int | None,
    typer.Option(
        "--max-broken",
        help="With --against: how many answers may be right in all runs of the base and wrong in all runs here.",
    ),
]
ConfidenceOption = Annotated[
    float | None, typer.Option("--confidence", help="With which it must be shown, one-sided; 0.95 if absent.")
]
UndecidedOption = Annotated[
    Undecided | None,
    typer.Option(
        "--undecided",
        help="What counts where the data show neither: thresholds fail, and --against passes, if absent.",
    ),
]


@guarded
def check(
    run_folder: RunArgument,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="BASE", help="The folder of a run that this one is held against."),
    ] = None,
    max_regression: RegressionOption = None,
    max_broken: BrokenOption = None,
    min_accuracy: AccuracyOption = None,
    max_drop: DropOption = None,
    max_flip_rate: FlipsOption = None,
    min_breaking_temperature: BreakingOption = None,
    min_frs: ScoreOption = None,
    max_cost: Annotated[float | None, typer.Option(help="Dollars for an answer.")] = None,
    max_failures: FailuresOption = None,
    confidence: ConfidenceOption = None,
    undecided: UndecidedOption = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, for the test report of a CI service.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for a pull request.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Write a badge, as SVG.")] = None,
    json_: JsonOption = False,
) -> None:
    """Hold a run against thresholds, or against another run. Exit 0 when it passes, 100 when it does not.

    Thresholds come from [gate] of the run's study; options go before them. A threshold holds when its whole interval
    lies on the good side. What the run cannot tell, such as a flip rate without repeats, is refused.

    Example: `shaketable check runs/new --against runs/base --max-drop 0.1 --markdown gate.md`
    """
    run = Run(run_folder)
    given = {
        "min_accuracy": min_accuracy,
        "max_drop": max_drop,
        "max_flip_rate": max_flip_rate,
        "min_breaking_temperature": min_breaking_temperature,
        "min_frs": min_frs,
        "max_cost": max_cost,
        "max_failures": max_failures,
        "max_regression": max_regression,
        "max_broken": max_broken,
        "confidence": confidence,
        "undecided": None if undecided is None else undecided.value,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if max_broken is not None and against is None:
        raise UsageError("--max-broken counts answers that a base had right. Give the base with --against BASE.")
    gate = change_gate(run.study.gate, asked, "options")
    from shaketable.stages.gate import broken_by, check_run

    base = None if against is None else Run(against)
    checked = check_run(run, gate, base, lambda words: say(words, quiet=json_))
    broken = broken_by(run, checked, base, N_EXAMPLES)
    _write(checked, run, base, broken, junit=junit, markdown=markdown, badge=badge)
    counted = [question for question in broken if question.check.is_counted]
    if json_:
        print_json(_values(checked, run, against, gate, counted))
    else:
        _tell(checked, counted)
    raise typer.Exit(0 if checked.passes else GATE_FAILED)


def _write(
    checked: Checked,
    run: Run,
    base: Run | None,
    broken: Sequence[BrokenQuestion],
    *,
    junit: Path | None,
    markdown: Path | None,
    badge: Path | None,
) -> None:
    from shaketable.report.gate_files import format_badge, format_junit, format_markdown

    if junit:
        _write_text(junit, format_junit(checked, str(run.folder), broken))
    if markdown:
        beside = None if base is None else str(base.folder)
        _write_text(markdown, format_markdown(checked, str(run.folder), beside, broken))
    if badge:
        _write_text(badge, format_badge(checked))


def _write_text(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def _tell(checked: Checked, broken: Sequence[BrokenQuestion]) -> None:
    from shaketable.report.gate_words import (
        describe_bounds,
        describe_broken,
        describe_broken_question,
        describe_checked,
        describe_unpaired,
        describe_verdict,
        format_limit,
        format_measured,
        labels_of,
        name_bounds,
        name_conditions,
        name_threshold,
    )

    labels = labels_of(checked.checks)
    table = Table("threshold", "where", f"measured, {name_bounds(checked)}", "allowed", "verdict")
    for worst in checked.worst():
        check = worst.check
        color = "red" if worst.n_failing else "green"
        table.add_row(
            *(Text(words) for words in (name_threshold(check), name_conditions(worst, labels))),
            *(Text(words) for words in (format_measured(check), format_limit(check))),
            Text(describe_verdict(check), style=color),
        )
    out.print(table)
    for question in broken:
        out.print(f"  {describe_broken_question(question)}", highlight=False, markup=False)
    for sentence in (*describe_broken(checked), describe_bounds(checked), *describe_unpaired(checked, labels)):
        say(sentence)
    out.print(describe_checked(checked), highlight=False, markup=False)


def _values(
    checked: Checked, run: Run, against: Path | None, gate: Gate, broken: Sequence[BrokenQuestion]
) -> dict[str, Json]:
    return {
        "run": str(run.folder),
        "against": None if against is None else str(against),
        "passes": checked.passes,
        "gate": dataclasses.asdict(gate),
        "checks": [_check_values(check) for check in checked.checks],
        "broken": [
            {
                **cell_columns(own.cell),
                "question_id": own.question_id,
                "question": own.wording,
                "accepted": list(own.gold),
                "before": own.before,
                "after": own.after,
            }
            for own in broken
        ],
        "unpaired": [
            {"model": system.model, **dataclasses.asdict(own)}
            for system, every in checked.unpaired.items()
            for own in every
        ],
    }


def _check_values(check: Check) -> dict[str, Json]:
    return {
        "threshold": check.threshold,
        "limit": check.limit,
        **cell_columns(check.cell),
        "metric": check.metric,
        "verdict": check.verdict,
        "passes": check.passes,
        "reason": check.reason,
        **({"expected": check.expected} if check.is_counted else {}),
        "estimate": dataclasses.asdict(check.estimate),
        "adjusted": dataclasses.asdict(check.adjusted),
    }
