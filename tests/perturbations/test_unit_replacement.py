import pytest

from shaketable.errors import PartError
from shaketable.perturbations.unit_replacement import UnitReplacement
from shaketable.retrievers.distractor import Distractor
from shaketable.types import Query


def ids(evidence):
    return [sentence.id for hit in evidence.hits for sentence in hit.passage.sentences]


def titles(evidence):
    return [hit.passage.title for hit in evidence.hits]


@pytest.fixture
def record(example):
    return example(facts=[("Alpha", 0), ("Beta", 0)], others=[("C", ["C0.", "C1."]), ("D", ["D0."])])


@pytest.fixture
def whole(record):
    (hits,) = Distractor().search([Query(text="?", question=record)], 0)
    return hits


@pytest.mark.parametrize(
    ("pool", "donors"),
    [
        ("same_title", {"Beta#1", "Beta#2", "Beta#3"}),
        ("same_record", {"Alpha#1", "Alpha#2", "Alpha#3", "C#0", "C#1", "D#0"}),
    ],
)
def test_the_later_half_of_the_facts_gives_way_to_its_pool(record, shake, pool, donors):
    drawn = set()
    for seed in range(80):
        evidence = shake(UnitReplacement(pool=pool, seed=seed), record)
        first, second = ids(evidence)
        assert first == "Alpha#0"
        assert evidence.edits[0].note == f"{pool}: {second}"
        drawn.add(second)
    assert drawn == donors


def test_the_corpus_gives_sentences_that_the_record_does_not_have(record, shake):
    evidence = shake(UnitReplacement(pool="corpus"), record)
    assert ids(evidence)[1].rpartition("#")[0] not in {document.title for document in record.documents}
    with pytest.raises(PartError, match="Unknown dataset 'nothing'"):
        shake(UnitReplacement(pool="corpus", corpus="nothing"), record)


def test_hits_above_give_sentences(record, whole, shake):
    position = ids_of(whole).index("C#0")
    drawn = {
        edit.note.partition(": ")[2]
        for seed in range(60)
        for edit in shake(UnitReplacement(pool="higher_ranked", index=position, seed=seed), record, whole).edits
    }
    # Of Alpha and Beta, less their supporting sentences.
    assert drawn == {f"{title}#{i}" for title in ("Alpha", "Beta") for i in (1, 2, 3)}


def ids_of(hits):
    return [sentence.id for hit in hits for sentence in hit.passage.sentences]


def test_one_unit_at_a_time(record, whole, shake):
    before = ids_of(whole)
    for index in range(len(before)):
        after = ids(shake(UnitReplacement(pool="corpus", index=index), record, whole))
        assert [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [index]
    assert shake(UnitReplacement(index=99), record, whole).flags == ("no_such_unit",)


def test_a_passage_of_the_record_takes_the_place_of_a_gold_one(record, shake, gold):
    drawn = set()
    for seed in range(30):
        evidence = shake(UnitReplacement(unit="passage", pool="same_record", seed=seed), record)
        first, second = evidence.hits
        assert first.passage.title == "Alpha"
        assert (second.rank, second.score, second.source) == (2, None, "unit_replacement")
        assert second.passage in record.documents
        drawn.add(second.passage.title)
    assert drawn == {"C", "D"}


def test_a_passage_from_the_corpus_comes_whole(record, whole, shake):
    evidence = shake(UnitReplacement(unit="passage", pool="corpus", index=2), record, whole)
    assert [title for i, title in enumerate(titles(evidence)) if i != 2] == ["Alpha", "Beta", "D"]
    new = evidence.hits[2].passage
    assert new.id == new.title != "C"
    assert [edit.kind for edit in evidence.edits] == ["remove"] * 2 + ["insert"] * len(new.sentences)


def test_a_passage_above_stands_twice(record, whole, shake):
    evidence = shake(UnitReplacement(unit="passage", pool="higher_ranked", index=3), record, whole)
    assert titles(evidence) == ["Alpha", "Beta", "C", "C"]


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        # A record has one passage for each title.
        ({"unit": "passage", "pool": "same_title"}, ("no_donor",)),
        # All that stands above is gold.
        ({"pool": "higher_ranked"}, ("no_donor",)),
        ({"unit": "passage", "pool": "higher_ranked"}, ("no_donor",)),
        ({"unit": "passage", "index": 2}, ("no_such_unit",)),
    ],
)
def test_a_unit_without_a_donor_stays_and_says_so(record, shake, gold, settings, flags):
    evidence = shake(UnitReplacement(**settings), record)
    assert evidence.hits == tuple(gold(record))
    assert evidence.flags == flags


def test_donors_are_not_drawn_twice(example, shake):
    question = example(beta=["B0.", "B1.", "B2."])
    evidence = shake(UnitReplacement(), question)
    assert evidence.flags == ("no_donor",)
    assert ids(evidence)[2:] == ["Beta#2", "Beta#1"]
