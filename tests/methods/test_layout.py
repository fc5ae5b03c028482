"""The plain layout: every method asks models without a chat template by one text that goes on."""

from dataclasses import replace

import pytest
from by_hand import drive, hit

from shaketable import catalog
from shaketable.methods.asking import before_next_block, laid_out
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY, SearchO1
from shaketable.types import Generate, Message, Probe

WORDING = "Whom did Zeus meet?"
HITS = [hit("Zeus met Leda.")]
EVERY_METHOD = sorted(set(catalog.known("method")) - {"as_asked"})
"""`as_asked` asks pipelines, which make their own prompts."""


@pytest.mark.weights
@pytest.mark.parametrize("name", EVERY_METHOD)
def test_every_method_asks_in_the_plain_layout(name):
    method = catalog.build("method", f"{name}(layout='plain')")
    driven = drive(method, WORDING, ["He met Leda.", "So the answer is Leda."], hits=HITS)
    asked = driven.of(Generate)
    assert asked
    assert {step.layout for step in asked} == {"plain"}
    assert {len(step.messages) for step in asked} == {1}, "turns would run into each other"
    assert {step.layout for step in driven.of(Probe) if step.before} <= {"plain"}


@pytest.mark.weights
@pytest.mark.parametrize("name", EVERY_METHOD)
def test_every_method_asks_by_chat_unless_it_is_told(name):
    driven = drive(catalog.build("method", name), WORDING, ["He met Leda.", "So the answer is Leda."], hits=HITS)
    assert {step.layout for step in driven.of(Generate)} == {"chat"}


@pytest.mark.parametrize("name", ["single_retrieval", "query_rewrite"])
@pytest.mark.parametrize(
    ("settings", "evidence"),
    [
        ("", "Zeus met Leda.\n\nHera met Io."),
        ("joined=True", "Zeus met Leda. Hera met Io."),
        ("with_titles=True", "T: Zeus met Leda.\n\nT: Hera met Io."),
    ],
)
def test_passages_stay_apart_in_a_prompt(name, settings, evidence):
    method = catalog.build("method", f"{name}({settings})")
    hits = [replace(own, passage=replace(own.passage, title="T")) for own in (*HITS, hit("Hera met Io."))]
    driven = drive(method, WORDING, ["Leda"], hits=hits)
    assert f"\n\nDocument: {evidence}\n\nQuery: {WORDING}" in driven.of(Generate)[-1].messages[0].content


@pytest.mark.parametrize("name", ["closed_book", "single_retrieval", "query_rewrite"])
def test_what_a_model_invents_after_its_answer_is_no_answer(name):
    method = catalog.build("method", f"{name}(layout='plain')")
    reply = " Leda.\n\nQuery: Whom did Hera meet?\n\nAnswer: Io."
    driven = drive(method, WORDING, [reply], hits=HITS)
    assert driven.answer.text == "Leda."
    assert driven.of(Generate)[-1].messages[0].content.endswith(f"Query: {WORDING}\n\nAnswer:")


def test_a_conversation_as_one_text():
    turns = (("user", "Question: a?"), ("assistant", "A."), ("user", "Question: b?"))
    messages = tuple(Message(role=role, content=content) for role, content in turns)
    [plain] = laid_out(messages, "plain")
    assert plain.content == "Question: a?\nAnswer: A.\n\nQuestion: b?\nAnswer:"
    [going] = laid_out((*messages, Message(role="assistant", content="B is ")), "plain")
    assert going.content == f"{plain.content} B is "
    assert laid_out(messages, "chat") == messages


@pytest.mark.parametrize(
    ("reply", "kept"),
    [("Leda", "Leda"), ("Leda\nQuery: x", "Leda"), ("Query: x", ""), ("My Query: x", "My Query: x"), ("", "")],
)
def test_a_reply_ends_before_the_next_block(reply, kept):
    assert before_next_block(reply) == kept


def test_search_o1_reads_documents_and_boxes_its_own_answer_alone():
    replies = [
        f"I search. {BEGIN_QUERY} Zeus {END_QUERY}",
        "Zeus met Leda.\nQuestion: more?",
        r"So \boxed{Leda}." + "\n\nQuestion: Whom did Hera meet?\n" + r"\boxed{Io}",
    ]
    driven = drive(SearchO1(layout="plain"), WORDING, replies, hits=HITS)
    _, reading, last = [step.messages[0].content for step in driven.of(Generate)]
    assert reading.endswith("\nAnswer: Helpful facts:")
    assert "<|begin_search_result|>Zeus met Leda.<|end_search_result|>" in last
    assert driven.answer.text == "Leda"
