"""Scoring reads a run in batches, and reads no more of it than a metric needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
import pytest
from made_studies import small_study

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.metrics.judge import Judge
from shaketable.models.scripted import Scripted
from shaketable.stages import score as stage
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.text.encoder import encoder
from shaketable.types import Score

N_RECORDS = 12

seen: list[Any] = []


@dataclass(frozen=True, kw_only=True)
class Watching:
    version: ClassVar[int] = 1

    def score(self, records: Any, questions: Any) -> list[list[Score]]:
        seen.append(records)
        return [[Score(key=record.trial.key, metric="watching", value=1.0)] for record in records]


@dataclass(frozen=True, kw_only=True)
class Blind(Watching):
    reads_trace: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class Short(Watching):
    def score(self, records: Any, questions: Any) -> list[list[Score]]:
        return super().score(records, questions)[:-1]


@pytest.fixture
def run(tmp_path, monkeypatch):
    own = catalog.known
    fakes = {name: f"{__name__}:{name.capitalize()}" for name in ("watching", "blind", "short")}
    monkeypatch.setattr(catalog, "known", lambda kind: own(kind) | (fakes if kind == "metric" else {}))
    seen.clear()
    study = small_study(tmp_path)
    made = Run.prepare(tmp_path / "run", study)
    with made.writing() as store:
        answer(plan(study), store)
    return made


def test_batches_change_neither_numbers_nor_order(run, monkeypatch):
    assert score(run, ["token_f1", "contains"]) == 2 * N_RECORDS
    whole = run.scores()
    monkeypatch.setattr(stage, "RECORDS_AT_ONCE", 5)
    score(run, ["token_f1", "contains"])
    assert run.scores().equals(whole)
    score(run, ["watching"])
    assert [len(records) for records in seen] == [5, 5, 2]


def test_a_metric_that_reads_the_answer_alone_gets_no_trace(run):
    score(run, ["watching", "blind"])
    whole, bare = seen
    assert any(record.trace for record in whole)
    assert any(record.answer and record.answer.hits for record in whole)
    assert not any(record.trace or (record.answer and record.answer.hits) for record in bare)
    texts = [[record.answer and record.answer.text for record in records] for records in seen]
    assert texts[0] == texts[1]
    assert [record.failure for record in whole] == [record.failure for record in bare]


def test_a_metric_that_forgets_a_record_is_named(run):
    with pytest.raises(ShaketableError, match=r"^short returned 11 values for 12 records\. A metric returns one per"):
        score(run, ["short"])


def test_a_judge_is_asked_once_and_its_verdicts_are_kept_with_the_run(run, monkeypatch):
    asked, generate = [], Scripted.generate
    monkeypatch.setattr(Scripted, "generate", lambda self, prompts: asked.extend(prompts) or generate(self, prompts))
    judge = "judge(model=\"scripted(replies=('VERDICT: incorrect',))\")"
    score(run, [judge, "contains"])
    answers = {(record.trial.question_id, record.answer.text) for record in run.store.records() if record.answer}
    assert len(asked) == len(answers) > 1
    first = run.scores()
    assert first.filter(pl.col("metric") == "judge")["value"].drop_nulls().unique().to_list() == [0.0]
    score(Run(run.folder), [judge, "contains"])
    assert len(asked) == len(answers), "Nothing is asked twice."
    assert Run(run.folder).scores().equals(first)
    [effort] = Run(run.folder).verdicts()
    assert effort.judge == judge
    assert (effort.n_calls, effort.n_tokens, effort.n_unclear) == (len(answers), 2 * len(answers), 0)
    assert effort.n_prompt_tokens > 50 * len(answers)
    other = "judge(model=\"scripted(replies=('VERDICT: incorrect',))\", rubric='{question} {gold} {answer}')"
    score(run, [other])
    assert len(asked) == 2 * len(answers), "Another rubric is another judge."


def test_a_judge_s_calls_are_kept_as_they_are_made(run, monkeypatch):
    monkeypatch.setattr(Judge, "records_at_once", 5)
    generate, calls = Scripted.generate, []

    def once(self, prompts):
        if calls:
            raise KeyboardInterrupt
        calls.append(len(prompts))
        return generate(self, prompts)

    monkeypatch.setattr(Scripted, "generate", once)
    with pytest.raises(KeyboardInterrupt):
        score(run, ["judge(model=\"scripted(replies=('VERDICT: correct',))\")"])
    assert run.store.rows("SELECT COUNT(*) FROM verdicts") == [(calls[0],)]


@pytest.mark.weights
def test_a_text_is_read_once_for_all_records_and_baselines(run, monkeypatch):
    texts: list[str] = []
    reader = encoder("all-MiniLM-L6-v2")
    own = reader.token_states

    def counting(given: list[str], layer: int) -> Any:
        texts.extend(given)
        return own(given, layer)

    monkeypatch.setattr(reader, "token_states", counting)
    monkeypatch.setattr(stage, "RECORDS_AT_ONCE", 5)
    score(run, ["bertscore(device='cpu')"])
    assert len(run.baselines()) > 0
    answers = set(run.records()["answer"].drop_nulls())
    assert len(answers) < N_RECORDS, "Some answers are alike, so that there is something to save."
    assert answers <= set(texts)
    assert len(texts) == len(set(texts))


@pytest.mark.weights
def test_scores_of_a_run_do_not_depend_on_the_batches_it_is_read_in(run, monkeypatch):
    score(run, ["bertscore"])
    whole = run.scores()
    monkeypatch.setattr(stage, "RECORDS_AT_ONCE", 5)
    score(run, ["bertscore"])
    assert run.scores().equals(whole)
