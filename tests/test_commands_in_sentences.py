"""Commands that stand in a sentence are given too, with what a reader has in the place of names in capitals."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import page_commands
import pytest
import readers
from page_commands import Command
from readers import Desk, Shelf
from test_documentation import named_commands, wrong_commands
from test_documented_commands import PAGES, give

from shaketable.store import Run
from shaketable.study import load_study

NAMES = {
    "STUDY": "study.toml",
    "PAGE": "tutorial",
    "MODEL": "openai(model='gpt-4o-mini')",
    "FILE": "variants.jsonl",
    "…": "What is the capital of France?",
}
NAMES_OF = {"vary": {"NAME": "original"}, "models": {"NAME": "smollm2"}, "import": {"RUN": "imported"}}
"""Command → names that mean something else there. RUN is a run that is called so."""
SMALLER = {
    "demo": ("--limit", "1"),
    "run context_temperature --limit 60": (
        *("--limit", "1", "--set", "cross.temperatures=[0.0, 1.0]"),
        *("--set", "cross.repeats=1", "--set", "generation.max_tokens=8"),
    ),
}
"""Whole studies on the embedded model, which take minutes to hours."""
GOES_ON = "answer RUN --executor ray"
"""Of a run that was begun and has no answers; the others have a finished one."""
LONG = {*SMALLER, GOES_ON, "ls formality"}
WITH_WEIGHTS = {*SMALLER, "ls formality", "models fetch NAME", "doctor --endpoint MODEL"}
ENDS = {"doctor --endpoint MODEL": 1}
"""The endpoint that stands in ignores temperature and seed, and that is found out."""
ALONE = "the command's name alone; it is given with what it needs where its page has it in a block"
PUBLISHED = "it needs the models and data of the paper; tests/report/published runs the small one beside it"
NOT_GIVEN = {
    "annotate": ALONE,
    "validate": ALONE,
    "vary": ALONE,
    "run published/context_temperature": PUBLISHED,
    "run published/factual_robustness": PUBLISHED,
    "run published/query_variation": PUBLISHED,
}


def whole_commands(pages: Iterable[str], folder: Path) -> dict[str, list[str]]:
    """Those that have all they need; others are named alone, as in "`shaketable check` ends with 100"."""
    named = {" ".join(words): words for page in pages for words in named_commands(page)}
    return {text: words for text, words in sorted(named.items()) if _is_whole(words, folder)}


def _is_whole(words: list[str], folder: Path) -> bool:
    wrong = wrong_commands(f"```bash\nshaketable {shlex.join(filled(words))}\n```", folder)
    return not any("it needs" in one or "needs a value" in one for one in wrong)


def filled(words: list[str]) -> list[str]:
    names = NAMES | NAMES_OF.get(words[0], {})
    return [names.get(word, word) for word in words]


def commands_there() -> dict[str, list[str]]:
    """Of all pages but the examples' own, whose table `test_examples.py` runs; less what stands in a block too."""
    in_blocks = {one.text for text in PAGES.values() for one in page_commands.commands(text, "shaketable")}
    pages = [text for name, text in PAGES.items() if name != "examples/README.md"]
    with tempfile.TemporaryDirectory() as folder:
        there = whole_commands(pages, Path(folder))
    return {text: words for text, words in there.items() if f"shaketable {text}" not in in_blocks}


THERE = commands_there()


def each_command() -> Iterator[object]:
    for text, words in THERE.items():
        if text not in NOT_GIVEN:
            marks = [pytest.mark.slow] * (text in LONG) + [pytest.mark.weights] * (text in WITH_WEIGHTS)
            yield pytest.param(words, id=text, marks=marks)


def has_what_sentences_name(desk: Desk) -> None:
    readers.has_questions_and_a_key(desk)
    readers.write_app(desk.folder)
    priced = "scripted(replies=('Paris',), price_in=0.15, price_out=0.6)"
    readers.write_study(desk.folder / "study.toml", changes={readers.OWN_APP: priced})
    for place in ("RUN", "runs/monday", "runs/friday", "runs/old", "runs/new", "runs/whole"):
        desk.shelf.put("good", desk.folder / place)
    row = {"question_id": "q", "question": "Where was Ann Lee born?", "gold": "Manchester", "answer": "In Manchester."}
    (desk.folder / "ANSWERS.jsonl").write_text(json.dumps(row) + "\n", "utf-8")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return Shelf(tmp_path_factory.mktemp("shelf"))


@pytest.mark.parametrize("words", list(each_command()))
def test_a_command_in_a_sentence_does_what_it_says(words, shelf, tmp_path, monkeypatch):
    desk = Desk(folder=tmp_path, shelf=shelf)
    text = " ".join(words)
    with desk.leaving:
        has_what_sentences_name(desk)
        if text not in WITH_WEIGHTS:
            desk.environment["SHAKETABLE_HOME"] = str(tmp_path / "home")
        for name, value in {"SHAKETABLE_OFFLINE": "1", **desk.environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        key = Run("RUN").records()["key"][0]
        if text == GOES_ON:
            shutil.rmtree("RUN")
            Run.prepare("RUN", load_study("study.toml"))
        given = [key if word == "KEY" else word for word in [*filled(words), *SMALLER.get(text, ())]]
        give(Command(line=0, words=("shaketable", *words)), given, ENDS.get(text, 0))
        assert Run("RUN").summary().done == 48


def test_what_is_said_of_commands_is_of_those_that_are_there():
    assert {*LONG, *WITH_WEIGHTS, *ENDS, *NOT_GIVEN} <= THERE.keys()
    assert len(THERE) >= 25


# --- the checks themselves ------------------------------------------------------------------------


def test_a_name_alone_is_told_from_a_whole_command(tmp_path):
    page = "`shaketable check` and `shaketable verify RUN`, or `shaketable compare --out`; `shaketable ls`."
    assert list(whole_commands([page], tmp_path)) == ["ls", "verify RUN"]


def test_names_in_capitals_are_what_a_reader_has():
    assert filled(["import", "ANSWERS.jsonl", "--out", "RUN"]) == ["import", "ANSWERS.jsonl", "--out", "imported"]
    assert filled(["verify", "RUN"]) == ["verify", "RUN"]
    assert filled(["validate", "STUDY"]) == ["validate", "study.toml"]
