"""Runs go out as logs of other tools, and come back as they were."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import polars as pl
import pytest
from made_run import made_run
from made_studies import write_rows

from shaketable.errors import StudyError
from shaketable.stages.import_answers import import_answers
from shaketable.stages.interchange.inspect_writing import export_inspect
from shaketable.stages.interchange.lm_eval_writing import export_lm_eval
from shaketable.stages.score import score
from shaketable.store import Run

LOGS = Path(__file__).parent / "logs"
SAME = (
    *("dataset", "question_id", "question", "gold", "type", "model", "method", "retriever", "perturbation"),
    *("variation", "wording", "temperature", "repeat", "answer"),
)
INSPECT_PYTHON, LM_EVAL_PYTHON = "SHAKETABLE_INSPECT_PYTHON", "SHAKETABLE_LM_EVAL_PYTHON"
ROWS = [
    {
        "question_id": id, "question": f"Who wrote {id}?", "wording": wording, "gold": ["Ann", "Anna"], "model": "m/1",
        "answer": None if (id, repeat) == ("b", 1) else f"{said} {repeat}", "temperature": 0.5, "repeat": repeat,
        "working": "Let me think: Ann" if id == "a" else "", "variation": "typos", "perturbation": "unchanged",
        "tags": {"continent": "Asia", "rank": 3, "is_new": False}, "retriever": "bm25",
        "searches": [{"query": "who", "hits": [{"id": "1", "title": "Ann"}]}],
        **({"failure": "timeout", "failure_message": "120 s"} if (id, repeat) == ("b", 1) else {}),
    }
    for id, wording, said in (("a", "hwo wrote a", "Ann"), ("b", "woh wrote b", "Bob"), ("b", "b, wrote by", "Bea"))
    for repeat in range(2)
]  # fmt: skip
"""One condition, of which a question is worded twice."""


@pytest.fixture
def small(tmp_path) -> Run:
    run = import_answers(write_rows(tmp_path / "answers.jsonl", ROWS), tmp_path / "small").run
    score(run)
    return run


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Run:
    return made_run(tmp_path_factory.mktemp("hostile") / "run")


def same(run: Run) -> pl.DataFrame:
    return run.records().select(SAME).sort(SAME)


def tags_of(run: Run) -> dict[str, dict[str, object]]:
    ids = run.records()["question_id"].unique().to_list()
    return {question.id: dict(question.tags) for question in run.store.questions_of(ids)}


# --- round trips ------------------------------------------------------------------------------------


@pytest.mark.parametrize("export", [export_inspect, export_lm_eval])
def test_what_went_out_comes_back_as_it_was(export, hostile, small, tmp_path):
    for run in (hostile, small):
        out = tmp_path / f"logs-{run.folder.parent.name}"
        export(run, out)
        back = import_answers(out, tmp_path / f"back-{run.folder.parent.name}").run
        assert same(back).equals(same(run))
        assert tags_of(back) == tags_of(run)


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_one_condition_fits_one_inspect_log_with_failures_searches_and_working(small, tmp_path, ending):
    [log] = export_inspect(small, tmp_path / f"log.{ending}")
    back = import_answers(log, tmp_path / "back").run
    assert same(back).equals(same(small))
    ours, theirs = (list(run.store.records()) for run in (small, back))
    by_key = {record.trial.key: record for record in theirs}
    for record in ours:
        other = by_key[record.trial.key]
        assert (record.answer, record.failure) == (other.answer, other.failure)
        assert [e for e in record.trace if e.step == record.trace[0].step] == [other.trace[0]]


def test_the_same_run_gives_the_same_bytes(small, tmp_path):
    for name in ("a", "b"):
        export_inspect(small, tmp_path / f"{name}.eval")
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()


def test_several_conditions_do_not_fit_one_inspect_log(hostile, tmp_path):
    with pytest.raises(StudyError, match=r"this run has 18 conditions\. Give a folder"):
        export_inspect(hostile, tmp_path / "log.eval")
    files = export_inspect(hostile, tmp_path / "logs")
    assert len(files) == 18 and len({file.name for file in files}) == 18


def test_a_file_does_not_take_samples_of_lm_eval(small, tmp_path):
    with pytest.raises(StudyError, match="Give a folder"):
        export_lm_eval(small, tmp_path / "samples.jsonl")


# --- layout, compared with what the tools wrote -----------------------------------------------------


def names_in(value: object) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def test_an_inspect_log_has_the_fields_of_one_that_inspect_wrote(small, tmp_path):
    theirs = json.loads((LOGS / "inspect_0.3.140_capitals.json").read_text())
    export_inspect(small, tmp_path / "log.json")
    ours = json.loads((tmp_path / "log.json").read_text())
    assert names_in(ours) == names_in(theirs)
    assert names_in(ours["eval"]) - names_in(theirs["eval"]) == {"metadata"}
    sample = next(sample for sample in theirs["samples"] if sample["id"] == "France")
    assert names_in(ours["samples"][0]) == names_in(sample)
    [score] = [score for score in ours["results"]["scores"] if score["name"] == "contains"]
    assert names_in(score) == names_in(theirs["results"]["scores"][0])


def test_a_zipped_log_has_the_members_of_one_that_inspect_wrote(small, tmp_path):
    export_inspect(small, tmp_path / "log.eval")
    with (
        zipfile.ZipFile(tmp_path / "log.eval") as ours,
        zipfile.ZipFile(LOGS / "inspect_0.3.140_capitals.eval") as theirs,
    ):
        shared = {name for name in theirs.namelist() if not name.startswith(("samples/", "_journal/summaries"))}
        assert shared <= set(ours.namelist())
        assert "samples/b #2_epoch_2.json" in ours.namelist()
        fields = [set(json.loads(own.read("summaries.json"))[0]) for own in (ours, theirs)]
        assert fields[0] == fields[1]


def test_samples_have_the_fields_of_those_that_lm_eval_wrote(small, tmp_path):
    files = export_lm_eval(small, tmp_path / "out")
    theirs = next((LOGS / "lm_eval_0.4.13" / "capitals").glob("samples_*"))
    line = json.loads(theirs.read_text().splitlines()[0])
    ours = json.loads(files[0].read_text().splitlines()[0])
    scores = {"exact_match"}
    assert set(ours) - set(ours["metrics"]) == set(line) - scores
    assert set(ours["arguments"]["gen_args_0"]) == set(line["arguments"]["gen_args_0"])
    assert ours["resps"] == [["Ann 0", "Ann 1"]]
    results = json.loads(next((LOGS / "lm_eval_0.4.13" / "capitals").glob("results_*")).read_text())
    written = json.loads(files[-1].read_text())
    assert set(written) - {"shaketable_version"} <= set(results)
    [task] = written["results"]
    assert written["results"][task]["contains,none"] == pytest.approx(0.5)  # a: 1; b: 0, its failure aside


def test_means_count_each_question_once(small, tmp_path):
    export_inspect(small, tmp_path / "log.json")
    told = {score["name"]: score for score in json.loads((tmp_path / "log.json").read_text())["results"]["scores"]}
    contains = told["contains"]["metrics"]
    assert contains["mean"]["value"] == pytest.approx(0.5)
    assert contains["stderr"]["value"] == pytest.approx(0.5)  # Of 1 and 0: sd √½, over √2.


# --- the tools themselves ---------------------------------------------------------------------------

READ_INSPECT = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
told = []
for info in list_eval_logs(sys.argv[1]):
    log = read_eval_log(info.name)
    assert len(read_eval_log_sample_summaries(info.name)) == len(log.samples)
    for sample in log.samples:
        condition = log.eval.metadata["shaketable"]
        own = sample.metadata["shaketable"]["question_id"]
        told.append([own, log.eval.model, condition["perturbation"], log.plan.config.temperature, sample.epoch - 1,
                     None if sample.error else sample.output.completion])
print(json.dumps(told))
"""
READ_LM_EVAL = """
import glob, json, sys
from lm_eval.loggers.trackio_logger import _sample_to_trace
from lm_eval.utils import get_results_filenames, get_sample_results_filenames, get_file_task_name, make_table
files = glob.glob(sys.argv[1] + "/*/*")
[results] = get_results_filenames(files)
told = json.load(open(results))
print(make_table(told), file=sys.stderr)
samples = get_sample_results_filenames(files)
assert {get_file_task_name(file.rpartition("/")[2]) for file in samples} == set(told["results"])
print(json.dumps([json.loads(line)["resps"][0] for file in sorted(samples) for line in open(file)]))
"""


def asked(variable: str, code: str, folder: Path) -> object:
    """What another interpreter prints as JSON."""
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no interpreter that has the tool.")
    done = subprocess.run([python, "-c", code, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_inspect_reads_equal_answers(hostile, tmp_path):
    export_inspect(hostile, tmp_path / "logs")
    told = asked(INSPECT_PYTHON, READ_INSPECT, tmp_path / "logs")
    names = ("question_id", "model", "perturbation", "temperature", "repeat", "answer")
    rows = hostile.records().select(names).iter_rows()
    assert sorted(map(str, told)) == sorted(str(list(row)) for row in rows)


@pytest.mark.slow
def test_lm_eval_reads_equal_answers(small, tmp_path):
    export_lm_eval(small, tmp_path / "out")
    told = asked(LM_EVAL_PYTHON, READ_LM_EVAL, tmp_path / "out")
    assert sorted(map(str, told)) == sorted(map(str, [["Ann 0", "Ann 1"], ["Bob 0", None], ["Bea 0", None]]))


@pytest.mark.slow
@pytest.mark.parametrize(("variable", "tool"), [(INSPECT_PYTHON, "inspect"), (LM_EVAL_PYTHON, "lm-eval")])
def test_logs_that_the_tool_makes_now_bring_the_same_answers(variable, tool, tmp_path):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no interpreter that has {tool}.")
    maker = Path(__file__).parents[2] / "helpers" / "make_logs.py"
    subprocess.run([python, str(maker), tool, str(tmp_path / "logs")], check=True, capture_output=True)
    made, kept = (
        sorted(folder.rglob("*capitals*.json" if tool == "inspect" else "samples_capitals_*"))[0]
        for folder in (tmp_path / "logs", LOGS)
    )
    tables = [import_answers(file, tmp_path / f"run{n}").run for n, file in enumerate((made, kept))]
    assert same(tables[0]).equals(same(tables[1]))
