import json

import pytest

from shaketable.datasets.nq_open import load_nq_open
from shaketable.errors import DataError

ROW = {"question": "who got the first nobel prize in physics", "answer": ["Wilhelm Conrad Röntgen", "Röntgen"]}
GOLD = {"title": "Nobel Prize", "text": "It went to Röntgen.", "hasanswer": True, "isgold": True}
OTHER = {"title": "Nobel Prize", "text": "It is given in Stockholm.", "hasanswer": False, "isgold": False}


def write(tmp_path, *rows):
    path = tmp_path / "nq.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return str(path)


def test_an_official_row_is_a_closed_book_question(tmp_path):
    first, second = load_nq_open(write(tmp_path, ROW, {**ROW, "question": "who else"})).questions
    assert first.answers == ("Wilhelm Conrad Röntgen", "Röntgen")
    assert (first.documents, first.supporting, first.tags) == ((), (), {"n_facts": 0})
    assert load_nq_open(write(tmp_path, ROW)).questions[0].id == first.id != second.id


def test_passages_are_kept_and_the_gold_one_supports(tmp_path):
    row = {"question": ROW["question"], "answers": ROW["answer"], "ctxs": [OTHER, GOLD, GOLD, {**OTHER, "text": " "}]}
    loaded = load_nq_open(write(tmp_path, row))
    (question,) = loaded.questions
    assert [document.text for document in question.documents] == [OTHER["text"], GOLD["text"]]
    assert [question.sentence(id).text for id in question.supporting] == [GOLD["text"]]
    assert question.gold_titles == ("Nobel Prize",)
    assert loaded.corpus == question.documents


def test_tab_separated_lines_are_read(tmp_path):
    (question,) = load_nq_open(write(tmp_path, "who got it\t['Röntgen']")).questions
    assert (question.text, question.answers) == ("who got it", ("Röntgen",))


def test_broken_rows_are_listed(tmp_path):
    bad = ['{"question": "who"', {"question": "who"}, {**ROW, "question": "x", "answer": []}, ROW]
    loaded = load_nq_open(write(tmp_path, ROW, *bad))
    assert len(loaded.questions) == 1
    assert [rejected.where for rejected in loaded.rejected] == [f"nq.jsonl line {n}" for n in (2, 3, 4, 5)]
    with pytest.raises(DataError, match=r"'nq_open' needs a path.*NQ-open.dev.jsonl"):
        load_nq_open()
