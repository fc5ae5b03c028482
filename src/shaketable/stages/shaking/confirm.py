"""A shaken run → the study that would confirm its worst case: fixed before it is asked, on questions that are new."""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from shaketable import catalog
from shaketable.analyses.arms import Levels
from shaketable.analyses.shakes import Breaking, Shaken
from shaketable.factors import ORIGINAL, UNCHANGED
from shaketable.statistics.betting import n_to_claim
from shaketable.store import Run
from shaketable.store.ownership import keep_closed
from shaketable.study import format_study
from shaketable.types import DatasetChoice, Limits, Study

STUDY = "confirm.toml"
QUESTIONS = "confirm_questions.csv"
POWER = 0.9
LEAST_GAINS = 0.02
"""Of questions that become right by chance, where none did so far."""
NOISY_REPEATS = 3
AGREEMENT = "same_answer"
"""The metric that needs a second plain answer to compare with the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """What a study of the worst case alone would take."""

    study: Study | None
    """It asks questions of a new table alone; None: no such table can be made of this one."""
    worst: Breaking
    loss: float
    """That it is planned for: half of the estimate, or the lower end of its interval if that is more. The worst of
    many estimates is too large."""
    n_needed: int | None
    """Questions that show such a loss with the chance `POWER`; None: more than a thousand."""
    n_fresh: int
    """Questions of the table that the run did not ask."""
    has_enough: bool
    """Whether there are as many fresh questions as are needed."""

    @property
    def n_to_add(self) -> int | None:
        """Fresh questions that are still missing; None: more than a thousand."""
        return None if self.n_needed is None else max(self.n_needed - self.n_fresh, 0)


def plan_confirmation(run: Run) -> Confirmation | None:
    """None: nothing was shown."""
    results = [finding.result for finding in run.findings().findings if isinstance(finding.result, Shaken)]
    shaken = results[0] if results else Shaken()
    worst = shaken.worst
    if worst is None or worst.loss.value is None:
        return None
    loss = max(worst.loss.value / 2, worst.loss.low or 0.0)
    n_needed = n_to_claim(loss, min(max(worst.gains, LEAST_GAINS), (1 - loss) / 2), _error(worst), POWER)
    asked = set(run.records()["question_id"])
    [choice] = run.study.datasets
    every = catalog.find("dataset", choice.name)(**choice.settings).questions
    n_fresh = sum(question.id not in asked for question in every)
    has_enough = choice.name == "csv" and n_needed is not None and n_needed <= n_fresh
    return Confirmation(
        study=_study(run.study, shaken, worst, n_needed) if choice.name == "csv" else None,
        worst=worst,
        loss=loss,
        n_needed=n_needed,
        n_fresh=n_fresh,
        has_enough=has_enough,
    )


def write_confirmation(run: Run, confirmation: Confirmation | None, head: str) -> Path | None:
    """Into the run's folder, below a head of comments; what an earlier go wrote is replaced."""
    study, questions = run.folder / STUDY, run.folder / QUESTIONS
    for file in (study, questions):
        file.unlink(missing_ok=True)
    if confirmation is None or confirmation.study is None:
        return None
    source = Path(str(run.study.datasets[0].settings["path"]))
    _write_fresh(source, questions, set(run.records()["question_id"]))
    lines = "".join(f"# {line}\n" for line in head.splitlines())
    study.write_text(f"{lines}\n{format_study(confirmation.study)}", "utf-8")
    keep_closed(run.folder)
    return study


def _error(worst: Breaking) -> float:
    """What its claim may spend where its own levels are all there are."""
    cell = worst.cell
    levels = Levels(
        variations=(cell.variation,) if cell.variation is not None else (),
        perturbations=(cell.perturbation,) if cell.perturbation is not None else (),
        temperatures=(cell.temperature,) if cell.temperature is not None else (),
    )
    return levels.error_of(worst.arm, 1 - worst.loss.level)


def _study(study: Study, shaken: Shaken, worst: Breaking, n_needed: int | None) -> Study:
    """Every question asked plainly, and with each level of the worst case, alone and together."""
    cell, coolest = worst.cell, min(study.temperatures)
    [choice] = study.datasets
    fresh = DatasetChoice(name=choice.name, settings={"path": QUESTIONS}, limit=n_needed)
    is_noisy = cell.temperature is not None or bool(shaken.noise is not None and shaken.noise.value)
    return replace(
        study,
        name=f"{study.name}-confirm",
        datasets=(fresh,),
        variations=(ORIGINAL, *([cell.variation] if cell.variation is not None else [])),
        perturbations=(UNCHANGED, *([cell.perturbation] if cell.perturbation is not None else [])),
        temperatures=(coolest, *([cell.temperature] if cell.temperature is not None else [])),
        repeats=NOISY_REPEATS if is_noisy else 2 if shaken.metric == AGREEMENT else 1,
        shake=None,
        limits=Limits(),
    )


def _write_fresh(source: Path, to: Path, asked: Collection[str]) -> None:
    """The rows of a table whose questions were not asked, as they stand there."""
    loaded = catalog.find("dataset", "csv")(path=str(source)).questions
    with source.open(encoding="utf-8-sig", newline="") as table, to.open("w", encoding="utf-8", newline="") as fresh:
        rows = (row for row in csv.reader(table) if row)
        writer = csv.writer(fresh)
        writer.writerow(next(rows))
        writer.writerows(row for row, question in zip(rows, loaded, strict=True) if question.id not in asked)
