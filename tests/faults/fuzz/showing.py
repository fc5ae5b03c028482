"""What people see: terminal, JSON, pages and addresses, on arbitrary text."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import shutil
from random import Random
from typing import Any

from faults.fuzz.layouts import ANSWER, ANSWER_PLAIN, OWN
from faults.fuzz.mutation import as_lines, file
from faults.fuzz.studies import override, study_bytes
from faults.fuzz.target import Target, scratch, written
from faults.fuzz.texts import is_one_in, short, text, value
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from shaketable.cli import console
from shaketable.cli.app import app
from shaketable.errors import ShaketableError
from shaketable.stages.import_answers import import_answers
from shaketable.store import Run
from shaketable.text.unseen import UNSEEN
from shaketable.viewer.pages import RunSite

STYLES = re.compile(r"\x1b\[[\d;]*m")
"""What colors a terminal, which is our own."""
BROKEN_OUT = ("<script>alert(1)", "<img src=x", '" onmouseover="alert')


def tells(given: str) -> None:
    """Nothing of a text steers a terminal, and no bracket in it is markup."""
    stream = io.StringIO()
    shown = console.SafeConsole(file=stream, force_terminal=True, width=80)
    table = Table("answer", title=given)
    table.add_row(given)
    for renderable in (given, Text(given, style="bold"), table):
        shown.print(renderable, highlight=False)
    plain = STYLES.sub("", stream.getvalue())
    assert not UNSEEN.search(plain)
    plain.encode("utf-8")


def tells_json(given: Any) -> None:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        console.print_json(given)
    written_text = stream.getvalue()
    assert not UNSEEN.search(written_text)
    written_text.encode("utf-8")
    assert repr(json.loads(written_text)) == repr(json.loads(json.dumps(given, default=str)))


# --- pages ----------------------------------------------------------------------------------------


def run_of(rows: list[dict[str, Any]], name: str) -> Run:
    folder = scratch() / name
    shutil.rmtree(folder, ignore_errors=True)
    return import_answers(written(f"{name}.jsonl", as_lines(rows)), folder).run


@functools.cache
def site() -> RunSite:
    return RunSite([run_of([ANSWER, ANSWER_PLAIN], "looked-at")])


STEPS = (
    "run",
    "looked-at",
    "records",
    "records.json",
    "questions",
    "question",
    "record",
    "report",
    "compare",
    "static",
)


def warm_site() -> None:
    """The drawing library takes a second to import."""
    site().reply(["run", "looked-at", "report"], {})


ASKED = ("page", "sort", "order", "words", "metric", "outcome", "question", "model", "first", "second")


def address(rng: Random) -> tuple[list[str], dict[str, str]]:
    steps = [short(rng) if is_one_in(rng, 4) else rng.choice(STEPS) for _ in range(rng.randrange(5))]
    if is_one_in(rng, 2):
        steps = ["run", "looked-at", rng.choice(STEPS[2:]), *steps[:1]]
    asked = {
        short(rng) if is_one_in(rng, 4) else rng.choice(ASKED): short(rng) if is_one_in(rng, 2) else digits(rng)
        for _ in range(rng.randrange(4))
    }
    return steps, asked


def digits(rng: Random) -> str:
    many = "9" * rng.choice((0, 1, 2, 9, 20, 5000))
    return rng.choice((many, f"000000001{many}", f"-{many}", f"{many}.5", f"{many}1"))


def serves(given: tuple[list[str], dict[str, str]]) -> None:
    with contextlib.suppress(ShaketableError):
        reply = site().reply(*given)
        _check_page(reply.body.decode("utf-8"), is_page=reply.kind.startswith("text/html"))


def _check_page(body: str, *, is_page: bool = True) -> None:
    assert not is_page or not any(mark in body for mark in BROKEN_OUT)
    assert not is_page or not UNSEEN.search(body)


def shows(given: tuple[str, str, str, str]) -> None:
    """Pages of a run whose texts are anything."""
    question, gold, answer, model = (one.encode("utf-8", "replace").decode() for one in given)
    row = {
        "question_id": question or "q",
        "question": question,
        "gold": gold if gold.strip() else "A",
        "answer": answer,
    }
    run = run_of([row | {"model": model or "m"}, {**row, "model": "other", "answer": None}], "hostile")
    pages = RunSite([run])
    try:
        [key, _] = run.records()["key"]
        for steps in ([], ["records"], ["questions"], ["record", key], ["question", row["question_id"]]):
            _check_page(pages.reply(["run", "hostile", *steps], {}).body.decode("utf-8"))
    finally:
        pages.close()


# --- commands -------------------------------------------------------------------------------------


def command(rng: Random) -> tuple[list[str], bytes]:
    """Words for the command line, and the file that they name as FILE."""
    word = short(rng).lstrip("-") if is_one_in(rng, 2) else rng.choice(("demo", "FILE", "formality", "RUN"))
    match rng.randrange(9):
        case 0:
            return ["validate", "FILE", "--set", override(rng)], study_bytes(rng, "demo")
        case 1:
            return ["run", "FILE", "--dry-run", "--json"], study_bytes(rng, "query_variation")
        case 2:
            return ["import", "FILE", "--out", "OUT"], file(rng, [ANSWER, ANSWER_PLAIN])
        case 3:
            named = rng.choice(("unchanged", "word_reordering", "sentence_removal"))
            return ["perturb", named, "--dataset", "jsonl", "--path", "FILE"], file(rng, [OWN])
        case 4:
            return ["vary", "prefix_injection", text(rng)[:300].lstrip("-")], b""
        case 5:
            return [rng.choice(("prompts", "ls", "show", "verify", "export", "report", "check")), word], b""
        case 6:
            return ["show", "RUN", word], b""
        case 7:
            return ["export", "RUN", "--table", rng.choice(("records", "scores", "x"))], b""
        case _:
            return ["check", "RUN", "--max-drop", word], b""


WARMING = (["validate", "demo"], ["vary", "prefix_injection", "Who?"], ["run", "demo", "--dry-run"], ["ls"])
"""What loads a model or a table of words."""


@functools.cache
def looked_at() -> Run:
    return run_of([ANSWER, ANSWER_PLAIN], "commanded")


def commanded(given: tuple[list[str], bytes]) -> None:
    """A command ends by itself: with what was asked for, or with words and an exit code."""
    argv, content = given
    shutil.rmtree(out := scratch() / "out", ignore_errors=True)
    places = {"FILE": str(written("given.file", content)), "OUT": str(out), "RUN": str(looked_at().folder)}
    result = CliRunner().invoke(app, [places.get(word, word) for word in argv])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2, 100, 101), result.exit_code
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output


TARGETS = (
    Target(name="terminal", make=text, holds=tells),
    Target(name="json_output", make=value, holds=tells_json),
    Target(name="viewer_addresses", make=address, holds=serves, warm=warm_site),
    Target(
        name="viewer_texts", make=lambda rng: (short(rng), short(rng), text(rng), short(rng)), holds=shows, warm=site
    ),
    Target(
        name="commands",
        make=command,
        holds=commanded,
        warm=lambda: [commanded((argv, b"")) for argv in WARMING],
        longest_seconds=30.0,  # A report is a command, too.
    ),
)
