"""What a page says of the run itself: how far it has come, what stood on the table, what is missing, what it took."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from shaketable.factors import Labels, short_names
from shaketable.metrics.scoring import GREEDY_ONLY
from shaketable.report.money_words import describe_money, describe_reused
from shaketable.report.repeat_words import describe_repeats
from shaketable.report.words import count, join_words, name_evidence, name_part
from shaketable.store import Run
from shaketable.store.counts import EmptyCount, FailureCount, ReferenceFlagCount, RejectedCount, UnscoredCount
from shaketable.store.evidence_flags import FlagCount
from shaketable.store.extension import Change
from shaketable.store.summary import RunSummary
from shaketable.store.wordings import WordingEffort
from shaketable.types import Finding, Findings

BANNERS = {
    "empty": ("Nothing has been answered yet.", "{trials:,} trials are planned. Start them with"),
    "planning": ("This run is starting.", "{trials:,} trials are planned, and none is answered yet."),
    "running": ("This run is still going: all results are partial.", "{done:,} of {trials:,} trials are done."),
    "interrupted": (
        "This run was interrupted: all results are partial.",
        "{left:,} of {trials:,} trials are left. Go on with",
    ),
    "stopped": (
        "This run stopped at its limit: all results are partial.",
        "It stopped at its limit ({limit}) after {done:,} of {trials:,} trials. Raise it to go on, such as with",
    ),
    "finished_with_failures": ("Some trials failed.", "{failed:,} of {trials:,} have no answer. Try those again with"),
}
PLANNED_UNKNOWN = {
    "empty": "How many trials are planned is not known yet. Start them with",
    "planning": "How many trials are planned is not known yet.",
}
"""What is said before the trials were counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Banner:
    title: str
    text: str
    command: str | None
    """What to go on with; None: there is nothing to do."""
    remark: str
    """What a page of partial results must say about itself."""


def make_banner(summary: RunSummary, folder: Path, remark: str = "") -> Banner | None:
    """How far the run has come, and the command to go on with; None for a finished run without a remark."""
    state = summary.state
    if state not in BANNERS:
        return Banner(title="First results.", text="", command=None, remark=remark) if remark else None
    title, text = BANNERS[state]
    if state in PLANNED_UNKNOWN and not summary.trials:
        text = PLANNED_UNKNOWN[state]
    counts = {"trials": summary.trials, "done": summary.done, "failed": summary.failed}
    resume = resume_command(summary, folder)
    return Banner(
        title=title,
        text=text.format(**counts, left=summary.trials - summary.done, limit=describe_limit(summary)),
        command=None if state in ("planning", "running") else resume,
        remark=remark,
    )


def describe_limit(summary: RunSummary) -> str:
    """The limit that the run has reached: `500 calls`."""
    limits = summary.limits
    if summary.stopped_by == "max_cost":
        return f"{limits.max_cost or 0:,.2f} USD"
    if summary.stopped_by == "max_calls":
        return f"{count(limits.max_calls or 0, 'call')}"
    return f"{limits.max_minutes or 0:g} minutes"


def resume_command(summary: RunSummary, folder: Path) -> str:
    """What to go on with; at a limit, with as much more of it as the rest would take by what there is so far."""
    words = ["shaketable", "run", str(folder / "study.toml"), "--out", str(folder)]
    if summary.state == "stopped" and summary.stopped_by is not None:
        limits, n_ended = summary.limits, summary.done + summary.failed
        share = 1.1 * (summary.trials / n_ended if n_ended else 2.0)
        spent = {
            "max_cost": sum(system.dollars or 0.0 for system in summary.spent) + summary.lost.dollars,
            "max_calls": sum(system.n_calls for system in summary.spent) + summary.lost.n_calls,
            "max_minutes": summary.seconds / 60,
        }[summary.stopped_by]
        least = {"max_cost": limits.max_cost, "max_calls": limits.max_calls, "max_minutes": limits.max_minutes}
        wanted = share * max(spent, least[summary.stopped_by] or 0)
        digits = 2 if summary.stopped_by == "max_cost" else 0
        rounded = math.ceil(wanted * 10**digits) / 10**digits
        words += [f"--{summary.stopped_by.replace('_', '-')}", f"{rounded:.{digits}f}"]
    return shlex.join(words)


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    n: int
    text: str
    link: str | None
    """Where they are listed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """Everything that is missing from a run, and why."""

    counts: tuple[Count, ...]
    failures: tuple[FailureCount, ...]
    empty: tuple[EmptyCount, ...]
    rejected: tuple[RejectedCount, ...]
    flags: tuple[FlagCount, ...]
    references: tuple[ReferenceFlagCount, ...]
    unscored: tuple[UnscoredCount, ...]
    analyses: tuple[Finding, ...]
    """Those that failed."""

    def __bool__(self) -> bool:
        return any(count.n for count in self.counts)


def find_missing(run: Run, summary: RunSummary, findings: Findings) -> Missing:
    analyses = tuple(finding for finding in findings.findings if finding.failure)
    empty, rejected, flags, references = run.empty_answers(), run.rejected(), run.flags(), run.reference_flags()
    unscored = tuple(count for count in run.unscored() if count.reason != GREEDY_ONLY)
    n_empty, n_rejected = sum(count.n for count in empty), sum(count.n for count in rejected)
    counts = (
        Count(n=summary.missing, text="trials not run yet", link=None),
        Count(n=summary.failed, text="trials failed", link="failures"),
        Count(n=n_empty, text="answers are empty, and count as wrong", link="empty"),
        Count(n=n_rejected, text="rewordings rejected", link="rejected"),
        Count(n=sum(count.n for count in flags), text="disturbances not done as asked", link="flags"),
        Count(n=sum(count.n for count in references), text="reference answers that look wrong", link="references"),
        Count(n=sum(count.n for count in unscored), text="scores that could not be given", link="unscored"),
        Count(n=len(analyses), text="analyses failed", link="analyses"),
    )
    return Missing(
        counts=counts,
        failures=run.failures(),
        empty=empty,
        rejected=rejected,
        flags=flags,
        references=references,
        unscored=unscored,
        analyses=analyses,
    )


def list_facts(summary: RunSummary, scores: pl.DataFrame, labels: Labels) -> list[tuple[str, str]]:
    """What stood on the table, one line each."""
    lines = [
        ("Systems", ", ".join(_systems(summary, labels))),
        ("Data", f"{', '.join(summary.datasets)}: {_count(summary.n_questions, 'question')}"),
        ("Varied", _shaken(scores)),
        ("Paraphrases", _describe_checks(summary.wording_checks)),
        ("Trials", f"{summary.done:,} of {summary.trials:,} answered, {summary.failed:,} failed"),
        ("Repeats", "" if summary.repeats is None else describe_repeats(summary.repeats)),
        ("Money", describe_money(summary)),
        ("Reused", describe_reused(summary)),
        ("When", _span(summary.created, summary.finished)),
    ]
    return [(name, text) for name, text in lines if text]


def _describe_checks(checks: Sequence[tuple[str, str]]) -> str:
    """`keywords, grammar: checked by rules`, where the full check was not used."""
    words = {
        "rules": "checked by rules (names, numbers, content words), not for similarity and fluency",
        "none": "not checked",
    }
    parts = {check: ", ".join(name_part(part) for part, own in checks if own == check) for _, check in checks}
    return "; ".join(f"{parts[check]}: {text}" for check, text in words.items() if check in parts)


def _systems(summary: RunSummary, labels: Labels) -> list[str]:
    """By the names that were given to them; where none was, models tell enough."""
    return sorted(map(labels.system, labels.systems)) if labels.given else list(short_names(summary.models).values())


def _shaken(scores: pl.DataFrame) -> str:
    temperatures = sorted(scores["temperature"].unique())
    evidence = sorted(
        {name_evidence(name) for name in scores["perturbation"].unique()}, key=lambda name: (name != "unchanged", name)
    )
    wordings = sorted(scores["variation"].unique())
    shaken = []
    if len(temperatures) > 1:
        shaken.append(f"temperature {temperatures[0]:g} to {temperatures[-1]:g} ({len(temperatures)} values)")
    if scores["perturbation"].drop_nulls().n_unique() > 1:  # A method that does not search shakes no evidence.
        shaken.append("evidence " + ", ".join(evidence))
    if len(wordings) > 1:
        shaken.append("wording " + ", ".join(wordings))
    return "; ".join(shaken)


def list_costs(summary: RunSummary, seed: int, extensions: Sequence[Sequence[Change]] = ()) -> list[tuple[str, object]]:
    """What the run took, one line each."""
    return [
        ("Selection", describe_selection(summary.selection)),
        ("Seed", seed),
        *(("Extended", "; ".join(map(str, changes))) for changes in extensions),
        ("Time", _duration(summary.seconds)),
        (
            "Calls",
            f"{_count(summary.n_generations, 'generation')}, {_count(summary.n_searches, 'search', 'searches')}",
        ),
        ("Tokens", f"{summary.n_prompt_tokens:,} read, {summary.n_tokens:,} written"),
        *((f"Rewording by {effort.part}", _describe_rewording(effort)) for effort in summary.rewordings),
    ]


def describe_selection(selection: Mapping[str, Any]) -> str:
    """`24 questions of builtin, balanced by type and n facts`, and what was left out."""
    if not selection:
        return "all questions"
    counts = (
        ("rejected_rows", "row was", "rows were", "left out"),
        ("remarks", "row was", "rows were", "changed when read"),
        ("rejected_variants", "wording was", "wordings were", "rejected"),
    )
    told = [_describe_choice(choice) for choice in selection.get("datasets", ())]
    told += [
        f"{n:,} {one if n == 1 else several} {done}" for key, one, several, done in counts if (n := selection.get(key))
    ]
    told += [f"only {_count(n, 'question')} for {cell}" for cell, n in (selection.get("short_cells") or {}).items()]
    return "; ".join([f"{_count(selection.get('questions', 0), 'question')} asked", *told])


def _describe_choice(choice: Mapping[str, Any]) -> str:
    """`at most 24 of builtin, balanced by type and n facts`."""
    limit, per_cell, balanced = choice.get("limit"), choice.get("per_cell"), choice.get("balance_by")
    where = [f"{name_part(key)} {_listed(value)}" for key, value in (choice.get("where") or {}).items()]
    told = [
        f"{'all' if limit is None else f'at most {limit:,}'} of {choice['name']}",
        *([f"balanced by {join_words([name_part(key) for key in balanced])}"] if balanced else []),
        *([f"{per_cell:,} of each"] if per_cell else []),
        *([f"where {' and '.join(where)}"] if where else []),
        *(["that have a rewrite"] if choice.get("with_rewrites") else []),
        *([f"part {' of '.join(map(str, choice['shard']))}"] if choice.get("shard") else []),
    ]
    return ", ".join(told)


def _listed(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _describe_rewording(effort: WordingEffort) -> str:
    making = effort.making
    failed = f", {making.n_failures:,} of them failed" if making.n_failures else ""
    return (
        f"{_count(making.n_calls, 'call')} for {_count(effort.n_questions, 'question')}{failed}; "
        f"{making.n_prompt_tokens:,} tokens read, {making.n_tokens:,} written; {_duration(making.seconds)}"
    )


def _count(n: int, single: str, several: str | None = None) -> str:
    return f"{n:,} {single if n == 1 else several or single + 's'}"


def _span(created: str | None, finished: str | None) -> str:
    """`2 March 2026, 09:14 to 10:02`; the second day is named where it is another."""
    if not created:
        return ""
    start = datetime.fromisoformat(created)
    span = f"{start.day} {start:%B %Y, %H:%M}"
    if not finished:
        return span
    end = datetime.fromisoformat(finished)
    return f"{span} to {end:%H:%M}" if end.date() == start.date() else f"{span} to {end.day} {end:%B %Y, %H:%M}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        " ".join(f"{n:,} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if n) or "less than 1 s"
    )
