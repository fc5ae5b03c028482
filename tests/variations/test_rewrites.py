"""Rewrites by people: what a file may hold, what is refused, and two real sets."""

import json

import pytest
from real_questions import DATA, lines
from typer.testing import CliRunner

from shaketable.analyses.wording.consistency import Consistency
from shaketable.catalog import build, label
from shaketable.cli.app import app
from shaketable.errors import DataError
from shaketable.factors import is_by_people
from shaketable.report.wording_words import name_rewording, name_way
from shaketable.stages.vary import is_ready
from shaketable.store import Run
from shaketable.types import Question
from shaketable.variations.rewrites import Rewrites

ASKED = [Question(id=f"q{i}", text=f"Who wrote book {i}?", answers=("x",)) for i in range(3)]
SHARED = DATA / "query_variations"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data is not there")


def written(folder, *rows):
    file = folder / "rewrites.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_each_question_gets_its_rewrites_in_order(tmp_path):
    path = written(
        tmp_path,
        {"id": "q1", "rewrite": "book 1 is by whom", "annotator": "ann"},
        {"id": "q1", "rewrite": "author of book 1", "annotator": "ben"},
        {"id": "q0", "rewrite": "book 0, by?"},
    )
    first, second, third = Rewrites(path=path).vary(ASKED)
    assert [v.text for v in first] == ["book 0, by?"]
    assert [(v.text, v.provenance["annotator"]) for v in second] == [
        ("book 1 is by whom", "ann"),
        ("author of book 1", "ben"),
    ]
    assert third == []
    assert second[0].provenance["file"] == "rewrites.jsonl line 1"
    assert all(v.rejected is None for v in first + second)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"rewrite": " "}, "empty"),
        ({"rewrite": "Who wrote book 0? "}, "the same as the original"),
        (
            {"rewrite": "book 0?", "original": "Who wrote book nil?"},
            "written for another wording: 'Who wrote book nil?'",
        ),
    ],
)
def test_what_is_no_rewrite_is_kept_and_not_asked(tmp_path, row, reason):
    ((variant,), *_) = Rewrites(path=written(tmp_path, {"id": "q0", **row})).vary(ASKED)
    assert variant.rejected == reason


def test_one_person_writes_one_rewrite(tmp_path):
    rows = [{"id": "q0", "rewrite": text, "annotator": "ann"} for text in ("by whom is 0?", "0, by?")]
    ((first, second), *_) = Rewrites(path=written(tmp_path, *rows)).vary(ASKED)
    assert first.rejected is None
    assert second.rejected == "a second rewrite by the same person: ann"


def test_an_unknown_question_is_reported_and_left_out(tmp_path):
    path = written(tmp_path, {"id": "q0", "rewrite": "0, by?"}, {"id": "q9", "rewrite": "9, by?"})
    with pytest.warns(
        UserWarning, match=r"rewrites.jsonl has rewrites of 1 questions that are not asked, such as 'q9'"
    ):
        made = Rewrites(path=path).vary(ASKED)
    assert [len(of_question) for of_question in made] == [1, 0, 0]


def test_a_study_of_several_datasets_finds_them_too(tmp_path):
    question = Question(id="nq:q0", text="Who wrote book 0?", answers=("x",), dataset="nq")
    ((variant,),) = Rewrites(path=written(tmp_path, {"id": "q0", "rewrite": "0, by?"})).vary([question])
    assert variant.question_id == "nq:q0"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "q0", "rewrit": "a"}\n', r"line 1: 'rewrite' is missing. Did you mean 'rewrit'\? Fields: id, rewrit"),
        ('{"id": "q0", "rewrite": 3}\n', r"line 1: 'rewrite' is 3, expected a text"),
        ('{"id": "q0", "rewrite": "a"}\n[1]\n', r"line 2: found list, expected an object"),
        ('{"id": "q0"\n', r"line 1: broken JSON"),
    ],
)
def test_a_broken_file_says_where(tmp_path, content, message):
    (tmp_path / "own.jsonl").write_text(content)
    with pytest.raises(DataError, match=message):
        Rewrites(path=str(tmp_path / "own.jsonl")).vary(ASKED)
    with pytest.raises(DataError, match=r"no.jsonl cannot be read: No such file"):
        Rewrites(path=str(tmp_path / "no.jsonl")).vary(ASKED)


def test_questions_without_a_rewrite_are_counted(tmp_path):
    path = written(tmp_path, {"id": "q0", "rewrite": "0, by?"})
    with pytest.warns(UserWarning, match=r"rewrites.jsonl has no rewrite of 2 of the 3 questions asked, such as 'q1'"):
        Rewrites(path=path).vary(ASKED)


def test_some_rows_of_a_file_alone(tmp_path):
    rows = [{"id": "q0", "style": style, "rewrite": f"{style} 0?"} for style in ("casual", "hard")]
    part = Rewrites(path=written(tmp_path, *rows), where={"style": "hard"})
    assert [variant.text for variant in part.vary(ASKED[:1])[0]] == ["hard 0?"]
    assert build("variation", label(part)) == part
    with pytest.raises(DataError, match=r"rewrites.jsonl: no row has \{'style': 'plain'\}"):
        Rewrites(path=part.path, where={"style": "plain"}).vary(ASKED)
    with pytest.raises(DataError, match=r"line 1: 'styl' is missing. Did you mean 'style'"):
        Rewrites(path=part.path, where={"styl": "hard"}).vary(ASKED)


def test_rewrites_by_a_model_are_not_called_those_of_people(tmp_path):
    part = Rewrites(path=written(tmp_path, {"id": "q0", "rewrite": "0, by?"}), maker="gpt-4o")
    ((variant,),) = part.vary(ASKED[:1])
    assert variant.provenance["by"] == "gpt-4o"
    assert not is_by_people(variant.variation)
    assert is_by_people(label(Rewrites(path=part.path)))


def test_several_files_are_told_apart_by_their_titles(tmp_path):
    path = written(tmp_path, {"id": "q0", "rewrite": "0, by?", "typed": "Who wrot book 0?"})
    spoken = Rewrites(path=path, title="spoken")
    typed = Rewrites(path=path, texts=("typed",), title="typed")
    assert label(spoken) != label(typed)
    assert [name_way(label(part)) for part in (spoken, typed)] == ["spoken", "typed"]
    assert name_rewording(label(typed)) == "the rewriting 'typed'"
    assert name_way(label(Rewrites(path=path))) == "people"


@pytest.mark.weights
def test_the_gate_judges_those_that_are_to_pass_it(tmp_path):
    question = Question(id="q0", text="Who directed the film Jaws?", answers=("x",))
    rows = [
        {"id": "q0", "rewrite": text}
        for text in ("By whom was the film Jaws directed?", "Who directed the film Duel?", " ")
    ]
    part = Rewrites(path=written(tmp_path, *rows), gated=True)
    assert not is_ready(part) and is_ready(Rewrites(path=part.path))
    ((good, other, empty),) = part.vary([question])
    assert good.rejected is None
    assert other.rejected == "names lost: Jaws" and other.refusal == "names_lost"
    assert empty.rejected == "empty"


@shared
def test_disfluent_rewrites_of_squad_load():
    path = SHARED / "disfl_qa_dev_test.jsonl"
    rows = lines(path)
    asked = [Question(id=row["squad_v2_id"], text=row["original"], answers=("x",)) for row in rows]
    part = build("variation", f"rewrites(path={str(path)!r}, id='squad_v2_id', texts=('disfluent',))")
    made = part.vary(asked)
    assert [len(of_question) for of_question in made] == [1] * 4643
    refused = [variant.rejected for of_question in made for variant in of_question if variant.rejected]
    # One writer changed nothing, counted over the file.
    assert refused == ["the same as the original"]


@shared
def test_noisy_questions_load_with_a_wording_for_each_field():
    path = SHARED / "noiseqa_xquad.jsonl.gz"
    rows = lines(path)
    asked = [Question(id=row["id"], text=row["question"], answers=("x",)) for row in rows]
    fields = ("keyboard_natural", "asr_natural", "translation_natural")
    made = Rewrites(path=str(path), texts=fields).vary(asked)
    assert [len(of_question) for of_question in made] == [3] * 1190
    for row, of_question in zip(rows, made, strict=True):
        assert [(v.text, v.provenance["field"]) for v in of_question] == [(row[name], name) for name in fields]


@shared
@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.parametrize(
    ("file", "id", "texts"),
    [
        ("disfl_qa_dev_test.jsonl", "squad_v2_id", ("disfluent",)),
        ("noiseqa_xquad.jsonl.gz", "id", ("keyboard_natural", "asr_natural")),
    ],
)
def test_rewrites_by_people_run_as_a_study(tmp_path, file, id, texts):
    path = SHARED / file
    rewritten = {row[id] for row in lines(path)}
    rows = [row for row in lines(DATA / "squad_v1.1_dev_2000.jsonl.gz") if row["id"] in rewritten][:5]
    (tmp_path / "squad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text(
        f'name = "people"\n[dataset]\nname = "squad"\npath = "squad.jsonl"\n'
        f'[cross]\nmodels = ["scripted"]\nmethods = ["closed_book", "single_retrieval"]\n'
        f'variations = ["original", "rewrites(path={str(path)!r}, id={id!r}, texts={texts!r})"]\n'
        f'[analyze]\nanalyses = ["wording_accuracy", "consistency"]\n'
    )
    with pytest.warns(UserWarning, match="questions that are not asked"):
        result = CliRunner().invoke(
            app, ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run"), "--json"]
        )
    assert result.exit_code == 0, result.output
    results = [finding.result for finding in Run(tmp_path / "run").findings().findings]
    (result,) = [result for result in results if isinstance(result, Consistency)]
    alike = [number for number in result.numbers if number.metric == "similarity" and not number.answered_only]
    assert [(number.cell.system.method, number.estimate.n) for number in alike] == [
        ("closed_book", 5),
        ("single_retrieval", 5),
    ]
    assert "people" in (tmp_path / "run" / "report.html").read_text("utf-8")
