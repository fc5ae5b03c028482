"""Settings of a method that differ for one model of a study."""

from __future__ import annotations

import pytest

from shaketable import catalog
from shaketable.errors import StudyError
from shaketable.stages.analyze import analyze
from shaketable.stages.plan import plan
from shaketable.stages.run import run
from shaketable.study import format_study, load_study

STUDY = """
name = "two"
[dataset]
name = "builtin"
limit = 2
[cross]
models = ["scripted(replies=('Rome',))", "scripted(replies=('Paris',))"]
methods = ["search_o1(max_tokens=100)", "closed_book"]
retrievers = ["gold"]
[generation.models."scripted(replies=('Paris',))".methods.{name}]
{settings}
"""


@pytest.fixture
def study(tmp_path):
    def write(name="search_o1", settings="max_tokens = 20480\nrepetition_penalty = 1.05"):
        (tmp_path / "study.toml").write_text(STUDY.format(name=name, settings=settings))
        return load_study(tmp_path / "study.toml")

    return write


def test_one_model_has_its_own_limit(study):
    conditions = plan(study()).conditions
    limits = {
        (catalog.label(own.model), own.method.max_tokens, own.method.repetition_penalty)
        for own in conditions
        if catalog.name_of(own.method) == "search_o1"
    }
    assert limits == {
        ("scripted(replies=('Rome',))", 100, None),
        ("scripted(replies=('Paris',))", 20480, 1.05),
    }


def test_people_see_one_method(study):
    labels = {own.labels["method"] for own in plan(study()).conditions}
    assert labels == {"search_o1(max_tokens=100)", "closed_book"}


def test_what_it_adds_is_no_setting_of_sampling(study):
    assert all("methods" not in own.decoding for own in plan(study()).conditions)


def test_a_method_that_is_not_crossed_is_refused(study):
    with pytest.raises(StudyError, match="'dragin' is none of the study's methods"):
        plan(study(name="dragin", settings="k = 2"))


def test_the_study_runs_and_stays_the_same_when_frozen(study, tmp_path):
    finished = run(study(), tmp_path / "run")
    assert finished.records(("method",))["method"].unique().sort().to_list() == [
        "closed_book",
        "search_o1(max_tokens=100)",
    ]
    assert analyze(finished, ["correctness"]).findings[0].failure is None
    (tmp_path / "again.toml").write_text(format_study(finished.study))
    assert load_study(tmp_path / "again.toml").generation_of == study().generation_of
