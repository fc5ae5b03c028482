from collections import Counter
from importlib.resources import files

import pytest

from shaketable.datasets.builtin import load_builtin
from shaketable.errors import DataError

DATA = files("shaketable") / "resources" / "questions"
MULTIHOP = ("bridge_questions", "comparison_questions", "bridge_corpus", "comparison_corpus")


def needs(*names):
    absent = [name for name in names if not (DATA / f"{name}.jsonl").is_file()]
    return pytest.mark.skipif(bool(absent), reason=f"not written yet: {', '.join(absent)}")


@needs(*MULTIHOP)
def test_every_cell_of_the_multihop_questions_has_ten():
    questions = load_builtin().questions
    cells = Counter((question.tags["type"], question.tags["n_facts"]) for question in questions)
    assert set(cells) == {(type, n) for type in ("bridge", "comparison") for n in (2, 3, 4)}
    assert min(cells.values()) >= 10
    assert len({question.id for question in questions}) == len(questions)


@needs(*MULTIHOP)
def test_documents_come_from_the_corpus_and_hold_the_facts():
    loaded = load_builtin()
    corpus = {passage.id: passage for passage in loaded.corpus}
    assert len(corpus) == len(loaded.corpus) >= 240
    for question in loaded.questions:
        assert all(corpus[document.id] is document for document in question.documents)
        assert set(question.gold_titles) < {document.title for document in question.documents}
        assert all(question.sentence(id).text for id in question.supporting)
        assert question.answers and all(question.answers)
        assert question.tags["level"]


@needs(*MULTIHOP)
def test_every_replaced_fact_finds_a_donor_in_its_own_document():
    for question in load_builtin().questions:
        altered = question.supporting[len(question.supporting) - len(question.supporting) // 2 :]
        for document in question.documents:
            spare = [sentence for sentence in document.sentences if sentence.id not in question.supporting]
            wanted = [id for id in altered if id.startswith(f"{document.title}#")]
            assert len(spare) >= len(wanted), (question.id, document.title)


@needs("facts")
def test_there_are_two_hundred_facts_of_four_types():
    loaded = load_builtin(part="facts")
    assert len(loaded.questions) >= 200
    assert {question.tags["type"] for question in loaded.questions} == {"number", "place", "person", "entity"}
    assert len({question.id for question in loaded.questions}) == len(loaded.questions)
    assert all(question.answers and not question.documents for question in loaded.questions)
    assert loaded.corpus == ()


def test_a_path_or_an_unknown_part_is_refused():
    for part in ("multihop", "facts"):
        with pytest.raises(DataError, match=r"has no path, found 'mine.jsonl'.*'jsonl'"):
            load_builtin("mine.jsonl", part=part)
    with pytest.raises(DataError, match=r"no part 'fact'. Parts: multihop, facts"):
        load_builtin(part="fact")
