"""What `shake` says before it asks: what it will try, and what could be shown at all."""

from __future__ import annotations

import dataclasses

from shaketable.analyses.arms import Levels
from shaketable.cli.console import print_json, say
from shaketable.cli.forecasting import describe_rejected
from shaketable.report.words import count
from shaketable.stages.shaking.design import least_calls, least_questions
from shaketable.stages.shaking.study import Prepared
from shaketable.types import Limits


def tell_plan(prepared: Prepared, levels: Levels, n_questions: int, *, json_: bool, is_dry: bool) -> None:
    """What is tried of the system, and what could be shown at all."""
    study = prepared.study
    n_ways = len(levels.single) + len(levels.paired)
    full = n_questions * (1 + len(levels.variations)) * (1 + len(levels.perturbations)) * (1 + len(levels.temperatures))
    if json_:
        if is_dry:
            print_json(
                {
                    "study": study.name,
                    "questions": n_questions,
                    "variations": list(levels.variations),
                    "perturbations": list(levels.perturbations),
                    "temperatures": list(levels.temperatures),
                    "ways": n_ways,
                    "limits": dataclasses.asdict(study.limits),
                    "least_calls": least_calls(levels, n_questions),
                    "full_design": full,
                    "rejected_rows": len(prepared.rejected_rows),
                    "left_out": [dataclasses.asdict(left_out) for left_out in prepared.left_out],
                }
            )
        return
    drawn = f" of {prepared.n_questions:,}, drawn at random" if n_questions < prepared.n_questions else ""
    say(f"{count(n_questions, 'question')}{drawn}; {_tried(levels)}. {describe_limits(study.limits)}.")
    say(f"Judged by {_judged(study.metrics)}.")
    if rejected := prepared.rejected_rows:
        say(describe_rejected(rejected))
    for left_out in prepared.left_out:
        say(f"Note: {left_out.part} is not tried. {left_out.reason}")
    if note := _too_few(levels, n_questions, study.confidence):
        say(note)
    if is_dry:
        say(
            f"To look at each way alone takes {least_calls(levels, n_questions):,} calls; every question in every "
            f"combination would take {full:,}. Nothing was asked."
        )


def _tried(levels: Levels) -> str:
    tried = [
        *([f"wordings: {', '.join(levels.variations)}"] if levels.variations else []),
        *([f"evidence: {', '.join(levels.perturbations)}"] if levels.perturbations else []),
        *([f"temperatures: {', '.join(f'{t:g}' for t in levels.temperatures)}"] if levels.temperatures else []),
    ]
    fixed = [
        *([] if levels.perturbations else ["evidence"]),
        *([] if levels.temperatures else ["temperature"]),
    ]
    not_varied = f" (not varied: {', '.join(fixed)})" if fixed else ""
    return f"{'; '.join(tried)}{not_varied}"


def _judged(metrics: tuple[str, ...]) -> str:
    words = {
        "correct": "the accepted answers",
        "same_answer": "agreement with the system's own plain answers, as the questions come without answers",
    }
    return ", ".join(words.get(metric, metric) for metric in metrics)


def describe_limits(limits: Limits) -> str:
    """`At most 300 calls`."""
    amounts = [
        *([f"{count(limits.max_calls, 'call')}"] if limits.max_calls is not None else []),
        *([f"{limits.max_cost:,.2f} USD"] if limits.max_cost is not None else []),
        *([f"{limits.max_minutes:.3g} minutes"] if limits.max_minutes is not None else []),
    ]
    return f"At most {', '.join(amounts)}"


def _too_few(levels: Levels, n_questions: int, confidence: float) -> str:
    least = least_questions(levels, 1 - confidence)
    if least is None or n_questions >= least:
        return ""
    return (
        f"Note: with {count(n_questions, 'question')} not even a loss of all answers could be shown; that takes "
        f"{least}, and smaller losses take more. Add questions, or try fewer ways to ask."
    )
