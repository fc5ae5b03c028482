import gzip
import json
from pathlib import Path

import polars
import pytest

from shaketable.datasets import hotpotqa
from shaketable.datasets.hotpotqa import load_hotpotqa
from shaketable.errors import DataError

SHARED = Path(__file__).parents[3] / "shared" / "data"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data is not there")

RECORD = {
    "_id": "q1",
    "question": "Which was founded first? ",
    "answer": "Beta",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Alpha", 2], ["Beta", 0]],
    "context": [["Alpha", ["A0.", "", " A2."]], ["Gamma", ["G0."]], ["Beta", ["B0.", " B1."]]],
}
HUB_RECORD = {
    **{key: RECORD[key] for key in ("question", "answer", "type", "level")},
    "id": "q1",
    "supporting_facts": {"title": ["Alpha", "Beta"], "sent_id": [2, 0]},
    "context": {"title": ["Alpha", "Gamma", "Beta"], "sentences": [["A0.", "", " A2."], ["G0."], ["B0.", " B1."]]},
}


def write(tmp_path, *records, name="hotpot.json"):
    path = tmp_path / name
    path.write_text(json.dumps(list(records)))
    return str(path)


def test_every_layout_gives_the_same_question(tmp_path):
    official = load_hotpotqa(write(tmp_path, RECORD))
    lines, packed, table = tmp_path / "hub.jsonl", tmp_path / "hub.jsonl.gz", tmp_path / "hub.parquet"
    lines.write_text(json.dumps(HUB_RECORD) + "\n")
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    polars.DataFrame([HUB_RECORD]).write_parquet(table)
    assert all(load_hotpotqa(str(path)) == official for path in (lines, packed, table))

    (question,) = official.questions
    assert (question.id, question.text, question.answers) == ("q1", "Which was founded first?", ("Beta",))
    assert question.supporting == ("Alpha#2", "Beta#0")
    assert question.gold_titles == ("Alpha", "Beta")
    assert question.tags == {"type": "comparison", "level": "hard", "n_facts": 2}
    assert question.sentence("Alpha#2").text == "A2."
    assert [document.id for document in question.documents] == ["Alpha", "Gamma", "Beta"]
    assert official.corpus == question.documents


def test_records_whose_facts_do_not_resolve_are_rejected_with_the_reason(tmp_path):
    bad = [
        {**RECORD, "_id": "q2", "supporting_facts": [["Delta", 0]]},
        {**RECORD, "_id": "q3", "supporting_facts": [["Beta", 7]]},
        {**RECORD, "_id": "q4", "supporting_facts": [["Beta", 0], ["Beta", 0]]},
    ]
    loaded = load_hotpotqa(write(tmp_path, RECORD, *bad))
    assert [question.id for question in loaded.questions] == ["q1"]
    assert [rejected.where for rejected in loaded.rejected] == [f"hotpot.json record {n} (q{n})" for n in (2, 3, 4)]
    assert "names no document" in loaded.rejected[0].reason
    assert "names no sentence" in loaded.rejected[1].reason
    assert "given twice" in loaded.rejected[2].reason
    with pytest.raises(DataError, match=r"no question is left of 3; the first record was rejected because .*Delta"):
        load_hotpotqa(write(tmp_path, *bad))


def test_what_a_user_can_mend_is_said(tmp_path):
    without = {key: value for key, value in RECORD.items() if key != "answer"}
    uneven = {**HUB_RECORD, "supporting_facts": {"title": ["Alpha"], "sent_id": []}}
    cases = [
        ([RECORD, without], r"hotpot.json record 2: 'answer' is missing\. Use a train or dev file"),
        ([{**RECORD, "answer": " "}], r"record 1: 'answer' is empty"),
        ([{**RECORD, "context": 3}], r"record 1: 'context' is 3, expected a valid list"),
        ([uneven], r"record 1: 'supporting_facts' has 1 values of title and 0 of sent_id"),
        ([RECORD, RECORD], r"record 2: the id 'q1' was already used in hotpot.json record 1"),
        ([], r"no question is left of 0; it has no records"),
    ]
    for records, message in cases:
        with pytest.raises(DataError, match=message):
            load_hotpotqa(write(tmp_path, *records))
    with pytest.raises(DataError, match=r"needs a path.*hub = .*'builtin'"):
        load_hotpotqa()


def test_the_hub_is_read_file_by_file(tmp_path, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    folder = tmp_path / "fullwiki"
    folder.mkdir()
    for part in (0, 1):
        row = {**HUB_RECORD, "id": f"q{part}"}
        polars.DataFrame([row]).write_parquet(folder / f"train-0000{part}-of-00002.parquet")
    asked = {}

    def snapshot_download(name, **settings):
        asked.update(settings, name=name)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    loaded = load_hotpotqa(hub="someone/hotpot")
    assert [question.id for question in loaded.questions] == ["q0", "q1"]
    assert (asked["name"], asked["repo_type"], asked["local_files_only"]) == ("someone/hotpot", "dataset", True)
    with pytest.raises(DataError, match=r"has no files fullwiki/dev-\*\.parquet"):
        load_hotpotqa(hub="someone/hotpot", split="dev")


def test_a_hub_out_of_reach_is_said(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    with pytest.raises(DataError, match=r"'someone/hotpot' could not be read .*SHAKETABLE_OFFLINE is set"):
        hotpotqa.load_hotpotqa(hub="someone/hotpot")


@shared
@pytest.mark.parametrize(
    ("name", "n_questions", "n_rejected"),
    [
        ("official-format/hotpot_dev_distractor_v1.slice50.json", 50, 0),
        ("official-format/hotpot_dev_fullwiki_v1.slice50.json", 19, 31),
        ("official-format/hotpot_train_v1.1.slice50.json", 50, 0),
        ("official-format/hotpot_qa_hf_validation.slice50.jsonl", 50, 0),
        ("hotpotqa_stratified.jsonl.gz", 867, 0),
        # No contexts: for closed-book use.
        ("hotpotqa_dev_questions.jsonl.gz", 7405, 0),
    ],
)
def test_real_files_load(name, n_questions, n_rejected):
    loaded = load_hotpotqa(str(SHARED / name))
    assert (len(loaded.questions), len(loaded.rejected)) == (n_questions, n_rejected)
    assert len({passage.id for passage in loaded.corpus}) == len(loaded.corpus)
    for question in loaded.questions:
        assert all(question.sentence(id).text for id in question.supporting)
        assert question.tags["n_facts"] == len(question.supporting)


@shared
def test_the_stratified_file_has_its_published_cells():
    cells = {}
    for question in load_hotpotqa(str(SHARED / "hotpotqa_stratified.jsonl.gz")).questions:
        cell = question.tags["type"], question.tags["n_facts"]
        cells[cell] = cells.get(cell, 0) + 1
    assert cells == {
        ("bridge", 2): 200,
        ("bridge", 3): 200,
        ("bridge", 4): 156,
        ("comparison", 2): 200,
        ("comparison", 3): 82,
        ("comparison", 4): 29,
    }
