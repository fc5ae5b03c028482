"""Results of public analyses → the estimates that they make of each study, in the order of the studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.evidence.amplification import Amplification
from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.evidence.degradation import Degradation
from shaketable.analyses.evidence.dominance import Dominance
from shaketable.analyses.evidence.equivalence import Equivalence
from shaketable.analyses.evidence.variability import Variability
from shaketable.analyses.facts.breaking import BreakingTemperatures
from shaketable.analyses.together.context_reliance import ContextReliance
from shaketable.analyses.together.variance_shares import VarianceShares
from shaketable.analyses.wording.search_decisions import SearchDecisions
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.statistics.variance_split import Kind
from shaketable.types import Estimate

Estimates = list[Estimate]


def levels(result: Correctness) -> Estimates:
    return [own.mean for own in result.levels if own.cell.group is None]


def evidence_drops(result: Correctness) -> Estimates:
    return [own.drop for own in result.evidence_drops if own.cell.group is None]


def losses(result: Degradation) -> Estimates:
    return [own.drop for own in result.losses]


def differences(result: Equivalence) -> Estimates:
    return [own.difference for own in result.tests]


def slopes(result: Amplification) -> Estimates:
    return [own.slope for own in result.slopes]


def hot_ratios(result: Amplification) -> Estimates:
    """Of the hottest temperature."""
    hottest = max(own.cell.temperature or 0.0 for own in result.ratios)
    return [own.ratio for own in result.ratios if own.cell.temperature == hottest]


def cvs(result: Variability) -> Estimates:
    """Of the coolest temperature."""
    coolest = min(own.cell.temperature or 0.0 for own in result.spreads)
    return [own.cv for own in result.spreads if own.cell.group is None and own.cell.temperature == coolest]


def baselines(result: Variability) -> Estimates:
    """One for each system, though every line tells it."""
    coolest = min(own.cell.temperature or 0.0 for own in result.spreads)
    lines = (own for own in result.spreads if own.cell.group is None and own.cell.temperature == coolest)
    return [own.baseline for own in lines if own.baseline is not None]


def type_contrasts(result: Variability) -> Estimates:
    """Of all temperatures together."""
    return [own.difference for own in result.contrasts if own.cell.temperature is None]


def effects_of_heat(result: Dominance) -> Estimates:
    return [own.temperature for own in result.weighings if own.outcome == "mean"]


def variance_shares_of(result: VarianceShares, *, kind: Kind, settings: tuple[str, ...] = ()) -> Estimates:
    return [own.share for own in result.shares if own.kind == kind and not own.is_piece and own.settings == settings]


def taus(result: BreakingTemperatures) -> Estimates:
    return [own.tau for own in result.correlations]


def excesses(result: SearchDecisions) -> Estimates:
    return [own.estimate for own in result.numbers if own.metric == "excess_any"]


def reliances(result: ContextReliance) -> Estimates:
    return [own.reliance for own in result.reliances]


def all_losses(result: WordingAccuracy, *, costs: Sequence[float]) -> Estimates:
    """Of each study what its simultaneous intervals leave of 0, when the true costs are taken off them."""
    among = [own.among for own in result.numbers if own.is_loss and own.among is not None]
    joint = []
    for own in (among[i : i + len(costs)] for i in range(0, len(among), len(costs))):
        off = [(one.low - cost, one.high - cost) for one, cost in zip(own, costs, strict=True)]
        joint.append(replace(own[0], low=max(low for low, _ in off), high=min(high for _, high in off)))
    return joint
