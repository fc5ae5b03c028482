"""Verdicts of people on machine-made wordings → how many each accepts, and how far two of them agree."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.annotation.tasks import person
from shaketable.statistics.agreement import agreement_of, share_of
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Acceptance:
    reviewer: str
    variation: str | None
    """None: all variations together."""
    share: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewerAgreement:
    reviewers: tuple[str, str]
    share: Estimate
    """Of the wordings both judged, those with the same verdict."""
    kappa: Estimate
    kappa_reason: str | None
    """Why kappa or its interval is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    """What people's verdicts come to."""

    accepted: tuple[Acceptance, ...]
    agreements: tuple[ReviewerAgreement, ...]
    """One for each two people who judged a wording both."""
    left_out: tuple[str, ...]
    """Verdicts that do not count, and why."""


def measure_agreement(
    rows: Sequence[Mapping[str, Any]], *, confidence: float = 0.95, n_resamples: int = 2000
) -> Verdicts:
    """Rows as a file of reviews has them. The intervals resample questions, since wordings of one are alike."""
    verdicts: dict[str, dict[str, bool]] = {}
    of_task: dict[str, tuple[str, str]] = {}
    names: dict[str, str] = {}
    left_out = []
    for row in rows:
        who = person(row["annotator"])
        names.setdefault(who, row["annotator"])
        of_task[row["id"]] = (row["question_id"], row["variation"])
        own = verdicts.setdefault(who, {})
        if row["id"] in own:
            left_out.append(f"A second verdict by {row['annotator']} on '{row['wording']}'.")
        own.setdefault(row["id"], row["accepted"])

    def questions_of(tasks: Sequence[str]) -> list[str]:
        return [of_task[task][0] for task in tasks]

    accepted = []
    for who, own in verdicts.items():
        for variation in (None, *sorted({of_task[task][1] for task in own})):
            tasks = [task for task in own if variation in (None, of_task[task][1])]
            yes = [own[task] for task in tasks]
            share = share_of(questions_of(tasks), yes, confidence=confidence, n_resamples=n_resamples)
            accepted.append(Acceptance(reviewer=names[who], variation=variation, share=share))
    agreements = []
    for first, second in itertools.combinations(verdicts, 2):
        both = [task for task in verdicts[first] if task in verdicts[second]]
        if both:
            given = ([verdicts[who][task] for task in both] for who in (first, second))
            agreement = agreement_of(questions_of(both), *given, confidence=confidence, n_resamples=n_resamples)
            agreements.append(
                ReviewerAgreement(
                    reviewers=(names[first], names[second]),
                    share=agreement.share,
                    kappa=agreement.kappa,
                    kappa_reason=agreement.kappa_reason,
                )
            )
    return Verdicts(accepted=tuple(accepted), agreements=tuple(agreements), left_out=tuple(left_out))
