"""Characters that XML forbids, in names: the library that draws charts ends its whole process where one reaches it."""

from __future__ import annotations

import itertools
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from made_studies import row, write_rows

from shaketable.datasets.table import load_table
from shaketable.stages.import_answers import import_answers
from shaketable.store import Run
from shaketable.text.unseen import FORBIDDEN

CHARACTERS = "\x00\x01\x0b\x1b\ufffe"
DRAWN = """
import sys
from pathlib import Path
import altair as alt
import polars as pl
from shaketable.report.charts.drawing import draw_png, draw_svg
for code in [*range(0x21), *range(0x7f, 0xa0), 0x200b, 0x202e, 0x2028, *range(0xfff0, 0x10000), 0x1fffe, 0x10ffff]:
    name = f"a{chr(code)}b"
    rows = pl.DataFrame({"x": [1, 2], "name": [name, "other"]})
    chart = alt.Chart(rows, title=name).mark_bar().encode(x=alt.X("x", title=name), y="name")
    assert draw_svg(chart, "figure").startswith("<svg"), code
assert draw_png(chart)
"""
SERVED = """
import sys, threading, urllib.request
from pathlib import Path
from shaketable.store import Run
from shaketable.viewer.pages import RunSite
from shaketable.viewer.server import LocalServer
with LocalServer(RunSite([Run(Path(sys.argv[1]))])) as viewer:
    threading.Thread(target=viewer.serve_forever, daemon=True).start()
    for page in ("report", "records", "report"):
        address = f"http://127.0.0.1:{viewer.server_port}/run/{Path(sys.argv[1]).name}/{page}"
        assert urllib.request.urlopen(address, timeout=300).status == 200, page
    viewer.shutdown()
"""


def python(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=500, check=False)


def write_answers(path: Path, models: list[str], perturbations: list[str]) -> Path:
    rows = [
        {
            "question_id": f"q{n}", "question": f"Where is {n}?", "gold": "Oslo", "type": f"type{CHARACTERS}",
            "answer": "Oslo" if (n + place) % 3 else "Rome", "model": model, "perturbation": perturbation,
        }
        for n in range(8)
        for place, (model, perturbation) in enumerate(itertools.product(models, perturbations))
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def texts_of(run: Run) -> set[str]:
    """Every name in the records of a run."""
    records = run.records(("model", "perturbation", "question_id"))
    tags = [str(value) for question in run.store.questions() for value in question.tags.values()]
    return {str(value) for column in records for value in column.unique()} | set(tags)


def test_nothing_that_is_drawn_ends_the_process() -> None:
    drawn = python("-c", DRAWN)
    assert drawn.returncode == 0, drawn.stderr[-2000:]


def test_names_are_clean_after_an_import(tmp_path: Path) -> None:
    models, perturbations = [f"m{c}m" for c in CHARACTERS], ["unchanged", *(f"p{c}p" for c in CHARACTERS)]
    run = import_answers(write_answers(tmp_path / "a.jsonl", models, perturbations), tmp_path / "run").run
    names = texts_of(run)
    assert not [name for name in names if FORBIDDEN.search(name)]
    assert {"m m", "m[U+0000]m", "p[U+FFFE]p"} <= names  # They are still told apart.


@pytest.mark.slow
def test_imported_names_do_not_stop_a_report(tmp_path: Path) -> None:
    models, perturbations = [f"m{c}m" for c in CHARACTERS], ["unchanged", *(f"p{c}p" for c in CHARACTERS)]
    answers = write_answers(tmp_path / "a.jsonl", models, perturbations)
    for words in (["import", answers, "--out", tmp_path / "run"], ["report", tmp_path / "run"]):
        done = python("-m", "shaketable", *words)
        assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "run/report.html").is_file()


def test_tags_of_a_table_are_clean(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('id,question,answer,ty\x0bpe\nq\x0b1,Who?,Ann,bridge\x0bx\nq2,Where?,Oslo,"a\x01b"\n')
    first, second = load_table(str(path), tags=["ty\x0bpe"]).questions
    assert first.id == "q 1" and first.tags["ty pe"] == "bridge x" and second.tags["ty pe"] == "a[U+0001]b"


@pytest.mark.slow
def test_types_of_a_dataset_do_not_stop_a_run(tmp_path: Path) -> None:
    rows = [row(n, type=f"bridge{CHARACTERS[n % 5]}x") for n in range(10)]
    path = write_rows(tmp_path / "questions.jsonl", rows)
    study = tmp_path / "study.toml"
    study.write_text(
        f"""
        name = "types"
        dataset = {{ name = "jsonl", path = {json.dumps(str(path))} }}
        cross = {{ models = ["scripted(replies=('a',))"], temperatures = [0.0, 1.0] }}
        score = {{ metrics = ["contains"] }}
        analyze = {{ analyses = ["correctness"], n_resamples = 99 }}
        """
    )
    done = python("-m", "shaketable", "run", study, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [name for name in texts_of(Run(tmp_path / "run")) if FORBIDDEN.search(name)]


def test_the_viewer_survives_names_of_a_strangers_run(tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "a.jsonl", ["one", "two"], ["unchanged", "removal"])
    run = import_answers(answers, tmp_path / "run").run
    run.store.close()
    with sqlite3.connect(run.folder / "records.sqlite") as connection:
        for column, character in (("model", "\x0b"), ("perturbation", "\x00"), ("method", "\ufffe")):
            connection.execute(f"UPDATE conditions SET {column} = {column} || ?", (character,))
        connection.execute("UPDATE questions SET tags = replace(tags, '[U+', '\\u000b')")
    served = python("-c", SERVED, run.folder)
    assert served.returncode == 0, served.stderr[-2000:]
