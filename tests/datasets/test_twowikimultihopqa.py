import json

import pytest

from shaketable import catalog
from shaketable.datasets.twowikimultihopqa import load_twowikimultihopqa
from shaketable.errors import DataError

CONTEXT = [["Alpha", ["A0.", "A1."]], ["Beta", ["B0."]]]
RECORD = {
    "_id": "w1",
    "type": "bridge_comparison",
    "question": "Are both from one country?",
    "context": CONTEXT,
    "supporting_facts": [["Beta", 0], ["Alpha", 1]],
    "evidences": [["Alpha", "country", "Italy"]],
    "answer": "yes",
}


def write(tmp_path, *records):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(list(records)))
    return str(path)


def test_every_layout_gives_the_same_question(tmp_path):
    official = load_twowikimultihopqa(write(tmp_path, RECORD))
    columns = {
        "supporting_facts": {"title": ["Beta", "Alpha"], "sent_id": [0, 1]},
        "context": {"title": ["Alpha", "Beta"], "content": [["A0.", "A1."], ["B0."]]},
    }
    texts = {name: json.dumps(RECORD[name]) for name in ("context", "supporting_facts")}
    for layout in (columns, texts):
        assert load_twowikimultihopqa(write(tmp_path, RECORD | layout)) == official
    (question,) = official.questions
    assert question.dataset == "2wikimultihopqa"
    assert question.supporting == ("Beta#0", "Alpha#1")
    assert question.gold_titles == ("Beta", "Alpha")
    assert question.tags == {"type": "bridge_comparison", "n_facts": 2}


def test_it_is_known_by_its_name():
    assert catalog.find("dataset", "2wikimultihopqa") is load_twowikimultihopqa


def test_a_distractor_that_stands_there_twice_counts_once(tmp_path):
    (question,) = load_twowikimultihopqa(write(tmp_path, {**RECORD, "context": [*CONTEXT, CONTEXT[0]]})).questions
    assert len(question.documents) == 2


def test_what_cannot_be_used_is_said(tmp_path):
    lost = {**RECORD, "_id": "w2", "supporting_facts": [["Gamma", 0]]}
    assert len(load_twowikimultihopqa(write(tmp_path, RECORD, lost)).rejected) == 1
    assert len(load_twowikimultihopqa(write(tmp_path, RECORD, lost), unresolved="keep").questions) == 2
    with pytest.raises(DataError, match=r"'2wikimultihopqa' needs a path.*Alab-NII"):
        load_twowikimultihopqa()
