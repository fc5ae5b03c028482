from shaketable.methods.recall import EXEMPLARS, Recall
from shaketable.types import Completion, Evidence, Generate, Hit, Passage, Search, Sentence


def completion(text):
    return Completion(text=text, finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0.0)


def hit(text):
    passage = Passage(id="p", title="P", sentences=(Sentence(id="p/0", text=text),))
    return Hit(passage=passage, rank=1, score=None, source="gold")


def test_closed_book_nothing_is_searched_for_and_no_passage_is_shown():
    assert not Recall().searches
    step = next(Recall().answer("Who?"))
    assert isinstance(step, Generate)
    assert all("Passage" not in message.content for message in step.messages)
    assert step.messages[-1].content == "Question: Who?\nAnswer briefly."


def test_with_passages_both_examples_have_one_under_the_same_labels():
    method = Recall(k=3)
    assert method.searches
    steps = method.answer("Who?")
    assert next(steps) == Search(query="Who?", k=3)
    step = steps.send(Evidence(hits=(hit("Ann did it."),)))
    users = [message.content for message in step.messages if message.role == "user"]
    passages = [EXEMPLARS[0][0], EXEMPLARS[1][0], "Ann did it."]
    assert [text.splitlines()[0] for text in users] == [f"Passage: {passage}" for passage in passages]
    closed = [message.content for message in next(Recall().answer("Who?")).messages if message.role == "user"]
    assert [text.split("\n", 1)[1] for text in users] == closed
    try:
        steps.send(completion(" Ann\nand more"))
    except StopIteration as end:
        assert (end.value.text, len(end.value.hits)) == ("Ann", 1)


def test_plain_lines_show_passages_too():
    steps = Recall(k=1, layout="plain").answer("Who?")
    next(steps)
    [message] = steps.send(Evidence(hits=(hit("Ann did it."),))).messages
    assert message.content.endswith("Passage: Ann did it.\nQuestion: Who?\nAnswer briefly.\nAnswer:")
    assert message.content.count("Passage: ") == 3
