"""LangChain runnables and LlamaIndex query engines, by the real libraries: what they take, and what they are asked."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from shaketable.models.calling.adapters import Refused, adapt
from shaketable.models.calling.outcome import read_outcome

SHOWN = RunnableLambda(lambda prompt: prompt.to_string())


def test_a_chain_of_a_prompt_takes_what_the_prompt_names():
    chain = PromptTemplate.from_template("{context} | {question}") | SHOWN
    adapted = adapt(chain, "chain")
    assert adapted.takes == {"context"}
    assert adapted.call("Who?", {"context": "Evidence"}) == "Evidence | Who?"


def test_the_question_may_be_called_otherwise_and_history_too():
    prompt = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("user", "{input}")])
    adapted = adapt(prompt | SHOWN, "chain")
    assert adapted.takes == {"history"}
    history = [{"role": "user", "content": "Before"}, {"role": "assistant", "content": "Yes"}]
    told = adapted.call("Who?", {"history": history})
    assert "Before" in told
    assert told.endswith("Human: Who?")


def test_a_chain_of_a_text_takes_what_is_configurable():
    model = FakeListLLM(responses=["one", "two"]).configurable_fields(sleep=ConfigurableField(id="temperature"))
    seen = []

    def watch(text, config):
        seen.append((text, config["configurable"].get("temperature")))
        return text

    chain = {"question": RunnablePassthrough() | watch} | PromptTemplate.from_template("{question}") | model
    adapted = adapt(chain, "chain")
    assert adapted.takes == {"temperature"}
    assert adapted.call("Who?", {"temperature": 0.0}) == "one"
    assert seen == [("Who?", 0.0)]


def test_what_a_chain_is_told_to_take_reaches_it_by_its_configuration():
    def disturbed(text, config):
        return " ".join(one.page_content for one in config["configurable"]["disturb"]([Document(page_content=text)]))

    adapted = adapt(RunnableLambda(disturbed), "chain", ("disturb",))
    assert adapted.takes == {"disturb"}
    assert adapted.call("Who?", {"disturb": lambda documents: documents * 2}) == "Who? Who?"


def test_a_message_is_read_with_its_tokens():
    message = AIMessage("Paris", usage_metadata={"input_tokens": 9, "output_tokens": 2, "total_tokens": 11})
    assert read_outcome(message) == {"text": "Paris", "prompt_tokens": 9, "tokens": 2}


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{topic} {style}", "takes style, topic, and none of them is the question"),
        ("{question} {style}", "needs style, which nothing gives"),
    ],
)
def test_a_chain_that_cannot_be_asked_is_told_why(template, told):
    with pytest.raises(Refused, match=told):
        adapt(PromptTemplate.from_template(template) | SHOWN, "chain")


class Retriever(BaseRetriever):
    def _retrieve(self, query_bundle):
        texts = ("Paris is old.", "Rome too.")
        return [NodeWithScore(node=TextNode(id_=text, text=text), score=1.0) for text in texts]


def test_an_engine_hands_its_nodes_over_between_its_two_steps():
    engine = RetrieverQueryEngine.from_args(Retriever(), llm=MockLLM())
    adapted = adapt(engine, "engine")
    assert "disturb" in adapted.takes
    reply = adapted.call("Who is old?", {"disturb": lambda nodes: nodes[:1]})
    told = read_outcome(reply)
    assert [one["text"] for one in told["contexts"]] == ["Paris is old."]
    assert "Paris is old." in told["text"]  # A mock model repeats its prompt.
    assert "Rome" not in told["text"]


def test_an_engine_of_one_step_is_queried_as_it_is():
    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str):
            return Response(f"Nothing on {query_str}")

    adapted = adapt(Own(), "engine")
    assert adapted.takes == frozenset()
    assert read_outcome(adapted.call("Rome", {}))["text"] == "Nothing on Rome"
