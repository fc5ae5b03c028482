"""The wheel in empty environments, from an empty folder: what people get who have no checkout.

    python scripts/check_wheel.py light     # an API and a CSV: no PyTorch, spaCy, numba or transformers
    python scripts/check_wheel.py local     # with the extra `local`: the demo

Each prints how long the steps took and how much they put on the disk, and ends with 1 at the first that goes wrong.
"""

from __future__ import annotations

import argparse
import http.server
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = (
    "torch",
    "transformers",
    "spacy",
    "numba",
    "accelerate",
    "gguf",
    "safetensors",
    "lemminflect",
    "harper",
    "faiss",
)
CAPITALS = {
    "France": "Paris",
    "Japan": "Tokyo",
    "Kenya": "Nairobi",
    "Peru": "Lima",
    "Norway": "Oslo",
    "Egypt": "Cairo",
    "Canada": "Ottawa",
    "Cuba": "Havana",
}
STUDY = """
name = "crossed"
seed = 7

[dataset]
name = "csv"
path = "capitals.csv"

[cross]
models = ["openai(model='local', base_url='http://127.0.0.1:{port}/v1')"]
methods = ["closed_book", "single_retrieval"]
retrievers = ["distractor"]
perturbations = ["unchanged", "sentence_removal"]
temperatures = [0.0, 1.0]
repeats = 2

[score]
metrics = ["correct", "contains", "exact_match", "token_f1", "rouge"]
"""


class Capitals(http.server.BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol and knows capitals; when it is hot it is wrong about every third."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = asked["messages"][-1]["content"]
        country = next((name for name in CAPITALS if f"capital of {name}?" in text), "")
        is_wrong = asked.get("temperature", 0) > 0 and hash_of(text, asked.get("seed")) % 3 == 0
        answer = "I do not know." if is_wrong else f"{CAPITALS.get(country, 'Atlantis')}."
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "local",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
                "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


APP = """
import re

ROWS = {rows}


def answer(question: str) -> str:
    # A lookup that knows a question word by word: no typing error is forgiven.
    words = set(re.findall(r"[a-z]+", question.lower()))
    best = max(ROWS, key=lambda row: len(words & set(row[0].split())))
    return best[1] if set(best[0].split()) <= words else "I do not know."
"""
"""A system that breaks on typing errors alone: word order, small words and words beside it change nothing."""
PLACES = ("workshop", "kitchen", "laboratory", "garage", "cellar", "office", "library", "garden", "tower", "harbor")
THINGS = ("helmet", "ladder", "hammer")


def hash_of(*values: object) -> int:
    """The same in every process, which Python's own is not."""
    return sum(map(ord, "".join(map(str, values))))


class Environment:
    """An empty environment, and an empty folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.work = folder / "venv" / "bin", folder / "work"
        self.work.mkdir(parents=True)
        venv.create(folder / "venv", with_pip=True, symlinks=True)
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        self.variables = {name: value for name, value in os.environ.items() if name not in hidden}
        self.variables |= {"COLUMNS": "120", "OPENAI_API_KEY": "none"}

    def do(self, *command: str, code: int = 0) -> str:
        """What a command says, which must end with this code."""
        start = time.perf_counter()
        print("$", " ".join(command), flush=True)
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        if done.returncode != code or "Traceback" in said:
            raise SystemExit(f"{said}\nwheel-check: this ended with {done.returncode}, expected {code}.")
        print(f"  {time.perf_counter() - start:.1f} s", flush=True)
        return " ".join(said.split())

    def install(self, *packages: str) -> None:
        constraints = str(ROOT / "constraints.txt")
        self.do("pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", constraints, *packages)

    def say_size(self) -> None:
        [folder] = self.bin.parent.glob("lib/python*/site-packages")
        n_bytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        print(f"  {n_bytes / 1e6:,.0f} MB in site-packages", flush=True)


def build_wheel(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], check=True)
    [wheel] = folder.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return wheel


def expect(said: str, *wanted: str) -> None:
    for words in wanted:
        if words not in said:
            raise SystemExit(f"{said}\nwheel-check: expected it to say: {words}")


def check_light(folder: Path) -> None:
    """From `pip install` to a report against an endpoint, and what parts say that need more."""
    here = Environment(folder)
    here.variables["SHAKETABLE_HOME"] = str(folder / "home")  # Nothing is in it.
    here.install(str(build_wheel(folder)))
    here.say_size()
    here.do("python", "-c", f"import importlib.util as u; assert not [m for m in {HEAVY} if u.find_spec(m)]")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Capitals)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = [f"What is the capital of {land}?,{city},{city} is in {land}. It is old." for land, city in CAPITALS.items()]
    (here.work / "capitals.csv").write_text("\n".join(["question,answer,context", *rows, ""]), "utf-8")
    find_typos(here)
    begin(here, server.server_port)
    (here.work / "crossed.toml").write_text(STUDY.format(port=server.server_port), "utf-8")
    expect(here.do("shaketable", "validate", "crossed.toml"), "is fine: 8 questions")
    expect(here.do("shaketable", "run", "crossed.toml"), "The report: runs/crossed/report.html")
    here.do("shaketable", "verify", "runs/crossed")
    here.do("shaketable", "export", "runs/crossed", "--table", "records", "--out", "records.csv")
    here.do("shaketable", "compare", "runs/crossed", "runs/crossed")
    expect(here.do("python", "-m", "shaketable", "ls"), "smollm2", "bm25", "consistency")
    check_refusals(here)
    server.shutdown()


def find_typos(here: Environment) -> None:
    """Two commands after `pip install`: a planted weakness is found, without PyTorch and without a study file."""
    start = time.perf_counter()
    rows = [
        (f"{thing} {place}", f"shelf {n}") for n, (thing, place) in enumerate(itertools.product(THINGS, PLACES), 11)
    ]
    (here.work / "app.py").write_text(APP.format(rows=rows), "utf-8")
    asked = (f"Where is the {words.replace(' ', ' of the ')} kept?,{answer}" for words, answer in rows)
    (here.work / "q.csv").write_text("\n".join(["question,answer", *asked, ""]), "utf-8")
    said = here.do("shaketable", "shake", "app.py:answer", "--data", "q.csv", "--budget", "300 calls")
    expect(said, "spelling errors")
    [found] = here.work.glob("runs/*/findings.json")
    confirmed = set(broken_by(json.loads(found.read_text("utf-8"))))
    if confirmed != {"spelling"}:
        raise SystemExit(f"{said}\nwheel-check: the planted weakness is to typing errors, and it found {confirmed}.")
    [question] = re.findall(r"plainly: (Where .+?\?)", said)[:1]
    expect(here.do("shaketable", "explain", str(found.parent), question), "the answer turns wrong (by spelling")
    print(f"  from a CSV to a weakness: {time.perf_counter() - start:.0f} s", flush=True)


def broken_by(finding: object) -> Iterator[str]:
    """The rewordings that a shake confirmed as weaknesses, wherever its findings hold them."""
    if isinstance(finding, dict):
        if finding.get("is_shown"):
            yield finding["cell"]["variation"]
        finding = list(finding.values())
    if isinstance(finding, list):
        for inner in finding:
            yield from broken_by(inner)


def begin(here: Environment, port: int) -> None:
    """A CSV and an address: the commands of somebody who has no file of ours."""
    start = time.perf_counter()
    address = f"http://127.0.0.1:{port}/v1"
    here.do("shaketable", "init", "--data", "capitals.csv", "--model", "local", "--base-url", address, "--yes")
    here.do("shaketable", "run", "capitals.toml", "--dry-run")
    expect(here.do("shaketable", "run", "capitals.toml"), "The report: runs/capitals/report.html")
    print(f"  from a CSV to a report: {time.perf_counter() - start:.0f} s", flush=True)
    page = (here.work / "runs" / "capitals" / "report.html").read_text("utf-8")
    if not re.search(r"<svg|vega", page):
        raise SystemExit("wheel-check: the report has no figure.")
    expect(here.do("shaketable", "runs"), "capitals")
    here.do("shaketable", "card", "runs/capitals", "--out", "card.html")
    expect(here.do("shaketable", "docs", "installing"), "pip install")


def check_refusals(here: Environment) -> None:
    """Whatever needs more says so in one sentence, before anything is asked."""
    install = "pip install 'shaketable[{}]'"
    expect(here.do("shaketable", "demo", code=2), "The demo needs the packages torch", install.format("local"))
    expect(here.do("shaketable", "doctor"), "extra local", "not installed", install.format("local"))
    for words, named, extra in (
        ("cross.models=['smollm2']", "Model 'smollm2' needs the packages torch and transformers", "local"),
        ("cross.perturbations=['unchanged','entity_masking']", "'entity_masking' needs the package spacy", "language"),
        ("cross.retrievers=['bm25']", "Retriever 'bm25' needs the package numba", "bm25"),
        ("score.metrics=['correct','bertscore']", "Metric 'bertscore' needs the packages torch and", "local"),
        ("cross.variations=['original','formality']", "Variation 'formality' needs the packages torch,", "local"),
    ):
        for command in ("validate", "run"):
            said = here.do("shaketable", command, "crossed.toml", "--set", words, code=2)
            expect(said, named, install.format(extra))
    others = sorted(run.name for run in (here.work / "runs").iterdir() if not run.name.startswith("shake-"))
    if others != ["capitals", "crossed"]:
        raise SystemExit(f"wheel-check: a refused study left something: {others}")


def check_local(folder: Path) -> None:
    """The demo, from an empty folder, with weights that were fetched before where the user cache has them."""
    here = Environment(folder)
    here.install(pinned_torch())  # First and by its exact version, so that no other package chooses a build for it.
    here.install(f"{build_wheel(folder)}[local]")
    here.say_size()
    said = here.do("shaketable", "demo", "--limit", "2")
    next_command = re.search(r"answer by answer: (\S+) view runs/demo", said)
    expect(said, "The report: runs/demo/report.html")
    if next_command is None or Path(next_command[1]) != here.bin / "shaketable":
        raise SystemExit(f"{said}\nwheel-check: the next command is not told as it must be typed.")
    if not (here.work / "runs" / "demo" / "report.html").is_file():
        raise SystemExit("wheel-check: the demo left no report.")


def pinned_torch() -> str:
    [line] = re.findall(r"^torch==.+$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    return str(line)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", choices=("light", "local"))
    which = parser.parse_args(words).which
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        (check_light if which == "light" else check_local)(Path(folder))
    print(f"wheel-check, {which}: fine, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
