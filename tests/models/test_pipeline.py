"""Pipelines: real code in real processes, and what happens when it does not behave."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace

import pytest

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.models.calling import python
from shaketable.models.calling.process import Process
from shaketable.models.calling.target import model_of
from shaketable.types import Completion, Failure, Hit, Message, Passage, Prompt, Sampling, Sentence

CODE = """
import asyncio, dataclasses, os, sys, time

print("imported")


def answer(question, context="", temperature=None, seed=None):
    print("noise", file=sys.stderr)
    print("more noise")
    return f"{question}|{context}|{temperature}|{seed}"


async def later(question, contexts):
    await asyncio.sleep(0)
    return {"text": question, "contexts": contexts, "calls": 3, "tokens": 7, "prompt_tokens": 11, "cost": 0.5}


class Engine:
    def __call__(self, question, history):
        return " / ".join(turn["content"] for turn in history) + " / " + question


engine = Engine()


@dataclasses.dataclass
class Reply:
    text: str
    contexts: list


def as_object(question):
    return Reply(text="yes", contexts=[{"text": "One. Two.", "title": "Numbers", "id": "n1"}])


def hands_over(question, disturb):
    back = disturb([{"text": "Alpha is first. It is a letter.", "title": "Alpha"}, {"text": "Beta.", "title": "Beta"}])
    return " + ".join(one["text"] for one in back)


def misbehaves(question):
    if question == "none":
        return None
    if question == "number":
        return 42
    if question == "empty":
        return "  "
    if question == "coroutine":
        return {"text": asyncio.sleep(0)}
    if question == "raise":
        raise KeyError("boom")
    if question == "exit":
        sys.exit(3)
    if question == "gone":
        os._exit(7)
    if question == "abort":
        os.abort()
    if question == "signal":
        os.kill(os.getpid(), 40)
    if question == "hang":
        time.sleep(60)
    if question == "fork":
        os.fork()
        return str(os.getpid())
    if question == "forked and gone":
        if os.fork() == 0:
            time.sleep(60)
        os._exit(1)
    if question == "closes":
        os.close(1)
        sys.stdout = None
        return "closed"
    if question == "reads":
        return input()
    return str(os.getpid())


def wants_more(question, user_id):
    return "x"


def near(question, temprature):
    return "x"


def nothing():
    return "x"


class Kind:
    def __call__(self, question):
        return "x"


value = {"a": 1}
"""


def prompt(text, *, temperature=0.0, seed=1, history=(), hits=()):
    turns = [Message(role=role, content=content) for role, content in history]
    return Prompt(
        messages=(*turns, Message(role="user", content=text)),
        sampling=Sampling(temperature=temperature, max_tokens=16),
        seed=seed,
        hits=hits,
    )


def hit(text, rank=1):
    return Hit(
        passage=Passage(id=f"p{rank}", title="", sentences=(Sentence(id=f"p{rank}#0", text=text),)),
        rank=rank,
        score=None,
        source="gold",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")
    (folder / "own.py").write_text(CODE)
    return folder


@pytest.fixture
def made(folder):
    parts = []

    def make(name, **settings):
        part = replace(catalog.build("model", f"pipeline(python={str(folder / 'own.py') + ':' + name!r})"), **settings)
        parts.append(part)
        return part

    yield make
    for part in parts:
        part.close()


def ask(part, *prompts):
    return part.generate(list(prompts))


# --- what it is given and what it gives -----------------------------------------------------------


def test_a_function_is_given_what_its_signature_names(made):
    part = made("answer")
    assert part.takes == {"context", "temperature", "seed"}
    (reply,) = ask(part, prompt("Who?", temperature=0.7, seed=5, hits=(hit("One."), hit("Two.", 2))))
    assert reply.text == "Who?|One.\n\nTwo.|0.7|5"
    assert reply.decoding == {"temperature": 0.7, "seed": 5}
    assert reply.notes == ("usage_estimated",)


def test_an_async_function_tells_contexts_calls_tokens_and_cost(made):
    (reply,) = ask(made("later"), prompt("Who?", hits=(hit("One."), hit("Two.", 2))))
    assert (reply.text, reply.n_calls, reply.n_tokens, reply.n_prompt_tokens, reply.dollars) == ("Who?", 3, 7, 11, 0.5)
    assert [found.passage.text for found in reply.hits] == ["One.", "Two."]


def test_an_object_that_can_be_called_gets_the_conversation(made):
    (reply,) = ask(made("engine"), prompt("And then?", history=[("user", "Who?"), ("assistant", "Ann.")]))
    assert reply.text == "Who? / Ann. / And then?"


def test_a_conversation_is_not_asked_of_a_pipeline_that_takes_none(made):
    (reply,) = ask(made("answer"), prompt("And then?", history=[("user", "Who?"), ("assistant", "Ann.")]))
    assert isinstance(reply, Failure) and reply.kind == "refused_setting"


def test_an_object_may_be_returned(made):
    (reply,) = ask(made("as_object"), prompt("Who?"))
    assert reply.text == "yes"
    assert [(found.passage.id, found.passage.title, found.passage.text) for found in reply.hits] == [
        ("n1", "Numbers", "One. Two.")
    ]


def test_what_it_hands_over_comes_back(made):
    """Outside of a study nothing is disturbed."""
    part = made("hands_over")
    assert part.takes == {"disturb"}
    (reply,) = ask(part, prompt("Who?"))
    assert reply.text == "Alpha is first. It is a letter. + Beta."


def test_what_it_hands_over_may_come_back_changed(made):
    part = made("hands_over")
    part.submit(1, prompt("Who?"))
    ((ticket, waiting),) = part.collect()
    assert (ticket, waiting.waits, waiting.n_calls, waiting.text) == (1, True, 0, "")
    second = waiting.hits[1]
    part.submit(1, prompt("Who?", hits=(second, hit("New.", 3))))
    ((_, reply),) = part.collect()
    assert reply.text == "Beta. + New."


# --- containment ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "kind", "words"),
    [
        ("none", "bad_reply", "it returned None; expected the answer as text"),
        ("number", "bad_reply", "it returned int: 42; expected"),
        ("empty", "bad_reply", "it returned an empty text"),
        ("coroutine", "bad_reply", "its 'text' is a coroutine that nobody awaited"),
        ("raise", "pipeline", "KeyError: 'boom'"),
        ("exit", "exited", "it called sys.exit(3)"),
        ("gone", "exited", "its process ended with exit code 7"),
        ("abort", "exited", "its process was ended by SIGABRT"),
        pytest.param(
            "signal",
            "exited",
            "its process was ended by signal 40",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="real-time signals are Linux's"),
        ),
        ("reads", "pipeline", "EOFError"),
        ("forked and gone", "exited", "its process ended with exit code 1"),
    ],
)
def test_what_goes_wrong_is_one_failure_and_the_next_is_answered(made, question, kind, words):
    failed, fine = ask(made("misbehaves"), prompt(question), prompt("fine"))
    assert isinstance(failed, Failure)
    assert failed.kind == kind
    assert words in failed.message
    assert isinstance(fine, Completion)


def test_what_nobody_thought_of_is_one_failure_and_the_next_is_answered(made, monkeypatch):
    refused = [OSError(24, "Too many open files \udce9")]

    def start(*given):
        if refused:
            raise refused.pop()
        return Process(*given)

    monkeypatch.setattr(python, "Process", start)
    part = made("misbehaves")
    ask(part, prompt("gone"))  # The next question needs a process of its own.
    failed, fine = ask(part, prompt("fine"), prompt("fine"))
    assert (failed.kind, failed.may_retry) == ("pipeline", True)
    assert failed.message == "it cannot be asked (OSError: [Errno 24] Too many open files ?)"
    assert isinstance(fine, Completion)


def test_a_process_whose_reply_cannot_be_read_is_ended(made, monkeypatch):
    part = made("misbehaves")
    [before] = ask(part, prompt("fine"))
    with monkeypatch.context() as broken:
        broken.setattr(python, "completion_of", lambda *given: 1 // 0)
        [failed] = ask(part, prompt("fine"))
    [after] = ask(part, prompt("fine"))
    assert failed.message == "it cannot be asked (ZeroDivisionError: integer division or modulo by zero)"
    assert before.text != after.text
    assert not is_alive(int(before.text))


def test_one_that_hangs_is_ended_and_the_next_is_answered(made):
    started = time.monotonic()
    failed, fine = ask(made("misbehaves", time_limit=0.5), prompt("hang"), prompt("fine"))
    assert (failed.kind, failed.may_retry) == ("timeout", True)
    assert "within 0.5 seconds" in failed.message
    assert isinstance(fine, Completion)
    assert time.monotonic() - started < 50


def test_a_forked_copy_answers_nothing(made):
    replies = ask(made("misbehaves"), prompt("fork"), prompt("fine"), prompt("fine"))
    assert len({reply.text for reply in replies}) == 1  # one process answered them all


def test_what_it_prints_is_counted_and_stays_out_of_the_terminal(made, capfd, caplog):
    part = made("answer")
    with caplog.at_level("INFO"):
        ask(part, prompt("Who?"), prompt("Where?"))
        part.close()
    assert capfd.readouterr() == ("", "")
    (line,) = caplog.messages
    assert "printed 5 lines" in line


def test_one_that_closes_its_output_still_answers(made):
    closed, fine = ask(made("misbehaves"), prompt("closes"), prompt("fine"))
    assert (closed.text, isinstance(fine, Completion)) == ("closed", True)


def test_several_processes_answer_at_once(made):
    replies = ask(made("misbehaves", concurrency=2), *(prompt("fine") for _ in range(40)))
    assert 1 <= len({reply.text for reply in replies}) <= 2


def test_closing_ends_the_processes(made):
    part = made("misbehaves", time_limit=50.0)
    (reply,) = ask(part, prompt("fine"))
    part.submit(1, prompt("hang"))
    part.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and is_alive(int(reply.text)):
        time.sleep(0.05)
    assert not is_alive(int(reply.text))


def is_alive(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


# --- refused before the run -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anser", "has no 'anser'. Did you mean 'answer'? It has answer, later,"),
        ("wants_more", "wants_more(question, user_id) needs 'user_id', which nothing gives. Beside the question"),
        ("near", "needs 'temprature', which nothing gives. Did you mean 'temperature'?"),
        ("nothing", "nothing() takes no question. Its first parameter is the question"),
        ("Kind", "'Kind' is a class. Name an instance of it"),
        ("value", "'value' is dict, which cannot be called."),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(made, name, words):
    with pytest.raises(PartError) as refused:
        _ = made(name).takes
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import nothing_like_this", "cannot be imported: line 1: ModuleNotFoundError: No module named"),
        ("def answer(question:\n    return 1", "cannot be imported: line 1: SyntaxError"),
        ("import sys\nsys.exit(4)", "calls sys.exit(4) when it is imported"),
        ("import os\nos._exit(9)", "While its code was imported, its process ended with exit code 9"),
    ],
)
def test_code_that_cannot_be_imported_is_refused_in_words(tmp_path, code, words):
    file = tmp_path / "broken.py"
    file.write_text(code)
    with pytest.raises(PartError) as refused:
        _ = catalog.build("model", f"pipeline(python={str(file) + ':answer'!r})").takes
    assert words in str(refused.value)


def test_a_file_that_is_not_there_is_named_with_its_neighbour(folder):
    part = catalog.build("model", f"pipeline(python={str(folder / 'owm.py') + ':answer'!r})")
    with pytest.raises(PartError, match=r"There is no file .*owm.py. Did you mean 'own.py'\?"):
        catalog.spelled(part)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pipeline()", "give python='app.py:answer' or http='https://…', and not both"),
        ("pipeline(python='app.py')", "expected a file and a name in it, such as app.py:answer"),
        ("pipeline(python='my app:answer')", "'my app' is neither a file of Python nor a module"),
        ("pipeline(python='a.py:b', parameters=('heat',))", "parameters has 'heat'."),
        ("pipeline(python='a.py:b', time_limit=0.0)", "must be above 0"),
        ("pipeline(python='a.py:b', headers={'A': 'b'})", "are of requests"),
        ("pipeline(http='example.org')", "expected a web address, such as https://example.org/ask"),
        ("pipeline(http='https://u:p@example.org')", "http holds a secret"),
        ("pipeline(http='https://example.org?api_key=1')", "http holds a secret"),
        *(
            (f"pipeline(http='https://e.org/ask?v=1&{name}=hidden')", "headers={'Authorization': 'Bearer ${MY_TOKEN}'}")
            for name in ("sig", "code", "pwd", "pass", "password", "accessCode", "X-Amz-Signature", "api%5fKey", "AUTH")
        ),
        ("pipeline(http='https://e.org/ask?x=sk-hidden')", "http holds a secret"),
        ("pipeline(http='http://evil。com/ask')", "Its host is written with the letters a to z"),
        ("pipeline(http='https://e.org', headers={'Authorization': 'Bearer sk-1'})", "is written out"),
        ("pipeline(http='https://e.org', headers={'a b': 'c'})", "a name has characters that no header has"),
        ("pipeline(http='https://e.org', template='{\"q\": {question}}')", 'Write "{question}" in quotes'),
        ("pipeline(http='https://e.org', template='{\"q\": \"{qestion}\"}')", "Did you mean 'question'?"),
        ("pipeline(http='https://e.org', template='{\"q\": \"hello\"}')", "template has no {question}"),
        ("pipeline(http='https://e.org', answer='$..text[*]')", "expected a path of names and numbers"),
    ],
)
def test_wrong_settings_are_refused_in_words(text, words):
    with pytest.raises(PartError) as refused:
        catalog.build("model", text)
    assert words in str(refused.value)
    assert "sk-1" not in str(refused.value).replace(text, "")


@pytest.mark.parametrize("query", ["", "?", "?passage=1&zipcode=2&design=3&mode=fast", "?q=the+key"])
def test_a_query_that_holds_no_secret_is_taken(query):
    assert catalog.build("model", f"pipeline(http='https://e.org/ask{query}')")


# --- keys and targets -----------------------------------------------------------------------------


def test_the_key_has_what_the_file_holds_and_not_where_it_is(tmp_path):
    texts = {"a/app.py": CODE, "b/app.py": CODE, "c/app.py": CODE + "\n# changed"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    same, copy, other = (
        catalog.spelled(catalog.build("model", f"pipeline(python={str(tmp_path / name) + ':answer'!r})"))
        for name in texts
    )
    assert same == copy != other
    named = f"pipeline(python={str(tmp_path / 'a/app.py') + ':answer'!r}, revision='2')"
    assert catalog.spelled(catalog.build("model", named)) != same


def test_a_module_is_found_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("raise SystemError('imported')")
    (tmp_path / "shop" / "rag.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    part = catalog.build("model", "pipeline(python='shop.rag:answer')")
    assert "answer in " in catalog.spelled(part)
    with pytest.raises(PartError, match=r"There is no module 'shop.rug': 'rug' is not in shop"):
        catalog.spelled(catalog.build("model", "pipeline(python='shop.rug:answer')"))


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("app.py:answer", "pipeline(python='app.py:answer')"),
        ("src/my app.py:chain.run", "pipeline(python='src/my app.py:chain.run')"),
        ("package.module:name", "pipeline(python='package.module:name')"),
        ("https://example.org/ask", "pipeline(http='https://example.org/ask')"),
        ("smollm2", "smollm2"),
        ("openai(model='gpt-4o', base_url='http://h:1/v1')", "openai(model='gpt-4o', base_url='http://h:1/v1')"),
    ],
)
def test_a_target_becomes_a_model_of_a_study(target, text):
    assert model_of(target) == text
