"""The study behind a shake: what of the system is varied, by what it and the table can."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaketable import catalog
from shaketable.errors import PartError, StudyError
from shaketable.stages.shaking.study import EVIDENCE, IN_ANOTHER_ORDER, MOST_QUESTIONS, TEMPERATURES, prepare_shake
from shaketable.types import Limits, Study


def prepared(
    folder: Path, table: str, model: str = "scripted", name: str = "questions.csv", **settings: object
) -> Study:
    file = folder / name
    file.write_text(table, "utf-8")
    return prepare_shake(model, file, "mine", limits=Limits(max_calls=90), **settings).study


def test_a_model_without_evidence_is_asked_closed_book_at_several_temperatures(tmp_path):
    study = prepared(tmp_path, "question,answer\nWho?,Ann\n")
    assert (study.methods, study.perturbations) == (("closed_book",), ("unchanged",))
    assert study.temperatures == TEMPERATURES
    assert study.variations[0] == "original" and "spelling" in study.variations
    assert (study.metrics, study.analyses, study.repeats) == (("correct",), ("shaken",), 2)
    assert study.shake is not None and study.limits == Limits(max_calls=90)


def test_evidence_of_the_table_is_disturbed_and_moved_where_there_are_several_passages(tmp_path):
    single = prepared(tmp_path, "question,context\nWho?,Ann did.\n")
    assert single.perturbations == ("unchanged", *EVIDENCE)
    assert (single.methods, single.retrievers, single.metrics) == (
        ("single_retrieval",),
        ("distractor",),
        ("same_answer",),
    )
    several = prepared(tmp_path, 'question,context\nWho?,"Ann did.\n\nBob did not."\n')
    assert several.perturbations == ("unchanged", *EVIDENCE, IN_ANOTHER_ORDER)


def test_json_lines_are_read_too(tmp_path):
    study = prepared(tmp_path, '{"question": "Who?", "answers": ["Ann"]}\n', name="questions.jsonl")
    assert study.datasets[0].name == "jsonl" and study.metrics == ("correct",)


def test_a_table_with_tabs_is_read_too(tmp_path):
    study = prepared(tmp_path, "user_input\tground_truth\nWho?\tAnn\n", name="questions.tsv")
    assert study.datasets[0].name == "table" and study.metrics == ("correct",)


def test_a_large_table_is_drawn_from(tmp_path):
    table = "question\n" + "".join(f"Who is number {i}?\n" for i in range(MOST_QUESTIONS + 1))
    assert prepared(tmp_path, table).datasets[0].limit == MOST_QUESTIONS


def test_keys_of_the_study_can_be_set_but_not_the_budget(tmp_path):
    study = prepared(tmp_path, "question\nWho?\n", overrides=["generation.max_tokens=7", "limits.max_calls=1"])
    assert study.generation["max_tokens"] == 7 and study.limits.max_calls == 90
    with pytest.raises(StudyError, match="unknown key 'max_token'"):
        prepared(tmp_path, "question\nWho?\n", overrides=["generation.max_token=7"])


def test_another_budget_is_the_same_shake_and_another_table_is_not(tmp_path):
    file = tmp_path / "questions.csv"

    def key(table: str, n_calls: int, seed: int = 0) -> str:
        file.write_text(table, "utf-8")
        return prepare_shake("scripted", file, "mine", limits=Limits(max_calls=n_calls), seed=seed).key

    first = key("question\nWho?\n", 60)
    assert key("question\nWho?\n", 90) == first
    assert len({first, key("question\nWhen?\n", 60), key("question\nWho?\n", 60, seed=1)}) == 3


def test_a_template_with_a_context_needs_a_table_with_one(tmp_path):
    model = """pipeline(http='https://example.org/ask', template='{"q": "{question}", "c": "{context}"}')"""
    with pytest.raises(PartError, match=r"TARGET: .* takes a context, and questions\.csv has no column 'context'"):
        prepared(tmp_path, "question\nWho?\n", model)
    assert prepared(tmp_path, "question,context\nWho?,Ann.\n", model).temperatures == (0.0,)


def test_a_context_with_a_default_is_not_needed(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("def answer(question, context=None, temperature=0.0, seed=0):\n    return 'Ann'\n", "utf-8")
    file = tmp_path / "questions.csv"
    file.write_text("question,answer\nWho?,Ann\n", "utf-8")
    target = f"pipeline(python={f'{app}:answer'!r})"
    without = prepare_shake(target, file, "mine", limits=Limits(max_calls=90))
    assert without.study.perturbations == ("unchanged",) and without.study.temperatures == TEMPERATURES
    assert [left_out.part for left_out in without.left_out] == ["evidence"]
    [model] = without.study.models
    assert catalog.build("model", model).takes == {"temperature", "seed"}

    file.write_text("question,answer,context\nWho?,Ann,Ann did.\n", "utf-8")
    with_context = prepare_shake(target, file, "mine", limits=Limits(max_calls=90))
    assert with_context.study.models == (target,) and len(with_context.study.perturbations) > 1


def test_a_context_without_a_default_needs_the_column(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("def answer(question, context):\n    return 'Ann'\n", "utf-8")
    with pytest.raises(PartError, match=r"takes a context, and questions\.csv has no column 'context'"):
        prepared(tmp_path, "question\nWho?\n", f"pipeline(python={f'{app}:answer'!r})")


def test_rows_left_out_of_the_table_are_counted(tmp_path):
    file = tmp_path / "questions.csv"
    file.write_text("question;answer\nWho?;Ann\n;\n", "utf-8")
    prepared_shake = prepare_shake("scripted", file, "mine", limits=Limits(max_calls=90))
    assert (prepared_shake.n_questions, len(prepared_shake.rejected_rows)) == (1, 1)
