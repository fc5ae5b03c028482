"""Files of a run that are lost, cut off, emptied or edited are told, and nothing is made of them."""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from made_studies import REPLIES, row, small_study, write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import RunError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.stages.verify import verify
from shaketable.store import RecordStore, Run
from shaketable.store.lock import hold_lock
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import older_checksum
from shaketable.store.sealing.files import is_as_sealed, load_seals, replace_sealed, write_sealed
from shaketable.store.sealing.folder import find_altered_files


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return ask(small_study(tmp_path), tmp_path / "run")


def problems_of(run: Run) -> tuple[str, ...]:
    return verify(Run(run.folder)).problems


def told(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, SystemExit) and result.exit_code == 1
    return " ".join(result.output.split())


def test_a_log_that_is_lost_is_told(tmp_path):
    """What a process that was killed has left: most records are still in the log."""
    study = small_study(tmp_path)
    made = Run.prepare(tmp_path / "run", study)
    with made.writing() as store:
        answer(plan(study), store)
        shutil.copytree(made.folder, tmp_path / "killed")
    killed = Run(tmp_path / "killed")
    log = killed.records_path.with_name("records.sqlite-wal")
    whole = log.read_bytes()
    assert problems_of(killed) == ()
    log.unlink()
    killed.records_path.with_name("records.sqlite-shm").unlink(missing_ok=True)
    assert any("lost" in problem or "no records" in problem for problem in problems_of(killed))
    log.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :])
    [problem] = problems_of(killed)
    assert "has lost its last" in problem and "records with them" in problem


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_records_that_were_cut_off_are_told(run, share):
    content = run.records_path.read_bytes()
    run.records_path.write_bytes(content[: int(len(content) * share)])
    assert problems_of(run)
    assert "Traceback" not in told("verify", run.folder)


def test_records_that_are_gone_are_told(run):
    run.records_path.unlink()
    [problem] = problems_of(run)
    assert "has lost its last" in problem and "12 records" in problem


def test_that_all_records_were_deleted_is_told(run):
    with sqlite3.connect(run.records_path) as connection:
        connection.execute("DELETE FROM records")
    assert "records: 0 rows, and 12 were stored" in told("verify", run.folder)


def test_an_edited_study_is_told(run):
    file = run.folder / "study.toml"
    file.write_text(file.read_text().replace("max_tokens = 8", "max_tokens = 9"))
    assert "study.toml was altered after it was written" in told("verify", run.folder)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1, 2", b"null", b'{"schema": 3}', b"[" * 9999, b"PAR1"])
@pytest.mark.parametrize("name", ["scores.parquet", "findings.json", "explanations.json", "headlines.json"])
def test_a_broken_file_of_an_older_version_is_named(run, name, content):
    """Without a seal it is looked into."""
    score(run)
    (run.folder / "seal.sha256").unlink()
    (run.folder / name).write_bytes(content)
    for read in (run.scores, run.findings, run.headlines):
        try:
            read()
        except RunError as error:
            assert name in str(error) or "no findings yet" in str(error)


def test_altered_scores_are_not_used_and_made_anew_by_scoring(run):
    score(run)
    file = run.folder / "scores.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    assert "Make it anew: shaketable score" in told("analyze", run.folder)
    assert "scores.parquet was altered" in told("verify", run.folder)
    assert CliRunner().invoke(app, ["score", str(run.folder)]).exit_code == 0
    assert problems_of(run) == ()


def test_scores_that_the_records_do_not_give_are_found_though_they_are_sealed(run):
    score(run)
    kept = pl.read_parquet_metadata(run.folder / "scores.parquet")
    wrong = run.scores().with_columns(value=1.0 - pl.col("value"))
    wrong.write_parquet(run.folder / "new", metadata={name: kept[name] for name in ("made_from", "asked")})
    replace_sealed(run.folder / "new", run.folder / "scores.parquet")
    verified = verify(Run(run.folder))
    assert verified.recomputed == ("correct",)
    [problem] = verified.problems
    assert problem.startswith("scores by correct: ") and "are not those that the records give" in problem


def test_whenever_writing_is_interrupted_the_file_fits_its_seal(tmp_path, monkeypatch):
    file = tmp_path / "headlines.json"
    write_sealed(file, "one")
    for step in (1, 2, 3):
        calls = iter(range(1, 9))
        usual = Path.replace

        def interrupted(self, target, step=step, calls=calls, usual=usual):
            if next(calls) == step:
                raise KeyboardInterrupt
            return usual(self, target)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Path, "replace", interrupted)
            write_sealed(file, f"two {step}")
        assert is_as_sealed(file)
    write_sealed(file, "three")
    assert len(load_seals(tmp_path)[0][file.name]) == 1


def test_a_file_that_is_written_for_the_first_time_may_be_interrupted_anywhere(tmp_path, monkeypatch):
    file = tmp_path / "headlines.json"

    def interrupted(self, target):
        if target == file:
            raise KeyboardInterrupt
        return usual(self, target)

    usual = Path.replace
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", interrupted)
        write_sealed(file, "one")
    assert not file.exists() and list(find_altered_files(tmp_path)) == []
    write_sealed(file, "two")
    assert list(find_altered_files(tmp_path)) == []
    file.unlink()
    assert [problem.partition(":")[0] for problem in find_altered_files(tmp_path)] == ["headlines.json is missing"]


@pytest.mark.parametrize("keep", [lambda lines: [], lambda lines: lines[:1], lambda lines: lines[:-1]])
def test_files_whose_seals_were_taken_out_are_told(run, keep):
    score(run)
    run.write_headlines(["It falls."])
    write_sealed(run.folder / "report.html", "<p>It falls.</p>")
    assert problems_of(run) == ()
    seals = run.folder / "seal.sha256"
    lines = seals.read_text().splitlines(keepends=True)
    kept = keep(lines)
    seals.write_text("".join(kept))
    gone = {line.split()[1] for line in lines if line not in kept}
    assert {problem.split(" has no line in seal.sha256")[0] for problem in problems_of(run)} == gone
    told("verify", run.folder)


def test_the_page_without_its_seal_is_told_and_made_anew_is_sound(run):
    write_sealed(run.folder / "report.html", "<p>It falls.</p>")
    seals = run.folder / "seal.sha256"
    seals.write_text("".join(line for line in seals.read_text().splitlines(True) if "report.html" not in line))
    (run.folder / "report.html").write_text("<p>It rises.</p>")
    [problem] = problems_of(run)
    assert problem.startswith("report.html has no line in seal.sha256") and "shaketable report" in problem
    write_sealed(run.folder / "report.html", "<p>It falls.</p>")
    assert problems_of(run) == ()


def test_the_process_that_loses_the_lock_has_changed_nothing(tmp_path, run):
    before = (run.folder / "study.toml").read_bytes()
    other = small_study(tmp_path, generation={"max_tokens": 8}, name="small")
    other = dataclasses.replace(other, metrics=("contains",))
    with hold_lock(run.folder), pytest.raises(RunError, match="Another process is writing"):
        Run.prepare(run.folder, other)
    assert (run.folder / "study.toml").read_bytes() == before


def test_a_run_of_the_version_before_is_verified_by_its_own_rule(run):
    score(run)
    (run.folder / "report.html").write_text("one")
    with sqlite3.connect(run.records_path) as connection:
        for row_id, *values in connection.execute(f"SELECT id, {', '.join(COLUMNS)} FROM records").fetchall():
            connection.execute("UPDATE records SET checksum = ? WHERE id = ?", (older_checksum(tuple(values)), row_id))
        connection.executescript("DROP TABLE seals; DROP TABLE underway; PRAGMA user_version = 6;")
    run.records_path.with_suffix(".seal").unlink()
    (run.folder / "seal.sha256").unlink()
    older = verify(Run(run.folder))
    assert older.problems == () and older.records is not None and not older.records.is_sealed
    assert older.unsealed == ("study.toml", "scores.parquet", "baselines.parquet", "report.html")
    RecordStore(run.records_path).close()  # Sealed as it is by the first that writes.
    newer = verify(Run(run.folder))
    assert newer.records is not None and newer.records.is_sealed
    assert newer.problems == () and newer.unsealed == ()
    (run.folder / "report.html").write_text("another")
    assert any(problem.startswith("report.html was altered") for problem in problems_of(run))
    with sqlite3.connect(run.records_path) as connection:
        connection.execute("UPDATE records SET answer = 'Other' WHERE id = 1")
    assert any("does not match its checksum" in problem for problem in problems_of(run))


def test_a_temperature_of_minus_zero_is_zero(tmp_path):
    rows = [{"question_id": "q", "question": "Who?", "gold": "A", "answer": "A", "temperature": -0.0}]
    write_rows(tmp_path / "answers.jsonl", rows)
    words = ["import", str(tmp_path / "answers.jsonl"), "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert problems_of(Run(tmp_path / "run")) == ()


@pytest.mark.parametrize("number", ["9223372036854775808", "1" * 5000])
@pytest.mark.parametrize("field", ["repeat", "n_tokens", "n_facts"])
def test_numbers_that_no_column_holds_are_named(tmp_path, number, field):
    line = f'{{"question_id": "q", "question": "Who?", "gold": "A", "answer": "A", "{field}": {number}}}\n'
    (tmp_path / "answers.jsonl").write_text(line)
    result = CliRunner().invoke(app, ["import", str(tmp_path / "answers.jsonl"), "--out", str(tmp_path / "run")])
    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.exception
    assert "answers.jsonl" in result.output


@pytest.mark.parametrize("number", ["9223372036854775808", "1" * 5000])
def test_data_with_numbers_that_no_column_holds_are_named_or_asked(tmp_path, number):
    whole = {**row(0), "tags": {"n_facts": 0}}
    write_rows(tmp_path / "q.jsonl", [whole])
    file = tmp_path / "q.jsonl"
    file.write_text(file.read_text().replace('"n_facts": 0', f'"n_facts": {number}'))
    (tmp_path / "study.toml").write_text(
        f"name = 'small'\n[dataset]\nname = 'jsonl'\npath = '{file}'\n[cross]\nmodels = [\"\"\"{REPLIES}\"\"\"]\n"
    )
    result = CliRunner().invoke(app, ["run", str(tmp_path / "study.toml"), "--dry-run"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception


def test_a_study_with_a_number_of_too_many_digits_is_named(tmp_path):
    (tmp_path / "study.toml").write_text(f"name = 'small'\nseed = {'1' * 5000}\n")
    result = CliRunner().invoke(app, ["run", str(tmp_path / "study.toml"), "--dry-run"])
    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.exception
