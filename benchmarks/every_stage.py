"""Claim: a study of a million trials needs at most 1 GB in every stage, and at most 12 times the time of 100,000; its
report is under 10 MB and opens in under 2 s.

    python benchmarks/every_stage.py [--form wide|many] [--keep FOLDER] [N_TRIALS ...]

Each stage is a command of its own process, on a study of made questions with gold evidence, two scripted models, four
kinds of evidence, five temperatures and three repeats: 120 trials a question. `wide` has 25 questions and many repeats
instead, `many` has ten trials a question. A second run with another seed is there to compare with. Memory is the
process's peak of resident pages. Ratios are of seconds of the processor, which other work on the machine changes less.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from machine import describe

SIZES = [10_000, 100_000]
STUDY = """
name = "every-stage"
seed = {seed}
[dataset]
name = "jsonl"
path = "{questions}"
[cross]
models = [
    "scripted(replies=('It is the Rhine.', 'The Elbe', 'the Oder', 'I do not know.', 'The Rhine, not the Elbe.'))",
    "scripted(replies=('The Elbe', 'the Danube is longer than the Rhine', 'Oder', 'The passage does not say.'))",
]
methods = ["single_retrieval"]
retrievers = ["gold"]
perturbations = {perturbations}
temperatures = {temperatures}
repeats = {repeats}
[score]
metrics = ["correct", "contains", "token_f1", "rouge", "refusal", "gibberish"]
[analyze]
metric = "correct"
analyses = [
    "correctness", "variability", "degradation", "equivalence", "ranking", "dominance", "amplification", "cases",
    "guidelines",
]
"""
RIVERS = ("Rhine", "Elbe", "Oder", "Danube", "Weser", "Main")
FOUR = ["unchanged", "sentence_replacement", "sentence_removal", "entity_masking"]
FIVE = [0.0, 0.5, 1.0, 1.5, 2.0]
N_WIDE = 25
COMMAND = (sys.executable, "-c", "from shaketable.cli import main; main()")
PREPARE = "import sys; from shaketable.store import Run; from shaketable.study import load_study; " \
    "Run.prepare(sys.argv[2], load_study(sys.argv[1]))"  # fmt: skip
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True, kw_only=True)
class Measured:
    seconds: float
    processor_seconds: float
    peak_mb: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """How many trials there are of a question."""

    n_questions: int
    perturbations: list[str]
    temperatures: list[float]
    repeats: int

    @classmethod
    def of(cls, name: str, n_trials: int) -> "Form":
        if name == "wide":
            repeats = -(-n_trials // (N_WIDE * 2 * len(FOUR) * len(FIVE)))
            return cls(n_questions=N_WIDE, perturbations=FOUR, temperatures=FIVE, repeats=repeats)
        if name == "many":
            few = {"perturbations": ["unchanged"], "temperatures": FIVE, "repeats": 1}
        else:
            few = {"perturbations": FOUR, "temperatures": FIVE, "repeats": 3}
        per_question = 2 * len(few["perturbations"]) * len(few["temperatures"]) * few["repeats"]
        return cls(n_questions=-(-n_trials // per_question), **few)

    @property
    def n_trials(self) -> int:
        return self.n_questions * 2 * len(self.perturbations) * len(self.temperatures) * self.repeats


def write_questions(path: Path, n: int) -> None:
    """Questions with two documents of three sentences each, of which one sentence supports the answer."""
    rng = random.Random(7)
    with path.open("w") as file:
        for place in range(n):
            longer, shorter = rng.sample(RIVERS, 2)
            documents = [
                {
                    "title": f"{river} at Town {place}",
                    "sentences": [
                        f"The {river} passes Town {place} in Germany after {rng.randrange(900)} km.",
                        f"Its bridge was built in {1700 + rng.randrange(300)} by Anna Schmidt.",
                        f"About {rng.randrange(90)} thousand people live there.",
                    ],
                }
                for river in (longer, shorter)
            ]
            choice = f"Which river near Town {place} is longer, the {longer} or the {shorter}?"
            row = {
                "id": f"q{place:07}",
                "question": choice if place % 2 else f"Which river near Town {place} is the longest?",
                "answers": [longer, f"the {longer}"],
                "type": "comparison" if place % 2 else "bridge",
                "documents": documents,
                "facts": [[document["title"], 0] for document in documents],
            }
            file.write(json.dumps(row) + "\n")


def measure(arguments: list[str | Path], note: str = "") -> Measured:
    """One command to its end, in a process of its own."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        code = os.waitstatus_to_exitcode(status)
        process.returncode = code
        if code not in (0, 100):  # 100: the gate is closed, as it may be.
            said.seek(0)
            raise SystemExit(f"{' '.join(map(str, arguments))} ended with {code}:\n{said.read().decode()[-3000:]}")
    return Measured(
        seconds=seconds, processor_seconds=used.ru_utime + used.ru_stime, peak_mb=used.ru_maxrss / 1024, note=note
    )


def view(run: Path) -> dict[str, Measured]:
    """The real server, asked for one page after the other."""
    process = subprocess.Popen(
        [*COMMAND, "view", str(run), "--no-open", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    found = _first_object(process.stdout)
    home = f"{found['address']}run/{next(iter(found['runs']))}"
    listed = json.loads(urllib.request.urlopen(f"{found['address']}run/{run.name}/records.json?page=7").read())
    key, question = listed["records"][0]["key"], listed["records"][0]["question_id"]
    pages = {
        "first page": home,
        "records": f"{home}/records",
        "records, filtered": f"{home}/records?perturbation=sentence_removal&temperature=1",
        "records, sorted": f"{home}/records?sort=token_f1&order=down&page=100",
        "records, words": f"{home}/records?words=Town+77",
        "questions": f"{home}/questions",
        "question": f"{home}/question/{question}",
        "record": f"{home}/record/{key}",
        "report": f"{home}/report",
    }
    measured = {}
    for name, address in pages.items():
        start, used = time.perf_counter(), _processor_seconds(process.pid)
        size = len(urllib.request.urlopen(address).read())
        measured[f"view: {name}"] = Measured(
            seconds=time.perf_counter() - start,
            processor_seconds=_processor_seconds(process.pid) - used,
            peak_mb=_peak_mb(process.pid),
            note=f"{size / 1e6:.2f} MB",
        )
    process.terminate()
    process.wait()
    return measured


def _first_object(lines: BinaryIO) -> dict:
    """The first JSON object that a command says."""
    told = ""
    for line in lines:
        told += line.decode()
        try:
            return json.loads(told)
        except json.JSONDecodeError:
            continue
    raise SystemExit(f"The server ended before it was asked: {told}")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def open_report(page: Path) -> str:
    """Seconds to the load event and to the first chart, the middle of three; Chromium's own start aside."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        return "no Chromium here"
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        browser.new_page().goto("about:blank")
        for _ in range(3):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.resolve().as_uri())
            loaded = time.perf_counter() - start
            tab.locator("figure").first.scroll_into_view_if_needed()
            tab.wait_for_selector(".live svg")
            times.append((loaded, time.perf_counter() - start))
            tab.close()
        browser.close()
    loaded, drawn = sorted(times)[1]
    return f"opened in {loaded:.2f} s, first chart after {drawn:.2f} s"


def make_studies(folder: Path, form: Form) -> tuple[Path, Path]:
    """The runs to be made, frozen and empty: one, and one with another seed to compare it with."""
    questions = folder / "questions.jsonl"
    write_questions(questions, form.n_questions)
    runs = folder / "run", folder / "other"
    for seed, run in enumerate(runs, 1):
        study = folder / f"{run.name}.toml"
        crossed = {name: json.dumps(getattr(form, name)) for name in ("perturbations", "temperatures", "repeats")}
        study.write_text(STUDY.format(seed=seed, questions=questions, **crossed))
        subprocess.run([sys.executable, "-c", PREPARE, study, run], check=True)
    return runs


def answer_halves(folder: Path) -> list[Path]:
    """The same study in two parts."""
    halves = [folder / "half1", folder / "half2"]
    for number, half in enumerate(halves, 1):
        study = folder / f"{half.name}.toml"
        whole = (folder / "run.toml").read_text()
        study.write_text(whole.replace('name = "jsonl"', f'name = "jsonl"\nshard = "{number}/2"'))
        subprocess.run([sys.executable, "-c", PREPARE, study, half], check=True)
        measure(["answer", half])
    return halves


def stages(folder: Path, form: Form):
    """Each stage with what it took, in the order a user meets them."""
    run, other = make_studies(folder, form)
    yield "plan", measure(["run", folder / "run.toml", "--dry-run", "--json"])
    yield "answer", measure(["answer", run, "--json"])
    yield "answer, reopened", measure(["answer", run, "--json"], _size(run / "records.sqlite"))
    scored = measure(["score", run])
    yield "score", _noted(scored, _size(run / "scores.parquet"))
    yield "analyze", _noted(measure(["analyze", run]), _size(run / "findings.json"))
    yield (
        "report",
        _noted(measure(["report", run]), f"{_size(run / 'report.html')}, {open_report(run / 'report.html')}"),
    )
    yield from view(run).items()
    yield "verify", measure(["verify", run])
    for table in ("records", "scores", "findings"):
        for form_ in ("csv", "parquet", "jsonl"):
            file = folder / f"{table}.{form_}"
            yield (
                f"export {table}.{form_}",
                _noted(measure(["export", run, "--table", table, "--out", file]), _size(file)),
            )
            file.unlink()
    measure(["answer", other])
    measure(["score", other, "--metric", "correct"])
    page = folder / "compared.html"
    yield "compare", _noted(measure(["compare", run, other, "--out", page]), _size(page))
    yield "merge", measure(["merge", *answer_halves(folder), "--out", folder / "joined"])
    yield "check", measure(["check", run, "--against", other, "--max-drop", "0.2", "--max-flip-rate", "0.5"])


def _size(file: Path) -> str:
    return f"{file.stat().st_size / 1e6:,.1f} MB"


def _noted(measured: Measured, note: str) -> Measured:
    return Measured(**{**vars(measured), "note": note})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--form", choices=("usual", "wide", "many"), default="usual")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    before: dict[str, Measured] = {}
    for n_trials in asked.sizes or SIZES:
        form = Form.of(asked.form, n_trials)
        print(f"\n{form.n_trials:,} trials, {form.n_questions:,} questions")
        print(f"{'stage':24}{'seconds':>9}{'processor':>11}{'ratio':>7}{'peak MB':>9}", flush=True)
        now: dict[str, Measured] = {}
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) if asked.keep is None else asked.keep / str(n_trials)
            folder.mkdir(parents=True, exist_ok=True)
            for name, took in stages(folder, form):
                now[name] = took
                ratio = f"{took.processor_seconds / before[name].processor_seconds:.1f}" if name in before else ""
                print(
                    f"{name:24}{took.seconds:9.2f}{took.processor_seconds:11.2f}{ratio:>7}{took.peak_mb:9.0f}  "
                    f"{took.note}",
                    flush=True,
                )
        before = now
    print(describe())


if __name__ == "__main__":
    main()
