"""Real files, where they are at hand: counts as their description gives them."""

from collections import Counter
from pathlib import Path

import pytest

from shaketable import catalog
from shaketable.types import Query

WHOLE = ("adaptive_rag", "musique", "nq_open")
"""Their documents come as one text each and support as a whole, so each is one fact of several sentences."""
SHARED = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data is not there")


def load(name, path, **settings):
    return catalog.find("dataset", name)(str(SHARED / path), **settings)


@pytest.mark.parametrize(
    ("name", "path", "n_questions", "n_rejected", "n_passages"),
    [
        ("hotpotqa", "official-format/hotpot_dev_distractor_v1.slice50.json", 50, 0, None),
        ("hotpotqa", "official-format/hotpot_dev_fullwiki_v1.slice50.json", 19, 31, None),
        ("hotpotqa", "official-format/hotpot_train_v1.1.slice50.json", 50, 0, None),
        ("hotpotqa", "official-format/hotpot_qa_hf_validation.slice50.jsonl", 50, 0, None),
        ("hotpotqa", "hotpotqa_stratified.jsonl.gz", 867, 0, None),
        # 7405 in all; of the answers "The The" and "!!!" SQuAD's normalization leaves nothing.
        ("hotpotqa", "hotpotqa_dev_questions.jsonl.gz", 7403, 2, 0),
        ("2wikimultihopqa", "official-format/2wikimultihopqa_dev.slice50.json", 50, 0, None),
        ("2wikimultihopqa", "2wikimultihopqa.jsonl.gz", 1000, 0, 6192),
        ("musique", "official-format/musique_ans_v1.0_dev.slice50.jsonl", 50, 0, None),
        ("musique", "musique.jsonl.gz", 449, 0, 7322),
        ("musique", "musique_full_unanswerable.jsonl", 54, 0, None),
        ("musique", "musique_dev_questions.jsonl.gz", 2417, 0, 0),
        ("squad", "official-format/squad_dev-v1.1.slice.json", 48, 0, None),
        ("squad", "official-format/noiseqa_keyboard_natural.slice.json", 74, 0, None),
        ("squad", "squad_v1.1_dev_2000.jsonl.gz", 2000, 0, 1306),
        ("nq_open", "official-format/NQ-open.dev.slice50.jsonl", 50, 0, 0),
        # 3610 in all; two have nothing but "---" and ")" for an answer.
        ("nq_open", "nq_open_dev.jsonl", 3608, 2, 0),
        ("nq_open", "nq_open_gold_passages.jsonl.gz", 2655, 0, 2600),
        ("triviaqa", "official-format/triviaqa-rc.web-train.slice.json", 3, 0, 0),
        ("triviaqa", "official-format/triviaqa-rc.web-dev.slice.json", 2, 0, 0),
        ("triviaqa", "official-format/triviaqa-rc.wikipedia-train.slice.json", 4, 0, 0),
        ("triviaqa", "official-format/triviaqa-rc.wikipedia-dev.slice.json", 2, 0, 0),
        ("triviaqa", "official-format/triviaqa_sample.json", 1, 0, 0),
        ("triviaqa", "official-format/triviaqa_dpr_test.slice50.tsv", 50, 0, 0),
        ("triviaqa", "triviaqa_dpr_test_3000.jsonl.gz", 3000, 0, 0),
        ("adaptive_rag", "adaptive_rag_test500/nq.jsonl", 500, 0, 0),
        ("adaptive_rag", "adaptive_rag_test500/squad.jsonl", 500, 0, 0),
        ("adaptive_rag", "adaptive_rag_test500/triviaqa.jsonl", 500, 0, 0),
        ("adaptive_rag", "adaptive_rag_test500/musique.jsonl", 500, 0, 0),
        ("adaptive_rag", "adaptive_rag_test500/hotpotqa.jsonl.gz", 500, 0, None),
        ("adaptive_rag", "adaptive_rag_test500/2wikimultihopqa.jsonl.gz", 500, 0, None),
        ("adaptive_rag", "official-format/adarague_hotpotqa_test.slice20.csv", 20, 0, None),
        ("adaptive_rag", "official-format/adarague_2wikimultihopqa_test.slice20.csv", 20, 0, None),
    ],
)
def test_real_files_load(name, path, n_questions, n_rejected, n_passages):
    loaded = load(name, path)
    assert (len(loaded.questions), len(loaded.rejected)) == (n_questions, n_rejected)
    assert len({passage.id for passage in loaded.corpus}) == len(loaded.corpus)
    if n_passages is not None:
        assert len(loaded.corpus) == n_passages
    for question in loaded.questions:
        assert question.answers or question.tags.get("unanswerable")
        assert all(question.sentence(id).text for id in question.supporting)
        facts = {id.rpartition("#")[0] for id in question.supporting} if name in WHOLE else question.supporting
        assert question.tags["n_facts"] == len(facts)


@pytest.mark.parametrize(
    ("name", "path", "n_undone"),
    [
        # Before documents were split, none of the 2,655 could be disturbed; the passages of 205 are one sentence.
        ("nq_open", "nq_open_gold_passages.jsonl.gz", 205),
        ("adaptive_rag", "adaptive_rag_test500/hotpotqa.jsonl.gz", 0),
        ("musique", "musique.jsonl.gz", 0),
    ],
)
def test_documents_that_come_as_one_text_can_be_disturbed(name, path, n_undone):
    questions = [question for question in load(name, path).questions if question.supporting]
    queries = [Query(text=question.text, question=question) for question in questions]
    found = catalog.build("perturbation", "sentence_removal(mode='last_half')").perturb(
        questions, catalog.build("retriever", "gold").search(queries, 5)
    )
    assert sum(not evidence.edits for evidence in found) == n_undone
    assert sum(len(question.supporting) == 1 for question in questions) == n_undone


def test_fullwiki_keeps_every_question_for_closed_book_use():
    loaded = load("hotpotqa", "official-format/hotpot_dev_fullwiki_v1.slice50.json", unresolved="keep")
    unresolved = [question for question in loaded.questions if question.tags.get("unresolved")]
    assert (len(loaded.questions), len(unresolved), len(loaded.rejected)) == (50, 31, 0)
    assert all(question.gold_titles and not question.supporting for question in unresolved)


def test_the_stratified_file_has_its_published_cells():
    questions = load("hotpotqa", "hotpotqa_stratified.jsonl.gz").questions
    assert Counter((question.tags["type"], question.tags["n_facts"]) for question in questions) == {
        ("bridge", 2): 200,
        ("bridge", 3): 200,
        ("bridge", 4): 156,
        ("comparison", 2): 200,
        ("comparison", 3): 82,
        ("comparison", 4): 29,
    }


def test_types_and_hops_have_their_published_counts():
    types = Counter(question.tags["type"] for question in load("2wikimultihopqa", "2wikimultihopqa.jsonl.gz").questions)
    assert types == {"compositional": 413, "comparison": 267, "bridge_comparison": 235, "inference": 85}
    hops = Counter(question.tags["hops"] for question in load("musique", "musique.jsonl.gz").questions)
    assert hops == {2: 298, 3: 103, 4: 48}


@pytest.mark.parametrize("name", ["hotpotqa", "2wikimultihopqa"])
def test_the_printed_table_and_the_converted_lines_agree(name):
    # The lines were converted from the same table by other code.
    table = load("adaptive_rag", f"official-format/adarague_{name}_test.slice20.csv").questions
    lines = {
        question.id: question for question in load("adaptive_rag", f"adaptive_rag_test500/{name}.jsonl.gz").questions
    }
    for question in table:
        other = lines[question.id]
        assert (question.text, question.answers, question.supporting) == (other.text, other.answers, other.supporting)
        assert question.documents == other.documents


def test_the_answer_of_every_squad_question_stands_in_its_facts():
    for question in load("squad", "squad_v1.1_dev_2000.jsonl.gz").questions:
        facts = " ".join(question.sentence(id).text for id in question.supporting)
        assert "".join(question.answers[0].split()) in "".join(facts.split())
