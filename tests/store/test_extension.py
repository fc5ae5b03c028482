"""Which studies a run can take in: the same, and more of it."""

from __future__ import annotations

import dataclasses

import pytest
from made_studies import small_study

from shaketable.errors import RunError
from shaketable.store import Run
from shaketable.store.extension import compare_studies
from shaketable.store.lock import hold_lock
from shaketable.study import load_study
from shaketable.types import Scan, Shake, Study

SCAN = Scan()


def with_dataset(study: Study, **changes: object) -> Study:
    [choice] = study.datasets
    return dataclasses.replace(study, datasets=(dataclasses.replace(choice, **changes),))


def added(study: Study, **more: tuple[object, ...]) -> Study:
    return dataclasses.replace(study, **{name: (*getattr(study, name), *values) for name, values in more.items()})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"repeats": 3}, ["repeats was 2, now 3"]),
        ({"temperatures": (0.0, 0.5, 1.0)}, ["temperatures was [0.0,1.0], now [0.0,0.5,1.0]"]),
        ({"temperatures": (1.0, 0.0)}, []),
        ({"retrievers": ("gold", "full_gold")}, ['retrievers was ["gold"], now ["gold","full_gold"]']),
        ({"methods": ("closed_book", "single_retrieval")}, ['methods was ["single_retrieval"], now ["closed_book",']),
        ({"metrics": ("token_f1",), "analyses": ("variability",)}, []),
    ],
)
def test_more_of_a_study_goes_into_its_run(tmp_path, more, words):
    study = small_study(tmp_path)
    run = Run.prepare(tmp_path / "run", study)
    wanted = dataclasses.replace(study, **more)
    changes = compare_studies(study, wanted)
    assert [change.problem for change in changes] == [None] * len(words)
    assert all(str(change).startswith(start) for change, start in zip(changes, words, strict=True))
    grown = Run.prepare(run.folder, wanted)
    assert grown.study == wanted
    assert grown.earlier_studies() == ((study,) if words else ())


def test_every_study_that_a_run_was_made_of_is_kept_once(tmp_path):
    studies = [dataclasses.replace(small_study(tmp_path), repeats=n) for n in (1, 2, 3)]
    for study in studies:
        run = Run.prepare(tmp_path / "run", study)
        run = Run.prepare(tmp_path / "run", study)
    assert run.study == studies[-1]
    assert run.earlier_studies() == tuple(studies[:-1])
    assert load_study(run.folder / "study.1.toml") == studies[0]


def test_a_process_killed_before_the_new_study_was_frozen_leaves_no_second_copy_of_the_old(tmp_path):
    study = small_study(tmp_path)
    run = Run.prepare(tmp_path / "run", study)
    (run.folder / "study.1.toml").write_bytes((run.folder / "study.toml").read_bytes())
    assert Run.prepare(run.folder, dataclasses.replace(study, repeats=3)).earlier_studies() == (study,)


def test_a_run_that_is_being_written_does_not_grow_beside_its_writer(tmp_path):
    study = small_study(tmp_path)
    run = Run.prepare(tmp_path / "run", study)
    with hold_lock(run.folder), pytest.raises(RunError, match="Another process is writing"):
        Run.prepare(run.folder, dataclasses.replace(study, repeats=3))
    assert (Run(run.folder).study, run.earlier_studies()) == (study, ())


def test_a_price_that_was_added_is_no_other_model(tmp_path):
    study = small_study(tmp_path, models=["scripted"])
    priced = dataclasses.replace(study, models=("scripted(price_in=1.0, price_out=2.0)",))
    assert compare_studies(study, priced) == ()
    [change] = compare_studies(study, dataclasses.replace(study, models=("scripted(name='prod')",)))
    assert change.problem == "what is left out is answered already, and a run is never shortened"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"limit": 3}, {"limit": 2}, "dataset.limit was 3, now 2 (fewer questions than are answered already)"),
        ({}, {"limit": 2}, "dataset.limit was null, now 2 (fewer questions than are answered already)"),
        (
            {"balance_by": ("type",), "per_cell": 3},
            {"balance_by": ("type",), "per_cell": 1},
            "dataset.per_cell was 3, now 1 (fewer questions",
        ),
        ({}, {"name": "builtin"}, 'dataset.name was "jsonl", now "builtin"'),
        ({}, {"where": {"type": ("bridge",)}}, 'dataset.where was {}, now {"type":["bridge"]}'),
        ({}, {"balance_by": ("type",)}, 'dataset.balance_by was [], now ["type"]'),
    ],
)
def test_other_or_fewer_questions_are_refused(tmp_path, before, after, words):
    study = small_study(tmp_path)
    Run.prepare(tmp_path / "run", with_dataset(study, **before))
    with pytest.raises(RunError) as caught:
        Run.prepare(tmp_path / "run", with_dataset(study, **after))
    assert words in str(caught.value)
    assert "Nothing was changed. Give another folder with --out" in str(caught.value)


def test_another_dataset_is_refused_because_ids_would_differ(tmp_path):
    study = small_study(tmp_path)
    [change] = compare_studies(study, dataclasses.replace(study, datasets=study.datasets * 2))
    assert str(change) == (
        'dataset was ["jsonl"], now ["jsonl","jsonl"] (with another number of datasets their questions have other ids)'
    )


def test_settings_of_generation_that_reach_a_model_are_refused_and_those_of_a_new_model_are_not(tmp_path):
    study = small_study(tmp_path)
    changed = dataclasses.replace(study, generation={**study.generation, "max_tokens": 9})
    assert [str(change) for change in compare_studies(study, changed)] == ["generation.max_tokens was 8, now 9"]
    more = dataclasses.replace(added(study, models=("scripted",)), generation_of={"scripted": {"max_tokens": 9}})
    assert [change.key for change in compare_studies(study, more) if change.problem is None] == ["models"]
    moved = dataclasses.replace(study, generation_of={study.models[0]: {"max_tokens": 9}})
    assert [str(change) for change in compare_studies(study, moved)] == ["generation.max_tokens was 8, now 9"]


@pytest.mark.parametrize(
    ("adaptive", "more", "problem"),
    [
        ({"scan": SCAN}, {"repeats": 3}, None),
        ({"scan": SCAN}, {"temperatures": (0.0, 0.5, 1.0)}, None),
        ({"scan": Scan(strategy="bisection")}, {"repeats": 3}, "the strategy 'bisection' would have asked other"),
        ({"scan": Scan(strategy="curtailed")}, {"temperatures": (0.0, 0.5, 1.0)}, "the strategy 'curtailed' would"),
        ({"scan": Scan(strategy="bisection")}, {"models": ("scripted",)}, "left out"),
        ({"scan": Scan(union=True, limit=2)}, {"perturbations": ("unchanged", "synonym")}, "scan.union counts facts"),
        ({"scan": Scan(limit=2)}, {"perturbations": ("unchanged", "synonym")}, None),
        ({"shake": Shake()}, {"repeats": 3}, "only its budget may grow"),
    ],
)
def test_what_is_asked_adaptively_takes_only_what_changes_no_decision(tmp_path, adaptive, more, problem):
    study = dataclasses.replace(small_study(tmp_path), **adaptive)
    [change] = compare_studies(study, dataclasses.replace(study, **more))
    assert change.problem is None if problem is None else problem in str(change.problem)
