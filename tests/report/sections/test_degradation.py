from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import DROPS, made_study, pair
from score_rows import score_rows

from shaketable.analyses.evidence.degradation import degradation
from shaketable.report.section import Section
from shaketable.report.sections.degradation import section
from shaketable.types import NotApplied

LOSSES = (*DROPS, *(drop + 0.001 for drop in DROPS))
GAINS = tuple(-drop for drop in LOSSES)
NOTHING = tuple((-1) ** i * drop for i, drop in enumerate(LOSSES))


def told(*rows: pl.DataFrame, not_applied: tuple[NotApplied, ...] = ()) -> Section:
    tables = few_tables(pl.concat(rows), not_applied=not_applied)
    result = degradation(tables)
    return section(result, made_page(tables, result))


def test_losses_and_gains_are_told_with_their_temperatures() -> None:
    (headline,) = told(
        pair(LOSSES, temperature=0.0), pair(NOTHING, temperature=0.5), pair(GAINS, temperature=1.0)
    ).headlines
    assert headline.sentence == (
        "Sentence removal lowers the bertscore of smollm2 at temperature 0 and raises the bertscore of smollm2 at "
        "temperature 1; elsewhere none is shown."
    )
    assert headline.detail.startswith("The largest difference is a loss of 0.00860 [")
    assert headline.detail.endswith("at temperature 0 (n = 20 questions).")
    assert (headline.number, headline.is_clear, len(headline.claims)) == ("0.00860", True, 3)
    assert [point.temperature for point in headline.spark] == [0.0, 0.5, 1.0]


def test_losses_everywhere_and_nowhere_are_told_apart() -> None:
    costs = {"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}
    sentences = told(made_study(costs=costs, temperatures=(0.0, 1.0))).sentences
    assert any(
        text.startswith("Harmful lowers the bertscore of smollm2 at every temperature tried.") for text in sentences
    )
    assert any(
        text.startswith("Harmless: an effect on the bertscore of smollm2 is not shown at any temperature.")
        and "or more would likely have been seen" in text
        for text in sentences
    )


def test_failures_that_may_be_the_wrong_answers_leave_a_gain_unsettled() -> None:
    half = {f"q{i:02}": (1.0, 0.0) for i in range(20)}
    failing = {f"q{i:02}": (1.0, None) for i in range(20)}
    (headline,) = told(
        score_rows(half, metric="contains"), score_rows(failing, metric="contains", perturbation="typos")
    ).headlines
    assert headline.sentence == "Typos: an effect on the correctness of smollm2 is not shown at temperature 0."
    assert headline.detail.endswith(
        "so many answers failed that what they would have been decides whether there is a difference. Many answers "
        "failed: had those of one side all been wrong and those of the other all right, or the reverse, it would lie "
        "between a gain of 50 points and a difference of 0 points."
    )
    assert not headline.is_clear


def test_a_single_temperature_is_named() -> None:
    (shown,) = told(pair(LOSSES)).sentences
    assert shown.startswith(
        "Sentence removal lowers the bertscore of smollm2 at temperature 0. The difference is a loss of 0.00860 ["
    )
    (not_shown,) = told(pair(NOTHING)).sentences
    assert "an effect on the bertscore of smollm2 is not shown at temperature 0." in not_shown


def test_cells_hold_the_verdict_the_difference_and_p_and_the_last_the_line() -> None:
    (matrix,) = told(pair(LOSSES, temperature=0.0), pair(NOTHING, temperature=1.0)).matrices
    assert matrix.columns == ("0", "1", "At all of them?")
    ((system, ((name, (cool, hot, everywhere)),)),) = matrix.groups
    assert (system, name) == ("smollm2, bertscore", "sentence removal")
    assert (cool.look, cool.mark, cool.lines[0], cool.lines[-1]) == ("bad", "▼ worse", "loss 0.009", "p < 0.001")
    assert (hot.look, hot.mark) == ("quiet", "○ not shown")
    assert (everywhere.mark, everywhere.lines) == ("○ not shown", ("1 of 2",))


def test_types_of_question_are_explored_without_a_verdict_folded_away() -> None:
    pooled, by_type = told(made_study(temperatures=(0.0, 1.0), n_questions=8)).matrices
    assert (pooled.is_folded, by_type.is_folded, by_type.title) == (False, True, "By type of question")
    assert [name for name, _ in by_type.groups] == ["smollm2 · bridge, bertscore", "smollm2 · comparison, bertscore"]
    assert {cell.mark for _, lines in by_type.groups for _, cells in lines for cell in cells[:-1]} == {""}


def test_of_a_system_that_temperature_did_not_reach_nothing_is_claimed() -> None:
    flat = NotApplied(model="smollm2", method="single_retrieval", reason="it says so")
    assert not told(pair(LOSSES), not_applied=(flat,)).headlines[0].is_clear


def test_what_has_no_score_is_said_to_be_left_out() -> None:
    disturbed = score_rows({"q1": (0.8,), "q2": (None,)}, perturbation="noise")
    caveats = told(score_rows({"q1": (0.9,), "q2": (0.9,)}), disturbed).caveats
    assert caveats[0].startswith("Differences are tested by flipping the signs of questions at random")
    assert caveats[-1] == "Records without a score are left out and counted; they are never zeros."
