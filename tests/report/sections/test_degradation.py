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

GAINS = tuple(-drop for drop in DROPS)


def told(*rows: pl.DataFrame, not_applied: tuple[NotApplied, ...] = ()) -> Section:
    tables = few_tables(pl.concat(rows), not_applied=not_applied)
    return section(degradation(tables), made_page(tables))


def test_a_loss_at_some_temperatures_is_told_with_their_number() -> None:
    (headline,) = told(pair(DROPS, temperature=0.0), pair(GAINS, temperature=1.0)).headlines
    assert headline.sentence == (
        "Sentence removal lowers the bertscore of smollm2 at 1 of 2 temperatures; at the others no loss was shown."
    )
    assert headline.detail.startswith("The largest shift is 0.00850 [")
    assert headline.detail.endswith("at temperature 0 (n = 10 questions).")
    assert (headline.number, headline.is_clear) == ("0.00850", True)
    assert [point.temperature for point in headline.spark] == [0.0, 1.0]


def test_losses_everywhere_and_nowhere_are_told_apart() -> None:
    costs = {"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}
    sentences = told(made_study(costs=costs, temperatures=(0.0, 1.0))).sentences
    assert any(
        text.startswith("Harmful lowers the bertscore of smollm2 at every temperature tried (2).") for text in sentences
    )
    assert any(
        text.startswith("Harmless: no loss of bertscore was shown for smollm2 at any temperature.")
        for text in sentences
    )


def test_a_single_temperature_is_named() -> None:
    (shown,) = told(pair(DROPS)).sentences
    assert shown.startswith("Sentence removal lowers the bertscore of smollm2 at temperature 0. Shift 0.00850 [")
    (not_shown,) = told(pair(GAINS)).sentences
    assert "no loss of bertscore was shown for smollm2 at temperature 0." in not_shown


def test_cells_hold_the_verdict_the_shift_and_p_and_the_last_the_line() -> None:
    (matrix,) = told(pair(DROPS, temperature=0.0), pair(GAINS, temperature=1.0)).matrices
    assert matrix.columns == ("0", "1", "At all of them?")
    ((system, ((name, (cool, hot, everywhere)),)),) = matrix.groups
    assert (system, name) == ("smollm2, bertscore", "sentence removal")
    assert (cool.look, cool.mark, cool.lines[0], cool.lines[-1]) == ("bad", "▼ worse", "0.009", "p = 0.0098")
    assert (hot.look, hot.mark) == ("quiet", "○ not shown")
    assert (everywhere.mark, everywhere.lines) == ("○ not shown", ("1 of 2",))


def test_types_of_question_have_a_matrix_of_their_own_folded_away() -> None:
    pooled, by_type = told(made_study(temperatures=(0.0, 1.0), n_questions=8)).matrices
    assert (pooled.is_folded, by_type.is_folded, by_type.title) == (False, True, "By type of question")
    assert [name for name, _ in by_type.groups] == ["smollm2 · bridge, bertscore", "smollm2 · comparison, bertscore"]


def test_of_a_system_that_temperature_did_not_reach_nothing_is_claimed() -> None:
    flat = NotApplied(model="smollm2", method="single_retrieval", reason="it says so")
    assert not told(pair(DROPS), not_applied=(flat,)).headlines[0].is_clear


def test_what_has_no_score_is_said_to_be_left_out() -> None:
    disturbed = score_rows({"q1": (0.8,), "q2": (None,)}, perturbation="noise")
    caveats = told(score_rows({"q1": (0.9,), "q2": (0.9,)}), disturbed).caveats
    assert caveats[0].startswith("Tests are one-sided Wilcoxon signed-rank tests, adjusted by Holm over temperatures")
    assert caveats[-1] == "Records without a score are left out and counted; they are never zeros."
