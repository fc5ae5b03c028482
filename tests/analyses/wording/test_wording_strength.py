"""The strength of rewordings beside what they cost, on answers and wordings made up by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from made_wordings import only, reworded_variants, tables_of, trial

from shaketable.analyses.tables import Tables
from shaketable.analyses.wording import strengths
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.analyses.wording.wording_strength import NO_WORDINGS, WordingStrength, wording_strength
from shaketable.types import Strength, Variant

N = 20
WHOLE = Strength(terms_kept=1.0, edit_distance=0.0, loss=0.0, reading_ease=0.0, meaning=1.0)
KEPT = [1.0] * 10 + [0.5] * 10
"""Of the terms of each question, by spelling."""


def trials(**places: Any) -> list[dict[str, Any]]:
    """Spelling is wrong where half of the terms are gone; grammar never."""
    return [
        trial(f"q{i}", name, correct=float(name != "spelling" or i < 10), **places)
        for name in ("original", "spelling", "grammar")
        for i in range(N)
    ]


def wordings() -> list[Variant]:
    return [
        *reworded_variants("original", [None] * N),
        *reworded_variants("spelling", [replace(WHOLE, terms_kept=kept, loss=2 - kept) for kept in KEPT]),
        *reworded_variants("grammar", [WHOLE] * N),
    ]


def tables(variants: Sequence[Variant], asked: Sequence[dict[str, Any]] | None = None) -> Tables:
    return replace(tables_of(trials() if asked is None else asked), read_wordings=lambda: {"squad": variants})


def ask(variants: Sequence[Variant], asked: Sequence[dict[str, Any]] | None = None) -> WordingStrength:
    return wording_strength(tables(variants, asked))


def test_each_variation_has_the_mean_of_each_measure() -> None:
    result = ask(wordings())
    kept = only(result.means, variation="spelling", number="terms_kept").estimate
    assert (kept.value, kept.n, kept.unit) == (0.75, N, "share")
    assert kept.low < 0.75 < kept.high
    assert only(result.means, variation="spelling", number="loss").estimate.value == pytest.approx(1.25)
    assert only(result.means, variation="grammar", number="terms_kept").estimate.value == 1.0
    assert {mean.cell.variation for mean in result.means} == {"spelling", "grammar"}
    assert all(mean.cell.system is None for mean in result.means), "all systems saw the same wordings"


def test_the_loss_beside_it_is_that_of_wording_accuracy() -> None:
    result, accuracy = ask(wordings()), wording_accuracy(tables(wordings()))
    loss, same = (only(r.losses, variation="spelling") for r in (result, accuracy))
    assert (loss.estimate, loss.p) == (same.estimate, same.p)
    assert {claim.subject for claim in result.claims()} == {claim.subject for claim in accuracy.claims()}


def test_several_wordings_of_a_question_are_averaged_and_refused_ones_are_only_counted() -> None:
    spelled = reworded_variants("spelling", [replace(WHOLE, terms_kept=0.5), replace(WHOLE, terms_kept=1.0)])
    twice = replace(spelled[0], text="another", provenance={"strength": {"terms_kept": 1.0}})
    refused = [
        replace(spelled[1], text=str(i), rejected="no", provenance={"strength": {"terms_kept": 0.0}, "refusal": kind})
        for i, kind in enumerate(("names_lost", "empty", "names_lost"))
    ]
    result = ask([*spelled, twice, *refused])
    kept = only(result.means, variation="spelling", number="terms_kept").estimate
    assert (kept.value, kept.n) == (0.875, 2)  # (0.75 + 1) / 2
    (made,) = result.made
    assert (made.n_wordings, made.n_refused) == (6, 3)
    assert [(own.kind, own.n) for own in made.refusals] == [("names_lost", 2), ("empty", 1)]


def test_within_a_variation_stronger_wordings_may_lose_more() -> None:
    result = ask(wordings())
    kept = only(result.relations, variation="spelling", number="terms_kept")
    # Every question that keeps its terms is right, every other wrong: ranks agree fully, the other way round.
    assert kept.rho.value == pytest.approx(-1.0) and kept.p < 0.001
    assert only(result.relations, variation="spelling", number="loss").rho.value == pytest.approx(1.0)
    never = only(result.relations, variation="grammar", number="terms_kept")
    assert never.rho.value is None and never.rho.reason


def test_only_undisturbed_evidence_at_the_coolest_temperature_is_spoken_of() -> None:
    hot = trials(temperature=1.0)
    noisy = trials(perturbation="noise")
    result = ask(wordings(), [*trials(), *hot, *noisy])
    assert {(loss.cell.temperature, loss.cell.perturbation) for loss in result.losses} == {(0.0, "unchanged")}


def test_datasets_are_also_taken_together() -> None:
    both = [*trials(), *trials(dataset="nq")]
    given = replace(
        tables_of(both), read_wordings=lambda: {"squad": wordings(), "nq": wordings()[:N] + wordings()[-N:]}
    )
    result = wording_strength(given)
    pooled = only(result.means, variation="grammar", dataset=None, number="terms_kept").estimate
    assert (pooled.value, pooled.n) == (1.0, 2 * N)
    assert only(result.means, variation="spelling", dataset=None, number="terms_kept").estimate.n == N
    assert only(result.relations, variation="spelling", dataset=None, number="terms_kept").rho.n == N
    assert {loss.cell.dataset for loss in result.spoken_losses} == {None}


def test_an_older_run_is_not_measured_and_keeps_its_losses() -> None:
    old = [replace(variant, provenance={}) for variant in wordings()]
    result = ask(old)
    assert result.reason == strengths.NOT_MEASURED
    assert all(mean.estimate.value is None and mean.estimate.reason for mean in result.means)
    assert only(result.losses, variation="spelling").estimate.value == 0.5
    assert result.relations == ()


def test_what_weights_would_tell_is_missing_with_its_reason() -> None:
    light = Strength(terms_kept=1.0, edit_distance=0.0, reading_ease=0.0, reason="no weights")
    result = ask(reworded_variants("grammar", [light] * N))
    assert result.reason is None
    assert only(result.means, variation="grammar", number="loss").estimate.reason == "no weights"
    assert only(result.means, variation="grammar", number="terms_kept").estimate.value == 1.0


def test_a_variation_that_was_always_refused_says_so() -> None:
    refused = [replace(variant, rejected="no") for variant in reworded_variants("grammar", [WHOLE] * 3)]
    result = ask(refused)
    assert {mean.estimate.reason for mean in result.means} == {strengths.NONE_ASKED}
    assert [(own.kind, own.n) for own in result.made[0].refusals] == [(strengths.UNNAMED, 3)]


def test_without_wordings_the_result_says_why() -> None:
    assert wording_strength(tables_of(trials())).reason == NO_WORDINGS
