"""What a report says about a run, in words and counts."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from shaketable.report.case import Case, CaseAnswer
from shaketable.report.charts.few import few
from shaketable.report.words import name_evidence
from shaketable.store.counts import EmptyCount, ReferenceFlagCount, RejectedCount, UnscoredCount
from shaketable.store.evidence_flags import FlagCount
from shaketable.store.summary import RunSummary
from shaketable.store.wordings import WordingEffort
from shaketable.types import OldFinding

Row = Mapping[str, Any]
CONDITIONS = ("correctness", "variability")
"""The analyses whose rows are all conditions of the run."""
NOT_APPLIED = "Temperature was not applied by "
"""How the caveat of a model begins that ignores its temperature."""
BANNERS = {
    "empty": ("Nothing has been answered yet.", "{trials:,} trials are planned. Start them with"),
    "planning": ("This run is starting.", "{trials:,} trials are planned, and none is answered yet."),
    "running": ("This run is still going: all results are partial.", "{done:,} of {trials:,} trials are done."),
    "interrupted": (
        "This run was interrupted: all results are partial.",
        "{left:,} of {trials:,} trials are left. Go on with",
    ),
    "finished_with_failures": ("Some trials failed.", "{failed:,} of {trials:,} have no answer. Try those again with"),
}


def banner(summary: RunSummary, folder: Path, remark: str = "") -> dict[str, str | None] | None:
    """How far the run has come, and the command to go on with; None for a finished run without a remark."""
    state = summary.state
    if state not in BANNERS:
        return {"title": "First results.", "text": "", "command": None, "remark": remark} if remark else None
    title, text = BANNERS[state]
    counts = {"trials": summary.trials, "done": summary.done, "failed": summary.failed}
    left = summary.trials - summary.done
    resume = shlex.join(["shaketable", "run", str(folder / "study.toml"), "--out", str(folder)])
    command = None if state in ("planning", "running") else resume
    return {"title": title, "text": text.format(**counts, left=left), "command": command, "remark": remark}


def facts(summary: RunSummary, scores: pl.DataFrame) -> list[tuple[str, str]]:
    """What stood on the table, one line each."""
    lines = [
        ("Systems", ", ".join(summary.models)),
        ("Data", f"{', '.join(summary.datasets)}: {_count(summary.n_questions, 'question')}"),
        ("Shaken", _shaken(scores)),
        ("Trials", f"{summary.done:,} of {summary.trials:,} answered, {summary.failed:,} failed"),
        ("When", _span(summary.created, summary.finished)),
    ]
    return [(name, text) for name, text in lines if text]


def _shaken(scores: pl.DataFrame) -> str:
    temperatures = sorted(scores["temperature"].unique())
    evidence = sorted(
        {name_evidence(name) for name in scores["perturbation"].unique()}, key=lambda name: (name != "unchanged", name)
    )
    wordings = sorted(scores["variation"].unique())
    shaken = []
    if len(temperatures) > 1:
        shaken.append(f"temperature {temperatures[0]:g} to {temperatures[-1]:g} in {len(temperatures)} steps")
    if len(evidence) > 1:
        shaken.append("evidence " + ", ".join(evidence))
    if len(wordings) > 1:
        shaken.append("wording " + ", ".join(wordings))
    return "; ".join(shaken)


def missing(
    summary: RunSummary,
    rejected: Sequence[RejectedCount],
    flags: Sequence[FlagCount],
    references: Sequence[ReferenceFlagCount],
    unscored: Sequence[UnscoredCount],
    empty: Sequence[EmptyCount],
) -> list[dict[str, Any]]:
    return [
        {"n": summary.missing, "text": "trials not run yet", "link": None},
        {"n": summary.failed, "text": "trials failed", "link": "failures"},
        {"n": sum(count.n for count in empty), "text": "answers are empty, and count as wrong", "link": "empty"},
        {"n": sum(count.n for count in rejected), "text": "rewordings rejected", "link": "rejected"},
        {"n": sum(count.n for count in flags), "text": "disturbances not done as asked", "link": "flags"},
        {"n": sum(count.n for count in references), "text": "reference answers that look wrong", "link": "references"},
        {"n": sum(count.n for count in unscored), "text": "scores that could not be given", "link": "unscored"},
    ]


def rows_of(finding: OldFinding) -> Sequence[Row]:
    """The rows of a finding, as values of the types its analysis promises."""
    return finding.rows


def not_applied(findings: Sequence[OldFinding]) -> dict[str, str]:
    """System (`model · method`) → the caveat that temperature was not applied by it."""
    caveats = {caveat for finding in findings for caveat in finding.caveats if caveat.startswith(NOT_APPLIED)}
    systems = sorted({flat_name(row) for finding in findings for row in finding.rows})
    return {name: caveat for name in systems for caveat in caveats if caveat.startswith(f"{NOT_APPLIED}{name}:")}


def flat_name(row: Row) -> str:
    """How a caveat on temperature names the system of a row."""
    return f"{row.get('model')} · {row.get('method')}"


def extreme_systems(findings: Sequence[OldFinding]) -> list[str]:
    """The systems that heat moves most and least, the most first: those that single questions are shown of."""
    finding = next((one for one in findings if one.analysis == "correctness"), None)
    if finding is None:
        return []
    moved = {
        str(row["system"]): abs(float(str(row["value"])))
        for row in finding.rows
        if str(row["contrast"]).startswith("temperature") and row["type"] is None and row["value"] is not None
        if row["metric"] == finding.settings.get("main_metric") and row["perturbation"] in ("unchanged", None)
    }
    ordered = sorted(moved, key=lambda system: (-moved[system], system))
    ordered = ordered or sorted({str(row["system"]) for row in finding.rows})
    return ordered if len(ordered) < 3 else [ordered[0], ordered[-1]]


def costs(summary: RunSummary, seed: int) -> list[tuple[str, Any]]:
    return [
        ("Selection", summary.selection or "all questions"),
        ("Seed", seed),
        ("Time", _duration(summary.seconds)),
        (
            "Calls",
            f"{_count(summary.n_generations, 'generation')}, {_count(summary.n_searches, 'search', 'searches')}",
        ),
        ("Tokens", f"{summary.n_prompt_tokens:,} read, {summary.n_tokens:,} written"),
        *((f"Rewording by {effort.part}", _rewording_words(effort)) for effort in summary.rewordings),
    ]


def _rewording_words(effort: WordingEffort) -> str:
    making = effort.making
    failed = f", {making.n_failures:,} of them failed" if making.n_failures else ""
    return (
        f"{_count(making.n_calls, 'call')} for {_count(effort.n_questions, 'question')}{failed}; "
        f"{making.n_prompt_tokens:,} tokens read, {making.n_tokens:,} written; {_duration(making.seconds)}"
    )


def example(case: Case) -> dict[str, Any]:
    """A case with its evidence as a diff, and its answers by temperature and evidence."""
    columns = sorted({answer.perturbation for answer in case.answers}, key=lambda name: name != "unchanged")
    temperatures = few(sorted({answer.temperature for answer in case.answers}))
    return {
        "headline": case.headline,
        "question": case.question,
        "wording": case.wording,
        "gold": case.gold,
        "evidence": named_evidence(case.perturbation),
        "diff": word_diff(case.evidence_before, case.evidence_after),
        "columns": columns,
        "lines": [
            (temperature, [_alike(case.answers, temperature, column) for column in columns])
            for temperature in temperatures
        ],
    }


def word_diff(before: str, after: str) -> list[tuple[str, str]]:
    """Runs of words that are `kept`, `gone` or `new`, in reading order."""
    old, new = before.split(), after.split()
    runs = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        parts = (("kept", old[i:j]),) if kind == "equal" else (("gone", old[i:j]), ("new", new[k:m]))
        runs += [(name, " ".join(words)) for name, words in parts if words]
    return runs


def _alike(answers: Sequence[CaseAnswer], temperature: float, perturbation: str | None) -> list[dict[str, Any]]:
    """Equal answers once, with how often they came."""
    counted: dict[tuple[Any, ...], int] = {}
    for answer in answers:
        if answer.temperature == temperature and answer.perturbation == perturbation:
            # A mark says right or wrong already; the tags beside it say how.
            tags = tuple(tag for tag in answer.tags if tag != "wrong")
            same = answer.text, answer.correct, tags, answer.failure
            counted[same] = counted.get(same, 0) + 1
    return [
        {"text": text, "correct": correct, "tags": tags, "failure": failure, "n": n}
        for (text, correct, tags, failure), n in counted.items()
    ]


def named_evidence(perturbation: str | None) -> str:
    return (perturbation or "no_evidence").replace("_", " ")


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _span(created: str | None, finished: str | None) -> str:
    """`2 March 2026, 09:14 to 10:02`; the second day is named where it is another."""
    if not created:
        return ""
    start = datetime.fromisoformat(created)
    said = f"{start.day} {start:%B %Y, %H:%M}"
    if not finished:
        return said
    end = datetime.fromisoformat(finished)
    return f"{said} to {end:%H:%M}" if end.date() == start.date() else f"{said} to {end.day} {end:%B %Y, %H:%M}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        " ".join(f"{n:,} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if n) or "less than 1 s"
    )
