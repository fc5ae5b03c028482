import json

import polars
import pytest

from shaketable.datasets.squad import load_squad
from shaketable.errors import DataError

CONTEXT = "Denver won the title. They beat Carolina 24 to 10. The game was in Santa Clara."
ANSWERS = [{"text": "Carolina", "answer_start": 32}, {"text": "Carolina", "answer_start": 32}, {"text": "Carolina 24"}]
QA = {"id": "s1", "question": "Whom did they beat? ", "answers": ANSWERS}
FLAT = {**QA, "title": "Super_Bowl_50", "context": CONTEXT}


def write(tmp_path, value, name="squad.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def official(*qas, context=CONTEXT):
    return {
        "version": "1.1",
        "data": [{"title": "Super_Bowl_50", "paragraphs": [{"context": context, "qas": list(qas)}]}],
    }


def test_every_layout_gives_the_same_question(tmp_path):
    nested = load_squad(write(tmp_path, official(QA)))
    columns = {"text": [a["text"] for a in ANSWERS], "answer_start": [32, 32, 32]}
    polars.DataFrame([{**FLAT, "answers": columns}]).write_parquet(tmp_path / "hub.parquet")
    assert load_squad(write(tmp_path, FLAT)) == nested
    assert load_squad(write(tmp_path, json.dumps(official(QA), indent=1))) == nested
    assert load_squad(str(tmp_path / "hub.parquet")) == nested

    (question,) = nested.questions
    assert (question.id, question.text) == ("s1", "Whom did they beat?")
    assert question.answers == ("Carolina", "Carolina 24")
    (document,) = question.documents
    assert document.title == "Super Bowl 50"
    assert document.text == CONTEXT
    assert [question.sentence(id).text for id in question.supporting] == ["They beat Carolina 24 to 10."]
    assert question.gold_titles == ("Super Bowl 50",)
    assert question.tags == {"article": "Super Bowl 50", "n_facts": 1}


def test_an_answer_over_two_sentences_has_two_facts_and_a_wrong_place_is_looked_up(tmp_path):
    over = {**QA, "id": "over", "answers": [{"text": "10. The game", "answer_start": 46}]}
    moved = {**QA, "id": "moved", "answers": [{"text": "Santa Clara", "answer_start": 3}]}
    absent = {**QA, "id": "absent", "answers": [{"text": "Miami", "answer_start": 3}]}
    loaded = load_squad(write(tmp_path, official(over, moved, absent)))
    indices = [[id.rpartition("#")[2] for id in question.supporting] for question in loaded.questions]
    assert indices == [["1", "2"], ["2"]]
    assert [rejected.reason for rejected in loaded.rejected] == ["the answer 'Miami' does not stand in the context."]


def test_two_paragraphs_of_one_article_are_two_passages(tmp_path):
    other = {**FLAT, "id": "s2", "context": "Carolina lost."}
    loaded = load_squad(
        write(tmp_path, "\n".join(map(json.dumps, (FLAT, {**other, "answers": [{"text": "Carolina"}]}))))
    )
    assert [passage.title for passage in loaded.corpus] == ["Super Bowl 50"] * 2
    assert len({passage.id for passage in loaded.corpus}) == 2


def test_a_question_without_a_paragraph_is_for_closed_book_use(tmp_path):
    (question,) = load_squad(write(tmp_path, QA)).questions
    assert (question.answers, question.documents, question.supporting) == (("Carolina", "Carolina 24"), (), ())


def test_unanswerable_questions_of_version_two_are_tagged(tmp_path):
    plausible = [{"text": "Denver", "answer_start": 0}]
    impossible = {**QA, "id": "u", "answers": [], "is_impossible": True, "plausible_answers": plausible}
    empty = {**QA, "id": "e", "answers": [], "is_impossible": False}
    loaded = load_squad(write(tmp_path, official(impossible, empty)))
    (question,) = loaded.questions
    assert (question.answers, question.supporting, question.tags["unanswerable"]) == ((), (), True)
    assert len(question.documents) == 1
    assert [rejected.reason for rejected in loaded.rejected] == ["it has no accepted answer."]
    assert len(load_squad(write(tmp_path, official(impossible, empty)), empty_is_unanswerable=True).questions) == 2


def test_broken_pieces_are_listed_with_their_place(tmp_path):
    file = official(QA, 7, {**QA, "id": "n", "question": None})
    file["data"] += [3, {"title": "X", "paragraphs": [5, {"context": "c"}]}]
    loaded = load_squad(write(tmp_path, file))
    assert len(loaded.questions) == 1
    assert [
        (rejected.where.partition(" line 1 ")[2], rejected.reason.partition(",")[0]) for rejected in loaded.rejected
    ] == [
        ("data[0] paragraphs[0] qas[1]", "found 7"),
        ("data[0] paragraphs[0] qas[2] (n)", "'question' is None"),
        ("data[1]", "'paragraphs' is None"),
        ("data[2] paragraphs[0]", "'qas' is None"),
        ("data[2] paragraphs[1]", "'qas' is None"),
    ]


def test_another_file_or_none_is_said_with_the_layouts(tmp_path):
    with pytest.raises(DataError, match=r"squad.json: no question is left of 1.*Known layouts: .*SQuAD 1.1 or 2.0"):
        load_squad(write(tmp_path, {"question": "who", "answer": ["x"]}))
    with pytest.raises(DataError, match=r"'squad' needs a path.*SQuAD explorer"):
        load_squad()
