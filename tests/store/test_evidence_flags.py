"""Flags of evidence are counted whenever a record searched, not with its first step alone."""

from __future__ import annotations

from pathlib import Path

from made_studies import row, study_of, write_rows

from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import Run
from shaketable.store.evidence_flags import FlagCount
from shaketable.types import Generate, Search

LOOKS = "scripted(replies=('I look. <|begin_search_query|>book<|end_search_query|>',))"


def test_a_method_that_generates_before_it_searches_has_its_flags_counted(tmp_path: Path) -> None:
    # Half of one supporting sentence, rounded down, is none: nothing is removed.
    rows = [row(n, facts=[[f"Book {n}", 0]]) for n in range(2)]
    study = study_of(
        write_rows(tmp_path / "q.jsonl", rows),
        models=[LOOKS],
        methods=["search_o1(max_turns=2, reason_in_documents=False)"],
        perturbations=["unchanged", "sentence_removal(mode='last_half')"],
        temperatures=[0.0],
        repeats=1,
        generation={"max_tokens": 64},
    )
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    for record in run.store.records():
        kinds = [type(event.step) for event in record.trace]
        assert kinds.index(Generate) < kinds.index(Search)
    assert run.flags() == tuple(
        FlagCount(perturbation="sentence_removal(mode='last_half')", flag=flag, n=2)
        for flag in ("nothing_changed", "too_few_sentences")
    )
