"""Wrong words in every new key and command: exit 2, and a message with its place, what was found and what to write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from made_answers import answer_rows, made_run
from typer.testing import CliRunner

from shaketable.cli.app import app

Validate = Callable[..., tuple[int, str]]
SECRET = "sk-0123456789"
UNKNOWN_HOME = "begins with the home of somebody unknown here. Give the whole path."
PIPELINES = {
    "": "give python='app.py:answer' or http='https://…', and not both",
    "python=5": "'python' is 5; input should be a valid string",
    "python=''": "python is ''; expected a file and a name in it, such as app.py:answer",
    "python='app.py'": "python is 'app.py'; expected a file and a name in it, such as app.py:answer",
    "python='ap.py:answer'": "There is no file ap.py. Did you mean 'app.py'? Give its path",
    "python='~nouser/app.py:answer'": "~nouser/app.py begins with the home of somebody unknown here. Give",
    "python='app.py:anser'": "app.py has no 'anser'. Did you mean 'answer'? It has answer",
    "python='app.py:answer', http='https://e.org'": "give python='app.py:answer' or http='https://…', and not both",
    "http=5": "'http' is 5; input should be a valid string",
    "http='ftp://e.org'": "http is no address; expected a web address, such as https://example.org/ask",
    f"http='https://me:{SECRET}@e.org'": "http holds a secret, or a parameter that is named like one, which would",
    "http='https://e.org', template=5": "'template' is 5; input should be a valid string",
    "http='https://e.org', template='x'": "template is not JSON: Expecting value at character 0",
    "http='https://e.org', template='{}'": "template has no {question}, so nothing would be asked; such as",
    "http='https://e.org', answer=5": "'answer' is 5; input should be a valid string",
    "http='https://e.org', answer=''": "answer is empty; expected a path such as $.answer, or $ for the whole reply",
    "http='https://e.org', answer='$..a[*]'": "answer is '$..a[*]'; expected a path of names and numbers, such as",
    "http='https://e.org', contexts=3": "'contexts' is 3; input should be a valid string",
    "http='https://e.org', contexts='$.'": "contexts is '$.'; expected a path of names and numbers, such as",
    "http='https://e.org', headers='x'": "'headers' is 'x'; input should be a valid dictionary",
    "http='https://e.org', headers={'A': 5}": "'headers' is {'A': 5}; input should be a valid string",
    f"http='https://e.org', headers={{'Authorization': '{SECRET}'}}": "'Authorization' is written out, and would be",
    "http='https://e.org', headers={'Authorization': '${NOT_SET}'}": "need the environment variable NOT_SET. Set it",
    "http='https://e.org', parameters=('seed',)": "parameters is of functions; an endpoint takes the slots of its",
    "python='app.py:answer', parameters=5": "'parameters' is 5; input should be a valid tuple",
    "python='app.py:answer', parameters='context'": "expected names, such as parameters=('context',)",
    "python='app.py:answer', parameters=('heat',)": "parameters has 'heat'. Known: context, contexts, history",
    "python='app.py:answer', parameters=('seed',)": "and answer(question, context='') does not take it. Take it out",
    "python='app.py:answer', template='{}'": "template, answer, contexts and headers are of requests",
    "python='app.py:answer', answer='$.x'": "template, answer, contexts and headers are of requests",
    "python='app.py:answer', time_limit=0.0": "time_limit is 0.0; it must be above 0, such as time_limit=120.0",
    "python='app.py:answer', time_limit=1e999": "time_limit is inf; it must be above 0, such as time_limit=120.0",
    "python='app.py:answer', time_limit='long'": "'time_limit' is 'long'; input should be a valid number",
    "python='app.py:answer', concurrency=0": "concurrency is 0; it must be above 0, such as concurrency=2",
    "python='app.py:answer', concurrency=1.5": "'concurrency' is 1.5; input should be a valid integer",
    "python='app.py:answer', attempts=-1": "attempts is -1; it must be above 0, such as attempts=4",
    "python='app.py:answer', revision=5": "'revision' is 5; input should be a valid string",
    "python='app.py:answer', tim_limit=5.0": "pipeline has no setting 'tim_limit'. Did you mean 'time_limit'?",
    "python='app.py:answer', name=''": "name is ''; a name is not empty. Give a short name of its own",
    "python='app.py:answer', name=5": "name is 5; a name is a text. Give a short name of its own",
    "python='app.py:answer', name='smollm2'": "'smollm2' is a model of the catalog, and would be taken for it",
}
ENDPOINTS = {
    "send_temperature='no'": "'send_temperature' is 'no'; input should be a valid boolean",
    "extra_body='x'": "'extra_body' is 'x'; input should be a valid dictionary",
    "extra_body={'temperature': 1}": "extra_body has 'temperature', which the study and the other settings decide",
    "headers='x'": "'headers' is 'x'; input should be a valid dictionary",
    f"headers={{'api-key': '{SECRET}'}}": "'api-key' is written out, and would be stored with every record. Put it",
    "headers={'a b': 'x'}": "a name has characters that no header has. Write {'X-Team': 'search'}",
    "api_version=5": "'api_version' is 5; input should be a valid string",
    "api_version='2024-10-21'": "has an api_version and no address. For Azure give base_url=",
    "reasoning_effort=5": "'reasoning_effort' is 5; input should be a valid string",
    "resoning_effort='low'": "openai has no setting 'resoning_effort'. Did you mean 'reasoning_effort'?",
    "price_in=-1.0": "price_in is -1.0; expected USD for a million tokens, such as price_in=0.15",
    f"base_url='https://e.org?key={SECRET}'": "which would be stored with every record. Put the key into",
    f"api_key_variable='{SECRET}'": "api_key_variable is the name of an environment variable, such as OPENAI_API_KEY",
}
METHODS = {
    "prompt=5": "'prompt' is 5; input should be a valid string",
    "prompt=''": "prompt: the text has no {context} and no {question}; expected {context} and {question}",
    "prompt='nope.txt'": "found no file nope.txt in the working folder nor beside the study; give the path of a text",
    "prompt='~nouser/x.txt'": "~nouser/x.txt begins with the home of somebody unknown here. Give the whole path.",
    "prompt='wrong.txt'": "wrong.txt, line 2: found {qestion}; expected {context} and {question}. Did you mean",
    "prompt='{context} {question'": "line 1: found a lone {; expected slots such as {context} and {question}. Write",
    "system=5": "'system' is 5; input should be a valid string",
    "system='nope.md'": "found no file nope.md in the working folder nor beside the study; give the path of a text",
    "promt='x'": "single_retrieval has no setting 'promt'. Did you mean 'prompt'?",
    "name='a\\nb'": "a name has no line breaks, and no white space around it. Give a short name of its own",
}
TABLES = {
    "limits.max_cost = -1": "found -1; input should be greater than 0",
    "limits.max_cost = '2 usd'": "found '2 usd'; input should be a valid number",
    "limits.max_cost = nan": "found nan, which is no number",
    "limits.max_calls = 0": "found 0; input should be greater than or equal to 1",
    "limits.max_calls = true": "found True; give a value that is neither true nor false",
    "limits.max_minutes = 'x'": "found 'x'; input should be a valid number",
    "limits.max_minute = 3": "unknown key 'max_minute'. Did you mean 'max_minutes'? Known keys: max_cost",
    "gate.min_accuracy = 'high'": "found 'high'; input should be a valid number",
    "gate.max_drop = -0.1": "found -0.1; input should be greater than or equal to 0",
    "gate.max_drop = true": "found True; give a value that is neither true nor false",
    "gate.max_flip_rate = 2": "found 2; input should be less than or equal to 1",
    "gate.min_breaking_temperature = -1": "found -1; input should be greater than or equal to 0",
    "gate.min_frs = '1'": "found '1'; input should be a valid number",
    "gate.max_cost = -1": "found -1; input should be greater than or equal to 0",
    "gate.max_failures = 2": "found 2; input should be less than or equal to 1",
    "gate.max_regression = 'x'": "found 'x'; input should be a valid number",
    "gate.confidence = 95": "found 95; input should be less than 1",
    "gate.undecided = 'maybe'": "found 'maybe'; input should be 'pass' or 'fail'",
    "gate.max_dorp = 0.1": "unknown key 'max_dorp'. Did you mean 'max_drop'? Known keys: min_accuracy",
    "shake.screened = 0": "found 0; input should be greater than or equal to 1",
    "shake.screened = 'x'": "found 'x'; input should be a valid integer",
    "shake.screend = 5": "unknown key 'screend'. Did you mean 'screened'?",
}


def told(*words: object) -> tuple[int, str]:
    """Exit code and message in one line, without the frame that usage errors have; never a traceback."""
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.stderr
    return done.exit_code, " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split())


@pytest.fixture
def validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Validate:
    """Checks a study of these lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    (tmp_path / "app.py").write_text("def answer(question, context=''):\n    return 'x'\n")
    (tmp_path / "wrong.txt").write_text("{context}\n{qestion}\n")

    def check(*, models: str = "scripted", methods: str = "closed_book", more: str = "") -> tuple[int, str]:
        lines = ['name = "wrong"', more, "dataset.name = 'builtin'", "dataset.limit = 2"]
        lines += [f"cross.models = [{json.dumps(models)}]", f"cross.methods = [{json.dumps(methods)}]"]
        (tmp_path / "study.toml").write_text("\n".join(lines))
        return told("validate", "study.toml")

    return check


@pytest.mark.parametrize("settings", PIPELINES)
def test_a_pipeline(validate: Validate, settings: str) -> None:
    code, words = validate(models=f"pipeline({settings})")
    assert code == 2
    assert "cross.models" in words and PIPELINES[settings] in words
    assert SECRET not in words


@pytest.mark.parametrize("settings", ENDPOINTS)
def test_an_endpoint(validate: Validate, settings: str) -> None:
    code, words = validate(models=f"openai(model='m', {settings})")
    assert code == 2
    assert "cross.models" in words and ENDPOINTS[settings] in words
    assert SECRET not in words


@pytest.mark.parametrize("settings", METHODS)
def test_a_prompt(validate: Validate, settings: str) -> None:
    code, words = validate(methods=f"single_retrieval({settings})")
    assert code == 2
    assert "cross.methods[0]" in words and METHODS[settings] in words


@pytest.mark.parametrize("line", TABLES)
def test_a_table_of_a_study(validate: Validate, line: str) -> None:
    code, words = validate(more=line)
    assert code == 2
    assert f"study.toml, {line.split(' =')[0]}: {TABLES[line]}" in words


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong") / "run"
    made_run(folder, answer_rows([1, 0] * 6, method="short") + answer_rows([1] * 12, method="long"))
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare RUN nowhere", "'nowhere' does not exist"),
        ("compare RUN --systems short", "Option '--systems' requires 2 arguments"),
        ("compare RUN --systems short lng", "has no system 'lng'. Did you mean 'long'? Its systems: 'theirs · short'"),
        ("compare RUN --systems long long", "'long' and 'long' are the same system. Name two."),
        ("compare RUN --metric contain", "--metric is 'contain'. Did you mean 'contains'? Numbers of all runs"),
        ("compare RUN --margin much", "margin is 'much'"),
        ("compare RUN --margin -1", "margin is -1"),
        ("compare RUN --margin nan", "margin is nan"),
        ("compare RUN --out page.pdf", "--out is 'page.pdf'; expected the name of a page, such as 'page.html'."),
        ("compare RUN --out FOLDER.html", "which is a folder. Name a file in it, such as"),
        ("check RUN", "there is nothing to check. Give a base with --against, or a threshold such as --max-drop 0.1"),
        ("check RUN --min-accuracy high", "Invalid value for '--min-accuracy'"),
        ("check RUN --min-accuracy 70", "gate.min_accuracy is 70, and correctness is a share, from 0 to 1. For 70 %"),
        ("check RUN --min-accuracy nan", "gate.min_accuracy: found nan; input should be a finite number"),
        ("check RUN --max-failures 2", "gate.max_failures: found 2.0; input should be less than or equal to 1"),
        ("check RUN --max-drop 0.1", "gate.max_drop"),
        ("check RUN --confidence 95 --min-accuracy 0.5", "gate.confidence: found 95.0; input should be less than 1"),
        ("check RUN --undecided maybe --min-accuracy 0.5", "'maybe' is not one of 'pass', 'fail'"),
        ("prompts nothing", "Unknown method 'nothing'."),
        ("prompts single_retrieval --setting promt", "has no prompt 'promt' to replace. Did you mean 'prompt'?"),
        ("prompts single_retrieval(k='x')", "'k' is 'x'; input should be a valid integer"),
        (
            "prompts single_retrieval(",
            "Cannot read the component 'single_retrieval('. Write name or name(",
        ),
        ("shake ~nouser/app.py:answer --data builtin --budget 20calls", f"TARGET: ~nouser/app.py {UNKNOWN_HOME}"),
        ("shake scripted --data ~nouser/q.csv --budget 20calls", f"~nouser/q.csv {UNKNOWN_HOME}"),
        ("init s.toml --data ~nouser/q.csv", f"~nouser/q.csv {UNKNOWN_HOME}"),
        ("perturb synonym --dataset jsonl --path ~nouser/q.jsonl", f"~nouser/q.jsonl {UNKNOWN_HOME}"),
        ("annotate --dataset csv --path ~nouser/q.csv --out o.jsonl", f"~nouser/q.csv {UNKNOWN_HOME}"),
        ("annotate --dataset squad --path ~nouser/q.json --out o.jsonl", f"~nouser/q.json {UNKNOWN_HOME}"),
        ("annotate --dataset hotpotqa --path ~nouser/q.json --out o.jsonl", f"~nouser/q.json {UNKNOWN_HOME}"),
        ("annotate --dataset table --path ~nouser/q.csv --out o.jsonl", f"~nouser/q.csv {UNKNOWN_HOME}"),
        ("annotate --agreement ~nouser/a.jsonl", f"~nouser/a.jsonl {UNKNOWN_HOME}"),
        ("vary frozen(path='~nouser/set.jsonl') Who?", f"~nouser/set.jsonl {UNKNOWN_HOME}"),
    ],
)
def test_a_command(run: Path, tmp_path: Path, words: str, message: str) -> None:
    (tmp_path / "page.html").mkdir()
    given = [word.replace("RUN", str(run)).replace("FOLDER", str(tmp_path / "page")) for word in words.split()]
    code, answer = told(*given)
    assert code == 2, answer
    assert message in answer


@pytest.mark.parametrize("command", ["doctor", "cache", "models", "run STUDY --out FOLDER"])
def test_a_cache_in_an_unknown_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    (tmp_path / "study.toml").write_text(
        'name = "s"\ndataset = { name = "builtin", limit = 2 }\n'
        'cross = { models = ["scripted"], methods = ["single_retrieval"], retrievers = ["bm25"] }\n'
    )
    monkeypatch.setenv("SHAKETABLE_HOME", "~nouser/x")
    given = command.replace("STUDY", str(tmp_path / "study.toml")).replace("FOLDER", str(tmp_path / "run")).split()
    code, answer = told(*given)
    assert code == 1, answer
    assert f"SHAKETABLE_HOME: ~nouser/x {UNKNOWN_HOME}" in answer


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("compare RUN --out page.pdf", "comparing"),
        ("compare RUN --systems long long", "comparing"),
        ("check RUN", "gate"),
        ("explain RUN nothing --repeats 2", "explaining"),
        ("shake nothing.py:answer --data questions.csv --budget 5", "shaking"),
    ],
)
def test_what_is_wrong_with_a_command_names_its_own_page(run: Path, words: str, page: str) -> None:
    code, answer = told(*(word.replace("RUN", str(run)) for word in words.split()))
    assert code == 2, answer
    assert f"More: shaketable docs {page}" in answer
