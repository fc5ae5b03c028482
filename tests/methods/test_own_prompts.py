"""Prompts and system messages that people bring: checked before anything runs, frozen with the run, and really sent."""

from __future__ import annotations

import dataclasses
import re

import pytest
from by_hand import drive, hit
from made_studies import row, write_rows

from shaketable import catalog
from shaketable.errors import PartError, RunError, StudyError
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY
from shaketable.stages.plan import plan
from shaketable.stages.run import run
from shaketable.store import Run
from shaketable.study import format_study, load_study, parse_study
from shaketable.types import Generate

WORDING = "Whom did {context} $meet?"
"""With what would be slots, were they in a prompt."""
HITS = [hit("Zeus met {question} Leda.")]
REPLIES = [f"I search. {BEGIN_QUERY} Zeus {END_QUERY}", "Helpful facts: Leda.", "So the answer is Leda. \\boxed{Leda}"]
QUICK = ("closed_book", "query_rewrite", "recall", "recall(k=2)", "search_o1", "single_retrieval")
QUICK += ("closed_book(n_examples=2)", "single_retrieval(n_examples=2)", "search_o1(task='single_hop', n_examples=1)")
IN_SENTENCES = ("dragin", "fixed_length", "fixed_sentence", "flare", "interleaved")
every_method = pytest.mark.parametrize(
    "text", [*QUICK, *(pytest.param(name, marks=pytest.mark.weights) for name in IN_SENTENCES)]
)
SHORT, LONG = "In a word: {context}\n{question}", "Think.\n{context}\n\n{question}\nAnswer:"


def with_settings(text: str, **settings: object) -> str:
    name, given = catalog.parse(text)
    return catalog.write(name, {**given, **settings})


def built(text: str, **settings: object):
    return catalog.build("method", with_settings(text, **settings))


def sent(method) -> list[tuple[str, str]]:
    driven = drive(method, WORDING, REPLIES, hits=HITS)
    return [(message.role, message.content) for step in driven.of(Generate) for message in step.messages]


def study_file(folder, *methods: str, models: tuple[str, ...] = ("scripted(replies=('Author 0', 'Rome'))",)):
    folder.mkdir(exist_ok=True)
    write_rows(folder / "questions.jsonl", [row(i) for i in range(2)])
    for name, text in (("short.txt", SHORT), ("long.txt", LONG)):
        (folder / name).write_text(text + "\n", "utf-8")
    listed = ", ".join(f'"{method}"' for method in methods)
    (folder / "study.toml").write_text(
        f'name = "prompts"\n[dataset]\nname = "jsonl"\npath = "questions.jsonl"\n'
        f"[cross]\nmodels = {list(models)!r}\nmethods = [{listed}]\n[generation]\nmax_tokens = 8\n",
        "utf-8",
    )
    return folder / "study.toml"


def keys(study) -> list[str]:
    return [trial.key for trial, _ in plan(study).trials()]


# --- what is sent ---------------------------------------------------------------------------------


@every_method
def test_a_prompt_as_it_is_printed_asks_exactly_what_the_method_asks(text):
    plain = built(text)
    own = built(text, **{setting: known.text for setting, known in plain.replaceable().items()})
    assert sent(own) == sent(plain)


@pytest.mark.parametrize("text", [*QUICK[:-1], *IN_SENTENCES])
def test_every_prompt_of_a_method_can_be_replaced(text):
    for setting, known in built(text).replaceable().items():
        slots = " ".join(f"{{{slot}}}" for slot in known.slots)
        method = built(text, **{setting: f"MINE {{{{x}}}} {slots}"})
        if text in IN_SENTENCES:  # Which of the two is asked depends on whether anything was found.
            messages = method.asked(WORDING, "", tuple(HITS) if setting == "prompt" else ())
            contents = [message.content for message in messages]
        else:
            contents = [content for _, content in sent(method)]
        filled = [content for content in contents if content.startswith("MINE {x} ")]
        assert any((WORDING if "question" in known.slots else "Zeus") in content for content in filled)


def test_slots_are_filled_once_and_doubled_braces_are_text():
    method = catalog.build("method", "single_retrieval(prompt='{{\"q\": {question}}} {context}')")
    assert sent(method) == [("user", '{"q": Whom did {context} $meet?} Zeus met {question} Leda.')]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "content", "problem"),
    [
        ("prompt", "{context}", "p.txt has no {question}; expected {context} and {question}."),
        ("prompt", "Hi", "p.txt has no {context} and no {question}; expected {context} and {question}."),
        (
            "prompt",
            "{context}\n{questoin}",
            "p.txt, line 2: found {questoin}; expected {context} and {question}. Did you mean 'question'? Where it is "
            "text, write {{questoin}}.",
        ),
        (
            "prompt",
            '{context} {question}\n{"answer": 1}',
            "p.txt, line 2: found a lone {; expected slots such as {context} and {question}. Write braces that are "
            "text twice: {{ and }}.",
        ),
        (
            "prompt",
            "{context} {question} }",
            "p.txt, line 1: found a lone }; expected slots such as {context} and {question}. Write braces that are "
            "text twice: {{ and }}.",
        ),
        (
            "prompt",
            "{context} {{question}}",
            "p.txt has no {question}; expected {context} and {question}; {{question}} with two braces is text.",
        ),
        ("prompt", " \n", "p.txt is empty; write the text into it."),
        ("system", "", "p.txt is empty; write the text into it."),
        ("system", b"Gr\xfc\xdfe", "byte 2 of p.txt is not UTF-8; save it as UTF-8."),
        ("system", "other.txt", "p.txt holds nothing but the name other.txt; name that file instead."),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_before_anything_runs(tmp_path, setting, content, problem):
    study = study_file(tmp_path, f"single_retrieval({setting}='p.txt')")
    (tmp_path / "p.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StudyError) as caught:
        plan(load_study(study))
    message = str(caught.value)
    assert message.endswith(problem)
    assert "cross.methods[0]: single_retrieval(" in message
    assert "file_texts" not in message


def test_a_file_that_is_not_there_is_named_with_where_it_was_looked_for(tmp_path):
    study = study_file(tmp_path, "closed_book", "single_retrieval(prompt='absent.txt')")
    with pytest.raises(StudyError) as caught:
        load_study(study)
    assert str(caught.value) == (
        f"{study}, cross.methods[1]: single_retrieval(prompt='absent.txt'): found no file absent.txt in the working "
        "folder nor beside the study; give the path of a text file, or the text itself."
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("closed_book(prompt='Hi')", "prompt: the text has no {question}; expected {question}."),
        ("closed_book(system=' ')", "system: found an empty text; write a message, or leave the setting out."),
        ("recall(k=2, prompt='{question}')", "prompt: the text has no {context}; expected {context} and {question}."),
        ("query_rewrite(query_prompt='{context}')", "query_prompt: the text, line 1: found {context}; expected"),
        ("closed_book(file_texts={'prompt': 'x'})", "file_texts has prompt, which names no file; leave it to the"),
        ("search_o1(prompt='{question}')", "prompt: the text has no {begin_query} and no {end_query}; expected"),
    ],
)
def test_a_text_that_is_no_prompt_is_refused_too(text, problem):
    with pytest.raises(PartError, match=re.escape(problem)):
        catalog.build("method", text, "cross.methods[0]")


# --- identity -------------------------------------------------------------------------------------


def test_keys_know_the_text_and_not_the_file(tmp_path):
    here, there = (study_file(tmp_path / name, "single_retrieval(prompt='short.txt')") for name in ("a", "b"))
    assert keys(load_study(here)) == keys(load_study(there))
    (there.parent / "short.txt").rename(there.parent / "other.md")
    there.write_text(there.read_text("utf-8").replace("short.txt", "other.md"), "utf-8")
    assert keys(load_study(here)) == keys(load_study(there))
    (there.parent / "other.md").write_text(SHORT + "!", "utf-8")
    assert not set(keys(load_study(here))) & set(keys(load_study(there)))


def test_a_prompt_as_text_and_in_a_file_are_one_system_and_a_system_message_makes_another(tmp_path):
    tables = {"name": "x", "dataset": {"name": "builtin", "limit": 1}}

    def study(method):
        return parse_study({**tables, "cross": {"models": ["scripted"], "methods": [method]}}, str(tmp_path / "s.toml"))

    (tmp_path / "p.txt").write_text(SHORT, "utf-8")
    in_file = keys(study("single_retrieval(prompt='p.txt')"))
    assert in_file == keys(study(f"single_retrieval(prompt={SHORT!r})"))
    assert in_file != keys(study("single_retrieval"))
    assert in_file != keys(study("single_retrieval(prompt='p.txt', system='Be brief.')"))


def test_a_method_without_prompts_of_ones_own_has_the_key_it_always_had():
    assert "prompt" not in catalog.spelled(catalog.build("method", "closed_book")).partition("@")[0]
    assert "system" not in catalog.spelled(catalog.build("method", "dragin")).partition("@")[0]


# --- a run ----------------------------------------------------------------------------------------


def test_two_prompts_are_two_systems_and_the_trace_holds_what_was_sent(tmp_path):
    study = load_study(
        study_file(
            tmp_path,
            "single_retrieval(name='short', prompt='short.txt', system='Be brief.')",
            "single_retrieval(name='long', prompt='long.txt', layout='plain', system='Be brief.')",
        )
    )
    made = run(study, tmp_path / "run")
    messages = {}
    for record in made.store.records():
        if record.trial.question_id == "q0":
            [asked] = [event.step for event in record.trace if isinstance(event.step, Generate)]
            messages[record.trial.method] = [(message.role, message.content) for message in asked.messages]
    evidence, wording = "Book 0 is by Author 0.\n\nAuthor 0 was born in Rome.", "Who wrote book 0?"
    assert messages == {
        "short": [("system", "Be brief."), ("user", f"In a word: {evidence}\n{wording}")],
        "long": [("user", f"Be brief.\n\nThink.\n{evidence}\n\n{wording}\nAnswer:")],
    }
    page = (made.folder / "report.html").read_text("utf-8")
    assert "<dd>long, short</dd>" in page
    assert "In a word: {context}" in page[page.index('id="method"') :], "The method chapter has the prompts themselves."


def test_a_run_holds_its_prompts_and_needs_no_file_any_more(tmp_path, monkeypatch):
    path = study_file(tmp_path / "a", "single_retrieval(prompt='short.txt')")
    made = run(load_study(path), tmp_path / "run")
    before = keys(load_study(path))
    (path.parent / "short.txt").write_text("Other: {context} {question}", "utf-8")
    with pytest.raises(RunError, match=r"holds the run of another study: methods was"):
        run(load_study(path), tmp_path / "run")
    (path.parent / "short.txt").unlink()
    monkeypatch.chdir(tmp_path)
    again = load_study(tmp_path / "run" / "study.toml")
    assert keys(again) == before
    assert {record.trial.key for record in Run(made.folder).store.records()} == set(before)
    assert format_study(again) == Run(tmp_path / "run").study_text


def test_a_study_made_in_python_freezes_its_prompts_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = study_file(tmp_path, "closed_book")
    (tmp_path / "mine.txt").write_text("Say: {question}", "utf-8")
    study = dataclasses.replace(load_study(path), methods=("closed_book(prompt='mine.txt')",))
    run(study, tmp_path / "run")
    (tmp_path / "mine.txt").unlink()
    assert keys(load_study(tmp_path / "run" / "study.toml"))
