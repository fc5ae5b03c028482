"""Which datasets chain facts, as the study of query variation tells them apart."""

import pytest

from shaketable.datasets.builtin import load_builtin
from shaketable.datasets.reading.hops import hops_of
from shaketable.types import Question


@pytest.mark.parametrize(
    ("dataset", "tags", "hops"),
    [
        ("squad", {}, "single_hop"),
        ("nq_open", {}, "single_hop"),
        ("triviaqa", {"n_facts": 3}, "single_hop"),
        ("hotpotqa", {}, "multi_hop"),
        ("2wikimultihopqa", {}, "multi_hop"),
        ("musique", {"hops": 4}, "multi_hop"),
        ("adaptive_rag nq", {"subset": "nq"}, "single_hop"),
        ("adaptive_rag", {"subset": "2wikimultihopqa"}, "multi_hop"),
        ("jsonl", {"hops": 1}, "single_hop"),
        ("jsonl", {}, None),
    ],
)
def test_the_dataset_tells_whether_its_questions_chain_facts(dataset, tags, hops):
    question = Question(id="q", text="Who?", answers=("a",), dataset=dataset, tags=tags)
    assert hops_of(question) == hops


@pytest.mark.parametrize(("part", "hops"), [("multihop", "multi_hop"), ("facts", "single_hop")])
def test_the_built_in_questions_say_so_too(part, hops):
    assert {hops_of(question) for question in load_builtin(part=part).questions} == {hops}
