from __future__ import annotations

import polars as pl
from made_page import made_page
from score_rows import score_rows, ten, twenty

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.tables import Tables
from shaketable.report.section import Section
from shaketable.report.sections.correctness import section


def told(*tables: pl.DataFrame) -> Section:
    asked = Tables(scores=pl.concat(tables))
    result = correctness(asked)
    return section(result, made_page(asked, result))


def texts(*tables: pl.DataFrame) -> list[str]:
    return [headline.text for headline in told(*tables).headlines]


def test_sentences_give_shares_in_percent_and_drops_in_points() -> None:
    heat, evidence = texts(
        score_rows(twenty(16), metric="contains"),
        score_rows(twenty(4), metric="contains", temperature=1.5),
        score_rows(twenty(2), metric="contains", perturbation="sentence_removal"),
        score_rows(twenty(2), metric="contains", perturbation="sentence_removal", temperature=1.5),
    )
    assert heat.startswith("Raising the temperature from 0 to 1.5 costs smollm2 60 points of correctness [")
    assert "smollm2 with unchanged evidence is correct in 80 % [" in heat
    assert heat.endswith("(n = 20 questions).")
    assert evidence.startswith("Sentence removal costs smollm2 70 points of correctness [")
    assert "At temperature 1.5 a difference is not shown (a loss of 10 points [" in evidence


def test_a_card_has_the_number_its_interval_and_the_line_behind_it() -> None:
    heat, evidence = told(
        score_rows(twenty(16), metric="contains"),
        score_rows(twenty(4), metric="contains", temperature=1.5),
        score_rows(twenty(2), metric="contains", perturbation="sentence_removal"),
        score_rows(twenty(2), metric="contains", perturbation="sentence_removal", temperature=1.5),
    ).headlines
    assert (heat.number, heat.is_clear, heat.spark_title) == ("60 points", True, "Correct answers by temperature")
    assert [(point.temperature, point.value) for point in heat.spark] == [(0.0, 0.8), (1.5, 0.2)]
    assert (evidence.number, evidence.spark_title) == ("70 points", "Loss by temperature")
    assert [(point.temperature, round(point.value, 9)) for point in evidence.spark] == [(0.0, 0.7), (1.5, 0.1)]
    assert evidence.spark[0].is_difference


def test_an_interval_that_holds_zero_is_no_found_difference() -> None:
    (evidence,) = (
        headline
        for headline in told(
            score_rows(ten(5), metric="contains"), score_rows(ten(4), metric="contains", perturbation="noise")
        ).headlines
        if headline.kind == "evidence"
    )
    assert evidence.text.startswith(
        "Noise: an effect on the correctness of smollm2 is not shown at temperature 0 (a loss of 10 points ["
    )
    assert "or more would likely have been seen, one as small as this with about " in evidence.text
    assert not evidence.is_clear


def test_few_questions_claim_nothing_however_much_they_agree() -> None:
    """One question that loses everything, and two, are told alike."""
    for n in (1, 2, 7):
        right, wrong = ({f"q{i}": (value,) for i in range(n)} for value in (1.0, 0.0))
        (evidence,) = (
            headline
            for headline in told(
                score_rows(right, metric="contains"), score_rows(wrong, metric="contains", perturbation="noise")
            ).headlines
            if headline.kind == "evidence"
        )
        assert evidence.sentence == (
            f"Noise: an effect on the correctness of smollm2 is not shown at temperature 0 ({n} "
            f"{'questions are' if n > 1 else 'question is'} too few to claim anything)."
        )
        assert not evidence.is_clear


def test_a_single_temperature_has_its_level_told() -> None:
    (level,) = texts(score_rows(ten(8), metric="contains"))
    assert level.startswith("smollm2 with unchanged evidence is correct in 80 % [")
    assert level.endswith("at temperature 0. Measured on 10 questions.")


def test_other_metrics_speak_in_neutral_words() -> None:
    scores = {f"q{i}": (0.8 + i / 100,) for i in range(10)}
    higher = {question: (value[0] + 0.1,) for question, value in scores.items()}
    sentence = texts(score_rows(scores), score_rows(higher, perturbation="entity_masking"))[0]
    assert sentence.startswith("Entity masking raises the bertscore of smollm2 by 0.100 [")


def test_what_stays_where_it_was_done_as_asked_is_told_beside_it() -> None:
    clean = score_rows(ten(10), metric="contains").with_columns(flags=pl.lit(None, dtype=pl.String))
    disturbed = score_rows(ten(4), metric="contains", perturbation="masking").with_columns(
        flags=pl.when(pl.col("question_id") == "q0").then(pl.lit("fallback"))
    )
    page = told(clean, disturbed)
    (evidence,) = (headline for headline in page.headlines if headline.kind == "evidence")
    assert evidence.sentence.startswith("Masking costs smollm2 60 points of correctness [")
    assert " Where it was done as asked it is a loss of 67 points [" in evidence.detail
    assert evidence.detail.endswith("(n = 9 questions).")
    assert any(caveat.startswith("'As asked' leaves out questions") for caveat in page.caveats)


def test_methods_that_differ_are_named_apart() -> None:
    closed = score_rows(ten(1), metric="contains", method="closed_book", retriever=None, perturbation=None)
    systems = {headline.system for headline in told(score_rows(ten(9), metric="contains"), closed).headlines}
    assert systems == {"smollm2 · single_retrieval", "smollm2 · closed_book"}


def test_agreement_of_all_questions_is_said_to_be_no_certainty() -> None:
    assert any("exact binomial" in caveat for caveat in told(score_rows(ten(10), metric="contains")).caveats)


def test_without_any_value_nothing_is_said() -> None:
    assert texts(score_rows({"q1": (None,), "q2": (None,)})) == []
