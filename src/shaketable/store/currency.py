"""Whether scores and findings are those that the run would give now: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable import __version__, catalog
from shaketable.identity import digest
from shaketable.store.score_file import ScoreSource
from shaketable.types import Gate, Study


def scores_source(content: str, study: Study, metrics: Sequence[str] | None) -> str:
    """Of what these metrics (None: the study's) would score: the content of the run, references, and themselves."""
    spelled = [catalog.spelled(catalog.build("metric", text)) for text in metrics or study.metrics]
    return digest([content, study.reference, study.reference_prompt, spelled])


def findings_source(content: str, scores: ScoreSource, study: Study, analyses: Sequence[str] | None) -> str:
    """Of what these analyses (None: the study's) would read, and of the program that reads it."""
    asked = list(analyses or study.analyses)
    read = replace(study, gate=Gate())  # No analysis reads it.
    return digest([content, scores.made_from, scores.asked, asked, read, __version__])


def report_source(content: str, meta: Mapping[str, str], seals: Mapping[str, Sequence[str]], band: str) -> str:
    """Of what a report would read: the run's content, what is noted of it, the files beside it, and the program.

    `seals` are the digests of those files: the study and what it was before, scores, findings and explanations.
    """
    read = {name: seal for name, seal in seals.items() if name not in ("report.html", "headlines.json")}
    return digest([content, dict(meta), read, band, __version__])
