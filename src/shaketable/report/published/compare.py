"""A run and a published study → the study's claims, each with a verdict."""

from __future__ import annotations

from shaketable.analyses.score_reading import conditions_in
from shaketable.errors import StudyError, did_you_mean
from shaketable.factors import Labels, given_names
from shaketable.report.published import context_temperature, factual_robustness, query_variation
from shaketable.report.published.comparison import Comparison, Own
from shaketable.store import Run

STUDIES = {
    "context_temperature": context_temperature,
    "factual_robustness": factual_robustness,
    "query_variation": query_variation,
}


def compare_published(run: Run, study: str | None = None) -> dict[str, list[Comparison]]:
    """For each study (None: every one that the run has something to say about) its claims beside the run."""
    if study is not None and study not in STUDIES:
        raise StudyError(
            f"No published study '{study}'.{did_you_mean(study, STUDIES)} Published studies: {', '.join(STUDIES)}."
        )
    labels = Labels.of(conditions_in(run.score_tables()), given_names(run.study))
    own = Own(study=run.study, findings=run.findings(), labels=labels)
    compared = {
        name: [comparison for claim in published.CLAIMS for comparison in claim(own) if study or comparison.own]
        for name, published in STUDIES.items()
        if name == study or (study is None and published.is_spoken_of(own))
    }
    return {name: comparisons for name, comparisons in compared.items() if comparisons}
