import json

import pytest

from shaketable.datasets.musique import load_musique
from shaketable.errors import DataError

PARAGRAPHS = [
    {"idx": 0, "title": "Green", "paragraph_text": "Green is an album by Steve Hillage.", "is_supporting": True},
    {"idx": 1, "title": "Green", "paragraph_text": "Green is a color.", "is_supporting": False},
    {"idx": 2, "title": "Steve", "paragraph_text": "His wife is Miquette.", "is_supporting": True},
]
ROW = {
    "id": "3hop1__1_2_3",
    "paragraphs": PARAGRAPHS,
    "question": "Who is the spouse of the Green performer?",
    "question_decomposition": [{"id": 2, "paragraph_support_idx": 2}, {"id": 1, "paragraph_support_idx": 0}],
    "answer": "Miquette Giraudy",
    "answer_aliases": ["Miquette", "Miquette Giraudy"],
    "answerable": True,
}


def write(tmp_path, *rows):
    path = tmp_path / "musique.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_paragraphs_of_one_title_stay_apart_and_facts_follow_the_hops(tmp_path):
    loaded = load_musique(write(tmp_path, ROW))
    (question,) = loaded.questions
    assert question.answers == ("Miquette Giraudy", "Miquette")
    assert [document.title for document in question.documents] == ["Green", "Green", "Steve"]
    texts = [question.sentence(id).text for id in question.supporting]
    assert texts == ["His wife is Miquette.", "Green is an album by Steve Hillage."]
    assert question.gold_titles == ("Steve", "Green")
    assert question.tags == {"type": "3hop1", "hops": 3, "n_facts": 2}
    assert loaded.corpus == question.documents


def test_the_unanswerable_twin_of_a_question_has_its_own_id_and_no_answers(tmp_path):
    hops = [{"id": 2, "paragraph_support_idx": None}, {"id": 1, "paragraph_support_idx": None}]
    twin = {**ROW, "answerable": False, "question_decomposition": hops, "paragraphs": PARAGRAPHS[:2]}
    whole, unanswerable = load_musique(write(tmp_path, ROW, twin)).questions
    assert (whole.id, unanswerable.id) == ("3hop1__1_2_3", "3hop1__1_2_3__unanswerable")
    assert unanswerable.answers == ()
    assert unanswerable.tags["unanswerable"] is True
    assert unanswerable.gold_titles == ("Green",)


def test_questions_without_paragraphs_are_for_closed_book_use(tmp_path):
    row = {key: value for key, value in ROW.items() if key not in ("paragraphs", "answerable")}
    (question,) = load_musique(write(tmp_path, row)).questions
    assert (question.documents, question.supporting) == ((), ())


def test_broken_rows_are_listed(tmp_path):
    doubled = {**ROW, "id": "d", "paragraphs": [*PARAGRAPHS, {**PARAGRAPHS[1], "idx": 3}]}
    test_row = {key: value for key, value in ROW.items() if key != "answer"} | {"id": "t"}
    loaded = load_musique(write(tmp_path, ROW, doubled, test_row))
    assert [(rejected.where, rejected.reason) for rejected in loaded.rejected] == [
        ("musique.jsonl line 2 (d)", "two of its paragraphs are the same, or share an idx."),
        ("musique.jsonl line 3 (t)", "'answer' is missing."),
    ]
    with pytest.raises(DataError, match=r"'musique' needs a path.*StonyBrookNLP"):
        load_musique()
