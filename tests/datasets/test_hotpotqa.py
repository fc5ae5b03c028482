import gzip
import json

import polars
import pytest

from shaketable.datasets import hotpotqa
from shaketable.datasets.hotpotqa import load_hotpotqa
from shaketable.errors import DataError
from shaketable.retrievers.gold import Gold
from shaketable.types import Query

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
    with pytest.raises(DataError, match=r"no question is left of 3. First, hotpot.json record 1 \(q2\): .*Delta"):
        load_hotpotqa(write(tmp_path, *bad))


def test_a_record_without_its_facts_can_be_kept_for_closed_book(tmp_path):
    facts = [["Delta", 0], ["Beta", 0]]
    loaded = load_hotpotqa(
        write(tmp_path, RECORD, {**RECORD, "_id": "q2", "supporting_facts": facts}), unresolved="keep"
    )
    whole, unresolved = loaded.questions
    assert "unresolved" not in whole.tags
    assert unresolved.gold_titles == ("Delta", "Beta")
    assert unresolved.supporting == ()
    assert unresolved.tags == {"type": "comparison", "level": "hard", "n_facts": 2, "unresolved": True}
    assert [remark.where for remark in loaded.remarks] == ["hotpot.json record 2 (q2)"]
    # Half of the facts is no gold evidence: the retriever gives none, and the trial says so.
    assert Gold().search([Query(text="?", question=unresolved)], 5) == [[]]
    with pytest.raises(DataError, match=r"unresolved is 'drop', expected 'reject' or 'keep'"):
        load_hotpotqa(write(tmp_path, RECORD), unresolved="drop")


def test_a_page_given_twice_counts_once_and_two_pages_of_one_title_are_rejected(tmp_path):
    twice = {**RECORD, "context": [*RECORD["context"], RECORD["context"][1]]}
    torn = {**RECORD, "_id": "q2", "context": [*RECORD["context"], ["Gamma", ["Another."]]]}
    loaded = load_hotpotqa(write(tmp_path, twice, torn), unresolved="keep")
    assert [document.id for document in loaded.questions[0].documents] == ["Alpha", "Gamma", "Beta"]
    assert [rejected.reason for rejected in loaded.rejected] == ["two documents are titled 'Gamma'."]


def test_broken_records_are_listed_and_stop_nothing(tmp_path):
    without = {key: value for key, value in RECORD.items() if key != "answer"}
    uneven = {**HUB_RECORD, "supporting_facts": {"title": ["Alpha"], "sent_id": []}}
    broken = {
        "'answer' is missing.": without,
        "it has no accepted answer.": {**RECORD, "answer": " "},
        "'context' is 3, expected a valid list.": {**RECORD, "context": 3},
        "'context' is a text that is no JSON.": {**RECORD, "context": "[["},
        "'supporting_facts' has 1 values of title and 0 of sent_id.": uneven,
        "the question is empty.": {**RECORD, "question": ""},
        "found 7, expected an object with the keys id, question, answer, type, level, supporting_facts, context.": 7,
        "the id 'good' was already used in hotpot.json record 1.": {**RECORD, "_id": "good"},
    }
    loaded = load_hotpotqa(write(tmp_path, {**RECORD, "_id": "good"}, *broken.values()))
    assert [question.id for question in loaded.questions] == ["good"]
    assert [rejected.reason for rejected in loaded.rejected] == list(broken)
    with pytest.raises(DataError, match=r"hotpot.json: no question is left of 0. First, it has no rows. Known layouts"):
        load_hotpotqa(write(tmp_path))
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
