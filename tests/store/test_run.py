"""A run's folder: what may go into it, who may write, and what a killed run leaves."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import pytest
from made_studies import row, small_study, study_of, write_rows

from shaketable.errors import RunError, StoreError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import RecordStore, Run
from shaketable.store.counts import EmptyCount, FailureCount, UnscoredCount
from shaketable.store.verify import verify
from shaketable.study import load_study
from shaketable.types import Score

SLOW_MODEL = '''
import os
import time
from dataclasses import dataclass
from typing import ClassVar

from shaketable.types import Completion


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Takes a moment for each prompt, and writes down which it was asked."""

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def generate(self, prompts):
        replies = []
        for prompt in prompts:
            time.sleep(float(os.environ["SLOW_SECONDS"]))
            text = f"answer {prompt.seed % 97}"
            replies.append(Completion(text=text, finish_reason="end", n_prompt_tokens=1, n_tokens=2, seconds=0.001))
        with open(os.environ["SLOW_DIARY"], "a") as diary:
            diary.write("".join(f"{prompt.seed}\\n" for prompt in prompts))
        return replies

    def environment(self):
        return {"engine": "slow"}
'''


@pytest.fixture
def slow(tmp_path):
    """A model of another package, and a run that was prepared with it."""
    package = tmp_path / "package"
    info = package / "slow_model-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "slow_model.py").write_text(SLOW_MODEL)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[shaketable.models]\nslow = slow_model:Slow\n")
    rows = write_rows(tmp_path / "questions.jsonl", [row(n) for n in range(50)])
    study = study_of(
        rows,
        models=["slow"],
        perturbations=["unchanged", "sentence_replacement"],
        temperatures=[0.0, 0.5, 1.0, 1.5, 2.0],
        repeats=6,
    )
    return SlowRuns(tmp_path, study)


class SlowRuns:
    n_trials = 50 * 2 * 5 * 6

    def __init__(self, folder, study):
        self.folder, self.study = folder, study

    def prepare(self, name):
        return Run.prepare(self.folder / name, self.study)

    def start(self, run, seconds=0.001):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.folder / "package"), os.environ.get("PYTHONPATH", "")]),
            "SHAKETABLE_HOME": str(self.folder / "home"),
            "SLOW_SECONDS": str(seconds),
            "SLOW_DIARY": str(run.folder.with_suffix(".diary")),
        }
        command = [sys.executable, "-c", "from shaketable.cli import main; main()", "answer", str(run.folder), "--json"]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def diary(self, run):
        path = run.folder.with_suffix(".diary")
        return Counter(path.read_text().split()) if path.exists() else Counter()


def wait_for(condition, process, what):
    deadline = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, f"ended before {what}: {process.communicate()}"
        assert time.monotonic() < deadline, f"no {what} within five minutes"
        time.sleep(0.01)


def n_stored(path):
    try:
        with RecordStore(path, read_only=True) as store:
            return store.rows("SELECT COUNT(*) FROM records")[0][0]
    except (StoreError, sqlite3.Error):
        return 0


def contents(path):
    with RecordStore(path, read_only=True) as store:
        return {record.trial.key: record for record in store.records()}


@pytest.mark.slow
def test_a_run_killed_at_several_moments_ends_with_the_records_of_an_undisturbed_one(slow):
    calm = slow.prepare("calm")
    process = slow.start(calm, seconds=0)
    process.communicate(timeout=300)
    assert process.returncode == 0
    expected = contents(calm.records_path)
    assert len(expected) == slow.n_trials
    seeds = {str(record.trial.seed) for record in expected.values()}
    assert len(seeds) == slow.n_trials

    shaken = slow.prepare("shaken")
    path = shaken.records_path
    moments = [
        ("a file", path.exists),
        ("its first bytes", lambda: path.stat().st_size > 0),
        *((f"{n} records", lambda n=n: n_stored(path) >= n) for n in (1, 1000)),
    ]
    for what, reached in moments:
        process = slow.start(shaken)
        before = slow.diary(shaken)
        finished = {str(record.trial.seed) for record in contents(path).values()} if n_stored(path) else set()
        wait_for(reached, process, what)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not finished & set(slow.diary(shaken) - before), "finished trials were asked again"

    n_kept = n_stored(path)
    assert 1000 <= n_kept < slow.n_trials
    kept = contents(path)
    assert kept == {key: expected[key] for key in kept}
    with RecordStore(path, read_only=True) as store:
        verdict = verify(store)
    assert (verdict.problems, verdict.missing) == ((), slow.n_trials - n_kept)

    before = slow.diary(shaken)
    process = slow.start(shaken, seconds=0)
    said, complained = process.communicate(timeout=300)
    assert process.returncode == 0, complained
    assert f'"reused": {n_kept}' in said
    assert (slow.diary(shaken) - before).total() == slow.n_trials - n_kept
    assert contents(path) == expected
    with RecordStore(path, read_only=True) as store:
        assert verify(store).problems == ()


def test_an_interrupted_run_ends_with_130_and_says_how_to_go_on(slow):
    run = slow.prepare("a run")
    process = slow.start(run, seconds=0.003)
    wait_for(lambda: n_stored(run.records_path) >= 1, process, "a record")
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=300)
    assert process.returncode == 130
    assert said == ""
    frozen = run.folder / "study.toml"
    assert f"every finished trial is kept. Go on with: shaketable run '{frozen}' --out '{run.folder}'" in complained
    assert "Traceback" not in complained
    assert 0 < n_stored(run.records_path) < slow.n_trials


def test_a_second_writer_is_refused_and_readers_are_not(slow):
    run = slow.prepare("run")
    process = slow.start(run, seconds=0.01)
    try:
        wait_for(lambda: n_stored(run.records_path) >= 1, process, "a record")
        second = slow.start(run)
        _, complained = second.communicate(timeout=300)
        assert second.returncode == 1
        assert f"Another process is writing to {run.folder}. Wait for it, or use another --out." in complained
        assert Run(run.folder).summary().state == "running"
        assert Run(run.folder).records().height > 0
    finally:
        process.kill()
        process.communicate()
    assert Run(run.folder).summary().state == "interrupted"


def test_two_writers_in_one_process_are_refused_too(tmp_path):
    run = Run.prepare(tmp_path / "run", small_study(tmp_path))
    with run.writing(), pytest.raises(RunError, match="Another process is writing"), run.writing():
        pass
    with run.writing() as store:
        assert store.meta()["study"] == "small"


# --- folders ----------------------------------------------------------------------------------------


def test_the_same_study_goes_on_in_its_folder(tmp_path):
    study = small_study(tmp_path)
    first = Run.prepare(tmp_path / "run", study)
    assert Run.prepare(tmp_path / "run", study).study == first.study == study


def test_a_study_that_people_wrote_is_not_written_over(tmp_path):
    (tmp_path / "study.toml").write_text("# mine\nname = 'x'\n")
    Run.prepare(tmp_path, load_study(tmp_path / "study.toml"))
    assert (tmp_path / "study.toml").read_text().startswith("# mine")


def test_other_metrics_and_analyses_go_into_the_same_run(tmp_path):
    study = small_study(tmp_path)
    Run.prepare(tmp_path / "run", study)
    changed = dataclasses.replace(study, metrics=("rouge",), analyses=("variability",))
    assert Run.prepare(tmp_path / "run", changed).study == changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 4}, "seed was 3, now 4"),
        ({"repeats": 1}, "repeats was 2, now 1 (fewer than there are answers of)"),
        ({"temperatures": (0.0,)}, "temperatures was [0.0,1.0], now [0.0] (what is left out is answered already"),
        ({"name": "other"}, 'name was "small", now "other"'),
    ],
)
def test_another_study_is_refused_with_what_differs(tmp_path, changed, message):
    study = small_study(tmp_path)
    run = Run.prepare(tmp_path / "run", study)
    with pytest.raises(RunError) as caught:
        Run.prepare(run.folder, dataclasses.replace(study, **changed))
    assert message in str(caught.value)
    assert "Nothing was changed. Give another folder with --out, or go on with the old study: shaketable run" in str(
        caught.value
    )
    assert Run(run.folder).study == study


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    with pytest.raises(
        RunError, match=r"photos is not empty and holds no run \(found cat\.jpg\)\. Give an empty or new"
    ):
        Run.prepare(tmp_path / "photos", small_study(tmp_path))
    assert [entry.name for entry in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(RunError, match="run is a file, and a run is a folder"):
        Run.prepare(tmp_path / "run", small_study(tmp_path))
    assert (tmp_path / "run").read_text() == "mine"


def test_a_folder_that_a_killed_run_left_with_half_a_study_is_used(tmp_path):
    (tmp_path / "run").mkdir()
    left = tmp_path / "run" / "study.toml.7-0123abcd.tmp"
    left.write_text("name = ")
    study = small_study(tmp_path)
    assert Run.prepare(tmp_path / "run", study).study == study
    assert not left.exists()


def test_a_folder_without_a_run_says_how_to_make_one(tmp_path):
    with pytest.raises(
        RunError, match=r"holds no run: there is no study\.toml in it\. Make one with: shaketable run STUDY"
    ):
        Run(tmp_path)


# --- tables -----------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    run = Run.prepare(tmp_path / "run", small_study(tmp_path, n=9, perturbations=["unchanged", "sentence_removal"]))
    with run.writing() as store:
        answer(plan(run.study), store)
    return run


def test_the_table_of_records_has_a_row_for_each_with_every_factor(run):
    table = run.records()
    assert table.height == 9 * 2 * 2 * 2
    assert table["key"].n_unique() == table.height
    assert table.columns[:3] == ["key", "dataset", "question_id"]
    assert set(table["perturbation"]) == {"unchanged", "sentence_removal"}
    failed = table.filter(table["failure"].is_not_null())
    assert failed.height > 0
    assert failed["answer"].null_count() == failed.height
    assert table["answer"].null_count() == failed.height


def test_the_summary_counts_what_is_stored(run):
    summary = run.summary()
    failed = run.records()["failure"].count()
    assert (summary.trials, summary.done, summary.failed, summary.missing) == (72, 72 - failed, failed, 0)
    assert summary.state == "finished_with_failures"
    assert run.failures() == (FailureCount(kind="scripted", message="The script says ERROR here.", n=failed),)


def test_scores_come_back_with_the_factors_of_their_records(run):
    key = run.records()["key"][0]
    run.write_scores([Score(key=key, metric="m", value=0.5), Score(key=key, metric="n", value=None, reason="why")])
    table = run.score_table()
    assert table["value"].to_list() == [0.5, None]
    assert table["question_id"].to_list() == [run.records()["question_id"][0]] * 2
    assert run.unscored() == (UnscoredCount(metric="n", reason="why", n=1),)


@pytest.mark.parametrize("table", ["scores", "findings"])
def test_a_table_that_was_not_made_yet_says_how_to_make_it(run, table):
    with pytest.raises(RunError, match=rf"has no {table} yet\. Run: shaketable (score|analyze) .*run\."):
        getattr(run, table)()


def test_empty_answers_are_counted_by_method_and_reason(tmp_path):
    """Two questions; one model searches until its turns run out, the other writes nothing."""
    looks = "scripted(replies=('I look. <|begin_search_query|>book<|end_search_query|>',))"
    silent = "scripted(replies=(' ',))"
    methods = ["closed_book", "search_o1(max_turns=1)"]
    study = small_study(tmp_path, n=2, methods=methods, models=[looks, silent], temperatures=[0.0], repeats=1)
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    assert run.empty_answers() == (
        EmptyCount(method="closed_book", reason="nothing was written", n=2, answered=4),
        EmptyCount(method="search_o1(max_turns=1)", reason="no box", n=2, answered=4),
        EmptyCount(method="search_o1(max_turns=1)", reason="out of turns", n=2, answered=4),
    )
