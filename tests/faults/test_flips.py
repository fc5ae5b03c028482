"""Bytes of a finished run that are altered: `verify` finds each that changes what is stored, and no command breaks."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from made_studies import REPLIES, row, study_of, write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import ShaketableError
from shaketable.factors import System
from shaketable.stages.analyze import analyze
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.stages.verify import verify
from shaketable.store import Run
from shaketable.store.explanation_file import load_explanations, write_explanations
from shaketable.store.explanations import Explanation, GivenAnswer
from shaketable.store.sealing.files import write_sealed
from shaketable.store.underway import KeptReply
from shaketable.types import Completion, Curve, Record, Verdict
from shaketable.viewer.pages import RunSite

TABLES = (
    *("meta", "questions", "variants", "conditions", "environments", "texts", "records", "reference_answers"),
    *("curves", "verdicts", "rewordings", "wordings", "underway"),
)
FILES = (
    *("records.sqlite", "study.toml", "scores.parquet", "baselines.parquet", "findings.json", "explanations.json"),
    *("headlines.json", "report.html", "records.seal", "seal.sha256"),
)
N_FLIPS = 48


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("faults"))


def make_run(folder: Path) -> Path:
    """A small finished run that has something in each of its files and tables."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "questions.jsonl", [row(n, answers=[("Paris", "Rome")[n % 2]]) for n in range(3)])
    perturbations = ["unchanged", "sentence_removal"]
    study = study_of(folder / "questions.jsonl", models=[REPLIES], perturbations=perturbations)
    run = ask(study, folder / "run")
    records = list(run.store.records())
    with run.writing() as store:
        store.add_references("template", [("q0", "It is Paris.", "It is Paris. So.", ["cut"])])
        verdict = Verdict(text="yes", value=1.0, reason=None, n_prompt_tokens=9, n_tokens=1, seconds=0.5)
        store.add_verdicts("judge", {"prompt": verdict})
        store.keep_replies([_kept(records[0])])
        store.add_curves("settings", [Curve(key=records[0].trial.key, reason="not known")])
    score(run)
    analyze(run)
    write_explanations(run.folder, [_explanation(records[0].trial.key)])
    run.write_headlines(["Removal lowers it."])
    write_sealed(run.folder / "report.html", "<p>Removal lowers it.</p>")
    assert verify(Run(run.folder)).problems == ()
    assert all((run.folder / name).is_file() for name in FILES)
    return run.folder


def _kept(record: Record) -> KeptReply:
    """As of a trial that goes on; that this one has ended is nothing to `verify`."""
    [reply] = [event.reply for event in record.trace if isinstance(event.reply, Completion)]
    return KeptReply(key=record.trial.key, place=0, prompt="digest", reply=reply, n_calls=1, dollars=0.25)


def _explanation(key: str) -> Explanation:
    return Explanation(
        question_id="q0", question="Who?", gold=("Paris",), system=System(model=REPLIES, method="m", retriever="gold"),
        name="system", wording="Who?", variation="original", perturbation=None, temperature=0.0, repeats=1,
        is_sampled=False, judged_by=None, key=key, made_from="", answer=GivenAnswer(text="Paris", is_right=True),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Flip:
    file: str
    place: int
    bit: int

    def make(self, sound: Path, folder: Path) -> Path:
        """A copy of the run with this bit turned over."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sound, folder)
        content = bytearray((folder / self.file).read_bytes())
        content[self.place] ^= 1 << self.bit
        (folder / self.file).write_bytes(content)
        return folder


def flips(sound: Path, n: int, seed: int) -> Iterator[Flip]:
    """Half of them in the records, the others anywhere."""
    dice = random.Random(seed)
    for number in range(n):
        file = FILES[0] if number % 2 else dice.choice(FILES[1:])
        yield Flip(file=file, place=dice.randrange((sound / file).stat().st_size), bit=dice.randrange(8))


def data_of(folder: Path) -> dict[str, Any]:
    """All that the program reads of a run; what it cannot read is the exception's name."""
    reads = {
        "study": lambda: Run(folder).study,
        "records": lambda: list(Run(folder).store.records()),
        "record_table": lambda: Run(folder).records().rows(),
        "searches": lambda: Run(folder).searches().rows(),
        "questions": lambda: Run(folder).store.questions("template"),
        "wordings": lambda: Run(folder).store.wordings(),
        "worded": lambda: Run(folder).store.worded("original"),
        "kept replies": lambda: Run(folder).store.kept_replies(),
        "curves": lambda: Run(folder).curves(),
        "verdicts": lambda: Run(folder).store.verdicts("judge"),
        "summary": lambda: Run(folder).summary().missing,
        "scores": lambda: Run(folder).scores().rows(),
        "baselines": lambda: Run(folder).baselines().rows(),
        "findings": lambda: Run(folder).findings(),
        "explanations": lambda: load_explanations(folder),
        "headlines": lambda: Run(folder).headlines(),
        "report": lambda: (folder / "report.html").read_bytes(),
        **{f"table {table}": lambda table=table: Run(folder).store.rows(f"SELECT * FROM {table}") for table in TABLES},
    }
    return {name: _told(read) for name, read in reads.items()}


def _told(read: Any) -> Any:
    try:
        return read()
    except Exception as error:
        return type(error).__name__


def look(flip: Flip, sound: Path, folder: Path, before: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the flip changed what is read, and whether `verify` found something."""
    flip.make(sound, folder)
    changed = data_of(folder) != before
    flip.make(sound, folder)
    result = called("verify", folder, "--json")
    assert result.exit_code in (0, 1)
    found = result.exit_code == 1
    return changed, found


def called(*words: object) -> Any:
    """A command that may refuse, and may not break."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    assert "Traceback" not in result.output, (words, result.output)
    return result


def call_all(folder: Path, sound: Path, key: str) -> None:
    """Every command that reads a run, and every page."""
    for table in ("records", "scores", "findings"):
        called("export", folder, "--table", table, "--out", folder.parent / f"{table}.csv")
    called("show", folder, key)
    called("check", folder, "--min-accuracy", "0.1")
    called("compare", folder, sound)
    called("merge", folder, sound, "--out", folder.parent / "joined", "--prefer", "first")
    shutil.rmtree(folder.parent / "joined", ignore_errors=True)
    if (folder / "study.toml").is_file() and _told(lambda: Run(folder).study) == Run(sound).study:
        site = RunSite([Run(folder)])
        for steps in ([], ["run", "run"], ["run", "run", "records"], ["run", "run", "questions"]):
            _page(site, steps)
        _page(site, ["run", "run", "record", key])
        site.close()
    called("analyze", folder)
    called("score", folder)
    called("analyze", folder)


def _page(site: RunSite, steps: list[str]) -> None:
    with contextlib.suppress(ShaketableError):
        site.reply(steps, {})


def judge(sound: Path, folder: Path, n: int, seed: int, every: int) -> tuple[int, int]:
    before = data_of(sound)
    key = before["records"][0].trial.key
    n_changed = n_found = 0
    for number, flip in enumerate(flips(sound, n, seed)):
        changed, found = look(flip, sound, folder, before)
        n_changed, n_found = n_changed + changed, n_found + (changed and found)
        assert found or not changed, flip
        if number % every == 0:
            call_all(folder, sound, key)
    return n_changed, n_found


def test_each_flip_that_changes_data_is_found_and_no_command_breaks(sound, tmp_path):
    n_changed, n_found = judge(sound, tmp_path / "run", N_FLIPS, seed=1, every=16)
    assert n_changed == n_found > N_FLIPS // 4


@pytest.mark.parametrize("file", FILES)
def test_each_file_that_is_cut_off_is_found(sound, tmp_path, file):
    """To nothing, in the middle, and at the ends of lines, where what is left looks whole."""
    content = (sound / file).read_bytes()
    lines = list(itertools.accumulate(map(len, content.splitlines(keepends=True))))
    cuts = {0, len(content.rstrip()) // 2} | ({*lines[:-1]} if file == "seal.sha256" else {lines[0]}) - {len(content)}
    folder = Path(shutil.copytree(sound, tmp_path / "run"))
    for cut in cuts:
        (folder / file).write_bytes(content[:cut])
        assert verify(Run(folder)).problems, (file, cut)
        assert called("verify", folder).exit_code in ((1, 2) if file == "study.toml" else (1,))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_each_of_a_thousand_flips_that_changes_data_is_found_and_no_command_breaks(sound, tmp_path, seed):
    """A hundred for each seed."""
    n_changed, n_found = judge(sound, tmp_path / "run", 100, seed=100 + seed, every=4)
    print(json.dumps({"flips": 100, "changed": n_changed, "found": n_found}))
    assert n_changed == n_found > 25
