"""Names that people give to parts: in labels, sentences and pages, and in no key."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest
from made_studies import row, small_study, study_of, write_rows

from shaketable import catalog
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.unaided import compare_with_closed_book
from shaketable.errors import PartError, StudyError
from shaketable.factors import Cell, Labels, System, given_names
from shaketable.stages.plan import plan
from shaketable.stages.run import run

SHORT = "single_retrieval(name='short', k=1)"
LONG = "single_retrieval(name='long', k=5)"


def keys(study) -> set[str]:
    return {trial.key for trial, _ in plan(study).trials()}


# --- the catalog ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text"), [("model", "scripted"), ("method", "search_o1"), ("retriever", "bm25(k1=2.0)")]
)
def test_a_name_is_the_label_and_nothing_else_changes(kind, text):
    name, settings = catalog.parse(text)
    plain, called = catalog.build(kind, text), catalog.build(kind, catalog.write(name, {"name": "prod", **settings}))
    assert catalog.label(called) == "prod"
    assert catalog.written(called) == catalog.label(plain) == text
    assert catalog.spelled(called) == catalog.spelled(plain)
    assert catalog.describe(called) == catalog.describe(plain)
    assert called == plain


@dataclass(frozen=True, kw_only=True, slots=True)
class Slotted:
    version: ClassVar[int] = 1

    size: int = 2


@dataclass(frozen=True, kw_only=True)
class Own:
    version: ClassVar[int] = 1

    name: str = "x"


def test_a_part_with_slots_is_named_too():
    called = catalog.call(Slotted(size=3), "prod")
    assert (catalog.label(called), catalog.spelled(called), called.size) == ("prod", "slotted(size=3)@1", 3)


def test_a_part_with_a_setting_of_that_name_keeps_its_own_meaning(monkeypatch):
    monkeypatch.setattr(catalog, "find", lambda *_: Own)
    assert catalog.build("model", "own(name='y')") == Own(name="y")


def test_a_part_of_another_package_is_named_without_a_change_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "their_model.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "@dataclass(frozen=True, kw_only=True, slots=True)\n"
        "class TheirModel:\n"
        "    power: int = 2\n"
        "    version: ClassVar[int] = 1\n"
    )
    info = tmp_path / "their_model-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[shaketable.models]\ntheir_model = their_model:TheirModel\n")
    monkeypatch.syspath_prepend(tmp_path)
    catalog._installed.cache_clear()
    try:
        part = catalog.build("model", "their_model(name='prod', power=3)")
        assert (catalog.label(part), catalog.spelled(part)) == ("prod", "their_model(power=3)@1")
    finally:
        catalog._installed.cache_clear()
        sys.modules.pop("their_model", None)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("''", "name is ''; a name is not empty"),
        ("'  '", "name is '  '; a name is not empty"),
        ("'a\\nb'", "name is 'a\\nb'; a name has no line breaks, and no white space around it"),
        ("' a'", "name is ' a'; a name has no line breaks, and no white space around it"),
        ("7", "name is 7; a name is a text"),
        (repr("x" * 61), f"name is '{'x' * 61}'; these are 61 characters, and charts have room for 60"),
        ("'gold'", "name is 'gold'; 'gold' is a retriever of the catalog, and would be taken for it"),
        ("'dragin (ours)'", "name is 'dragin (ours)'; 'dragin' is a method of the catalog, and would be taken for it"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused_with_the_reason(name, problem):
    with pytest.raises(PartError) as caught:
        catalog.build("method", f"closed_book(name={name})", "cross.methods[0]")
    advice = "Give a short name of its own, such as name='prod'."
    assert str(caught.value) == f"cross.methods[0]: closed_book: {problem}. {advice}"


def test_parts_that_make_no_system_have_no_names():
    with pytest.raises(PartError, match=r"sentence_removal has no setting 'name'"):
        catalog.build("perturbation", "sentence_removal(name='prod')")


# --- a study --------------------------------------------------------------------------------------


def test_names_are_in_no_key(tmp_path):
    plain = small_study(tmp_path, methods=["single_retrieval(k=1)", "single_retrieval(k=5)"], retrievers=["gold"])
    named = small_study(tmp_path, methods=[SHORT, LONG], retrievers=["gold"])
    assert keys(named) == keys(plain)
    assert plan(named).fingerprint == plan(plain).fingerprint
    assert {trial.method for trial, _ in plan(named).trials()} == {"short", "long"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"methods": [SHORT, "closed_book(name='short')"]},
            "cross.methods[1]: the name 'short' is given to closed_book, and cross.methods[0], single_retrieval(k=1), "
            "has it too. Give each component a name of its own.",
        ),
        (
            {"models": ["scripted(name='short')"], "methods": [SHORT]},
            "cross.methods[0]: the name 'short' is given to single_retrieval(k=1), and cross.models[0], scripted, "
            "has it too. Give each component a name of its own.",
        ),
        (
            {"methods": ["closed_book(name='a')", "closed_book(name='b')"]},
            "cross.methods[1]: 'closed_book(name='b')' is the same component as 'closed_book(name='a')'. Another name "
            "makes no other component. Name each component once.",
        ),
    ],
)
def test_one_name_for_two_parts_and_two_for_one_are_refused(tmp_path, changes, message):
    with pytest.raises(StudyError) as caught:
        plan(small_study(tmp_path, **changes))
    assert str(caught.value) == message


def test_a_method_that_follows_the_dataset_keeps_its_name_where_it_is_settled(tmp_path):
    rows = write_rows(tmp_path / "q.jsonl", [row(i, tags={"hops": 2}) for i in range(2)])
    planned = plan(study_of(rows, methods=["search_o1(name='agent', task='by_dataset')"]))
    trial, condition = next(planned.trials())
    method = condition.parts[1]
    assert (trial.method, method.label, method.settings["task"]) == ("agent", "agent", "multi_hop")


# --- systems --------------------------------------------------------------------------------------


def labels_of(*systems: System, given: tuple[str, ...]) -> list[str]:
    labels = Labels.of_cells([Cell(system=system) for system in systems], given)
    return [labels.system(system) for system in systems]


def test_a_given_name_stands_alone_where_it_is_of_one_system():
    short = System(model="smollm2", method="short", retriever="gold")
    bare = System(model="smollm2", method="closed_book")
    assert labels_of(short, bare, given=("short",)) == ["short", "smollm2 · closed_book"]
    # A pipeline has one method, whatever the methods of other models are.
    pipeline = System(model="prod", method="as_it_is")
    assert labels_of(pipeline, bare, given=("prod",)) == ["prod", "smollm2 · closed_book"]


def test_a_given_name_of_several_systems_stands_beside_what_tells_them_apart():
    systems = [System(model=model, method=method) for model in ("prod", "next") for method in ("short", "long")]
    assert labels_of(*systems, given=("prod", "next", "short", "long")) == [
        *("prod · short", "prod · long", "next · short", "next · long"),
    ]
    twice = [System(model="smollm2", method="short", retriever=name) for name in ("gold", "bm25")]
    assert labels_of(*twice, given=("short",)) == ["smollm2 · short · gold", "smollm2 · short · bm25"]


def test_without_given_names_systems_are_named_as_ever():
    systems = [System(model="smollm2", method=method) for method in ("a", "b")]
    assert labels_of(*systems, given=()) == ["smollm2 · a", "smollm2 · b"]


def test_names_of_a_study_know_how_their_parts_are_written(tmp_path):
    study = small_study(tmp_path, methods=[SHORT, "closed_book"], models=["scripted(name='prod')"])
    assert given_names(study) == {"prod": "scripted", "short": "single_retrieval(k=1)"}


def test_a_closed_book_method_is_found_under_its_name(tmp_path):
    study = small_study(
        tmp_path,
        models=["scripted(replies=('Author 0',))"],
        methods=["closed_book(name='bare', n_examples=2)", "single_retrieval(name='rag', n_examples=2)"],
    )
    made = run(study, tmp_path / "run")
    tables = Tables(scores=made.score_table(), read_records=made.records, given_names=given_names(study))
    (compared, *_), _ = compare_with_closed_book(tables, "correct", "closed_book", "same")
    assert compared.asked.system.method == "rag"
    assert compared.unaided.closed_book is not None
    assert (compared.unaided.closed_book.method, compared.unaided.closed_book.is_alike) == ("bare", True)


def test_a_report_speaks_of_names_and_its_method_chapter_tells_what_they_are(tmp_path):
    study = small_study(tmp_path, methods=[SHORT, LONG], models=["scripted(replies=('Author 0', 'Rome'))"])
    made = run(study, tmp_path / "run")
    page = (made.folder / "report.html").read_text("utf-8")
    assert "<dd>long, short</dd>" in page
    method = page[page.index('id="method"') :]
    cells = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", method)]
    assert any(re.match(r"\|+method\|+short: single_retrieval\|+2\|", row) for row in cells)
    assert set(made.records()["method"]) == {"short", "long"}
    assert set(made.score_table()["method"]) == {"short", "long"}
    table = (made.folder / "figures" / "figure_table.csv").read_text("utf-8")
    assert {line.split(",")[0] for line in table.splitlines()[1:]} == {"short", "long"}
