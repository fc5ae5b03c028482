"""What datasets and analyses promise: plain functions, same values in, same values out."""

from __future__ import annotations

import inspect
import json

import polars as pl
import pytest
from few_resamples import few_tables
from made_facts import made_facts
from made_page import made_page

from shaketable import catalog
from shaketable.errors import DataError
from shaketable.identity import canonical
from shaketable.report.page import make_section
from shaketable.store.findings_file import tidy_rows
from shaketable.types import Finding, Findings, Json, Loaded

HOTPOT_ROW = {
    "_id": "h1",
    "question": "Which was founded first, Alpha or Beta?",
    "answer": "Beta",
    "type": "comparison",
    "level": "easy",
    "supporting_facts": [["Alpha", 0], ["Beta", 0]],
    "context": [["Alpha", ["Alpha began in 1990. ", "It is red."]], ["Beta", ["Beta began in 1985."]]],
}
PARAGRAPHS = [
    {"idx": 0, "title": "Alpha", "paragraph_text": "Alpha began in 1990.", "is_supporting": False},
    {"idx": 1, "title": "Beta", "paragraph_text": "Beta began in 1985.", "is_supporting": True},
]
FILES = {
    "table": "question,answer,context\nWho wrote Emma?,Jane Austen,She wrote Emma.\n",
    "2wikimultihopqa": json.dumps([HOTPOT_ROW]),
    "adaptive_rag": json.dumps({"qid": "a", "question_text": "Who?", "reference": ["Beta"], "context": PARAGRAPHS}),
    "hotpotqa": json.dumps([HOTPOT_ROW]),
    "csv": "question,answer\nWhat is the capital of Australia?,Canberra\n",
    "jsonl": json.dumps({"question": "What is the capital of Australia?", "answers": ["Canberra"]}) + "\n",
    "musique": json.dumps({"id": "2hop__1_2", "question": "Who?", "answer": "Beta", "paragraphs": PARAGRAPHS}),
    "nq_open": json.dumps({"question": "who was first", "answer": ["Beta"]}),
    "squad": json.dumps(
        {"id": "s", "context": "Alpha was late. Beta began.", "question": "Who?", "answers": [{"text": "Beta"}]}
    ),
    "triviaqa": json.dumps({"question_id": "t", "question": "Who?", "answer": {"value": "Beta", "aliases": ["B"]}}),
}
"""The smallest file of each dataset that reads one; the others ship their data."""


@pytest.fixture
def load(tmp_path):
    def loaded(name):
        if name not in FILES:
            return catalog.find("dataset", name)()
        path = tmp_path / f"{name}.json"
        path.write_text(FILES[name], "utf-8")
        return catalog.find("dataset", name)(path=str(path))

    return loaded


each_dataset = pytest.mark.parametrize("name", catalog.known("dataset"))
ABOUT_FACTS = {
    "breaking",
    "certainty_bins",
    "fact_accuracy",
    "factual_robustness",
    "latent_facts",
    "predict_breaking",
    "question_types",
    "robustness_with_evidence",
    "weakest_facts",
}
"""Analyses that need known facts and their scores."""

each_analysis = pytest.mark.parametrize("name", catalog.known("analysis"))


# --- datasets -------------------------------------------------------------------------------------


@each_dataset
def test_a_dataset_gives_the_same_questions_each_time(load, name):
    first, second = load(name), load(name)
    assert isinstance(first, Loaded)
    assert first.questions
    assert canonical(first) == canonical(second)


@each_dataset
def test_every_question_is_whole(load, name):
    loaded = load(name)
    ids = [question.id for question in loaded.questions]
    assert len(set(ids)) == len(ids)
    for question in loaded.questions:
        assert question.dataset == name
        assert question.text == question.text.strip() != ""
        assert question.answers or question.tags.get("unanswerable")
        assert question.tags["n_facts"] == len(question.supporting)
        homes = {sentence.id: document for document in question.documents for sentence in document.sentences}
        assert {homes[id].title for id in question.supporting} == set(question.gold_titles)


@each_dataset
def test_a_dataset_says_which_file_it_misses(name):
    with pytest.raises(DataError, match=r"no-such-file|has no path"):
        catalog.find("dataset", name)(path="no-such-file.jsonl")
    assert "path" in inspect.signature(catalog.find("dataset", name)).parameters


# --- analyses -------------------------------------------------------------------------------------


def score_table() -> pl.DataFrame:
    """Two questions, two kinds of evidence, two temperatures, three repeats; one failed trial."""
    rows = [
        {
            "key": f"{question}/{perturbation}/{temperature}/{repeat}",
            "question_id": question,
            "dataset": "builtin",
            "type": "bridge" if question < "q3" else "comparison",
            "n_facts": 2,
            "model": "smollm2",
            "method": "single_retrieval",
            "retriever": "gold",
            "perturbation": perturbation,
            "variation": "original",
            "temperature": temperature,
            "repeat": repeat,
            "metric": "contains",
            "value": None
            if (question, repeat, temperature) == ("q4", 2, 1.0)
            else float((len(perturbation) + i + repeat) % 2),
            "reason": "failed: timeout" if (question, repeat, temperature) == ("q4", 2, 1.0) else None,
        }
        for i, question in enumerate(("q1", "q2", "q3", "q4"))
        for perturbation in ("unchanged", "sentence_removal")
        for temperature in (0.0, 1.0)
        for repeat in range(3)
        for failed in [(question, temperature, repeat) == ("q4", 1.0, 2)]
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "reason": pl.String})


def table_for(name: str) -> pl.DataFrame:
    """What an analysis asks about: disturbed evidence, or known facts; either with a failed trial."""
    if name not in ABOUT_FACTS:
        return score_table()
    facts = made_facts(n=8, temperatures=(0.4, 1.0, 1.6), repeats=4)
    if name == "robustness_with_evidence":
        seen = facts.with_columns(
            retriever=pl.lit("gold"), perturbation=pl.lit("unchanged"), key="gold/" + pl.col("key")
        )
        facts = pl.concat([facts, seen])
    failed = pl.col("key") == "smollm2/builtin/q001/1.0/0"
    return facts.with_columns(
        value=pl.when(~failed).then("value"), reason=pl.when(failed).then(pl.lit("failed: timeout")).otherwise("reason")
    )


def ask(name: str, table: pl.DataFrame) -> Finding:
    return Finding(analysis=name, result=catalog.find("analysis", name)(few_tables(table)))


def rows_of(finding: Finding) -> list[dict[str, Json]]:
    return tidy_rows(Findings(findings=(finding,)))


def reason_of(finding: Finding) -> bool:
    """Whether a result without a number says why: some read records, searches or verdicts, which tables may lack."""
    return bool(getattr(finding.result, "reason", None)) or getattr(finding.result, "is_scored", None) is False


def estimates_of(finding: Finding) -> list[list[Json]]:
    rows = [row for row in rows_of(finding) if "how" in row]  # A margin has a value, too.
    return [[row.get(part) for part in ("value", "low", "high")] for row in rows]


@each_analysis
def test_an_analysis_finds_the_same_each_time(name):
    table = table_for(name)
    finding = ask(name, table)
    assert type(finding.result).__name__ in catalog.known("section")
    assert rows_of(finding) or reason_of(finding)
    assert canonical(ask(name, table)) == canonical(finding)
    assert table.equals(table_for(name))


@each_analysis
def test_the_order_of_the_scores_changes_nothing(name):
    shuffled = table_for(name).sample(fraction=1, shuffle=True, seed=3)
    assert canonical(ask(name, shuffled)) == canonical(ask(name, table_for(name)))


@each_analysis
def test_an_analysis_of_nothing_finds_nothing(name):
    assert rows_of(ask(name, table_for(name).clear())) == []
    all_failed = table_for(name).with_columns(value=pl.lit(None, dtype=pl.Float64), reason=pl.lit("failed: timeout"))
    finding = ask(name, all_failed)
    assert {value for value, *_ in estimates_of(finding)} <= {None}
    section = make_section(finding, made_page(few_tables(all_failed), finding.result))
    assert section is not None and not any(headline.is_clear for headline in section.headlines)


@each_analysis
def test_a_finding_is_plain_values_without_nan(name):
    json.dumps(json.loads(canonical(ask(name, table_for(name)))), allow_nan=False)


@each_analysis
def test_a_failed_trial_changes_no_number_by_being_listed(name):
    """Failures are left out, never averaged as zero."""
    without = table_for(name).filter(pl.col("value").is_not_null())
    assert estimates_of(ask(name, table_for(name))) == estimates_of(ask(name, without))
