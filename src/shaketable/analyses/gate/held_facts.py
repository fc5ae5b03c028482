"""The numbers behind thresholds on facts: where they break, and the Factual Robustness Score."""

from __future__ import annotations

from shaketable.analyses.facts.breaking_rule import HOTTEST, BreakingRule
from shaketable.analyses.facts.facts import Fact, Facts, ids, numbers, pool_datasets
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.gate.quantities import Quantity, Threshold
from shaketable.analyses.tables import Tables
from shaketable.errors import StudyError
from shaketable.factors import ORIGINAL

LEAST_REPEATS = 2
"""One answer at a temperature tells whether that answer is wrong, not whether the fact is broken."""


def breaking_temperatures(tables: Tables, *, has_scan: bool) -> list[Quantity]:
    """Up to where known facts hold, with undisturbed evidence in the original wording.

    A fact breaks somewhere between the last temperature at which it holds and the next that was tried. The former
    counts, and the hottest of all where it never breaks: the mean is a lower bound of the breaking temperature.
    """
    every, rule = _held(tables, "min_breaking_temperature", has_scan=has_scan)
    return [
        Quantity(
            threshold="min_breaking_temperature",
            metric="breaking_temperature",
            unit="temperature",
            cells=(facts.cell,),
            question_ids=tuple(ids(facts.known)),
            values=numbers(_holds_up_to(fact, rule) for fact in facts.known)[None],
            scale=max((fact.hottest or HOTTEST for fact in facts.known), default=HOTTEST),
        )
        for facts in every
    ]


def robustness_scores(tables: Tables, *, has_scan: bool) -> list[Quantity]:
    """The Factual Robustness Score of known facts, as published (d = 1)."""
    every, rule = _held(tables, "min_frs", has_scan=has_scan)
    if not any(fact.entropy is not None for facts in every for fact in facts.known):
        raise StudyError(
            "gate.min_frs: no answer at temperature 0 has an entropy, which the score is made from. Add 'entropy' to "
            "score.metrics and top_logprobs = true to [generation], with a model that gives them."
        )
    return [
        Quantity(
            threshold="min_frs",
            metric="frs",
            unit="score",
            cells=(facts.cell,),
            question_ids=tuple(ids(facts.known)),
            values=numbers(rule.score(fact, 1) for fact in facts.known)[None],
        )
        for facts in every
    ]


def _held(tables: Tables, threshold: Threshold, *, has_scan: bool) -> tuple[list[Facts], BreakingRule]:
    """Systems with undisturbed evidence and the original wording, all datasets together, and the rule of breaking."""
    judge = tables.judging_metric()
    if judge is None:
        raise StudyError(
            f"gate.{threshold}: no metric of this run tells right answers from wrong ones. Add contains to "
            "score.metrics."
        )
    reading = BY_SCAN if has_scan else Reading(known=judge, correct=judge)
    every, rule = reading.read(tables)
    clean = [facts for facts in every if facts.cell.is_undisturbed and facts.cell.variation == ORIGINAL]
    if not any(fact.tried or fact.curve is not None for facts in clean for fact in facts.asked):
        raise StudyError(
            f"gate.{threshold}: nothing was asked above temperature 0. Add temperatures to [cross], such as "
            "temperatures = { from = 0.0, to = 2.0, step = 0.2 }."
        )
    is_once = tables.repeats is not None and tables.repeats < LEAST_REPEATS  # Those that end of themselves are two.
    if is_once and not any(fact.curve is not None for facts in clean for fact in facts.asked):
        raise StudyError(
            f"gate.{threshold}: each fact has one answer at a temperature, which does not tell whether it is broken. "
            "Add repeats = 10 to [cross]."
        )
    if not any(facts.known for facts in clean):
        raise StudyError(
            f"gate.{threshold}: no fact is right at temperature 0, so none can break. The lowest of cross.temperatures "
            "must be 0."
        )
    return pool_datasets(clean), rule


def _holds_up_to(fact: Fact, rule: BreakingRule) -> float | None:
    """None: it is not known."""
    if not rule.is_decided(fact):
        return None
    breaks_at = rule.capped(fact)
    if breaks_at is None:
        return fact.hottest or HOTTEST
    return max((t for t in fact.tried if t < breaks_at), default=0.0) if fact.tried else breaks_at
