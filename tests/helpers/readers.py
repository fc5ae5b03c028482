"""What somebody has at hand who reads a page of the documentation: files, runs, keys and servers."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from batch_endpoint import BatchEndpoint
from stand_in_endpoint import StandIn

import shaketable
from shaketable import catalog
from shaketable.annotation.tasks import entry_of, reviewing_tasks
from shaketable.stages.run import ask
from shaketable.types import Variant
from shaketable.variations.variant_set import load_variant_set, write_variant_set

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "stages" / "interchange" / "logs"

LANDS = (
    *(
        "France",
        "Italy",
        "Egypt",
        "Peru",
        "Iraq",
        "Latvia",
        "Austria",
        "Portugal",
        "Poland",
        "Laos",
        "Sudan",
        "Ireland",
    ),
    *("Norway", "Spain", "Kenya", "Japan", "Chile", "Cuba", "Ghana", "Nepal", "Qatar", "Serbia", "Greece", "Syria"),
)
CITIES = (
    *("Paris", "Rome", "Cairo", "Lima", "Baghdad", "Riga", "Vienna", "Lisbon", "Warsaw", "Vientiane", "Khartoum"),
    *("Dublin", "Oslo", "Madrid", "Nairobi", "Tokyo", "Santiago", "Havana", "Accra", "Kathmandu", "Doha"),
    *("Belgrade", "Athens", "Damascus"),
)
CAPITALS = dict(zip(LANDS, CITIES, strict=True))
"""So many that a gate can show what holds: with all of 24 right, at least 88 % are."""
APP = '''
def answer(question, context):
    """The last word of what it may read."""
    return context.strip(".").split()[-1]
'''
STUDY = """
name = "{name}"

[dataset]
name = "csv"
path = "questions.csv"

[cross]
models = ["pipeline(python='app.py:answer', name='app')"]
perturbations = ["unchanged", "random_noise"]
temperatures = [0.0]

[analyze]
analyses = ["correctness"]
n_resamples = 100
"""
OWN_APP = "pipeline(python='app.py:answer', name='app')"
SCRIPTED = {OWN_APP: "scripted(replies=('Paris', 'Rome'))"}
TWO_PROMPTS = """
methods = [
  "single_retrieval(name='short', prompt='{context} {question}')",
  "single_retrieval(name='strict', prompt='{context} In a word: {question}')",
]
"""


@dataclass
class Shelf:
    """Runs that are made once, and copied to whoever has one."""

    folder: Path

    def put(self, name: str, place: Path) -> None:
        made = self.folder / name
        if not made.exists():
            with contextlib.chdir(_made(self.folder / f"{name}-made")):
                write_app(Path())
                RUNS[name](made)
        shutil.copytree(made, place)


@dataclass
class Desk:
    """A reader's folder, environment, and what stands in for addresses that a page names."""

    folder: Path
    shelf: Shelf
    environment: dict[str, str] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)
    """Written on a page → here."""
    leaving: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def has_key(self, url: str) -> None:
        self.environment |= {"OPENAI_API_KEY": "of-a-reader-01", "OPENAI_BASE_URL": url}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


# --- files ----------------------------------------------------------------------------------------


def write_app(folder: Path, n_questions: int = 24) -> None:
    """A system, its questions, and a study of them; the first question is called QUESTION, as pages write for an id."""
    (folder / "app.py").write_text(APP, "utf-8")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "answer", "context"])
        for n, (land, city) in enumerate([*CAPITALS.items()][:n_questions]):
            context = f"{land} is a country. Its capital is {city}."
            writer.writerow([f"q{n}" if n else "QUESTION", f"What is the capital of {land}?", city, context])
    write_study(folder / "study.toml")


def write_study(file: Path, *, more: str = "", changes: dict[str, str] | None = None) -> None:
    text = STUDY.format(name=file.stem) + more
    for before, after in (changes or {}).items():
        assert before in text, before
        text = text.replace(before, after)
    file.write_text(text, "utf-8")


def write_squad(folder: Path, n_questions: int = 3) -> None:
    """In the official layout."""
    paragraphs = [
        {
            "context": (context := f"{land} is a country. Its capital is {city}."),
            "qas": [
                {
                    "id": land.lower(),
                    "question": f"What is the capital of {land}?",
                    "answers": [{"text": city, "answer_start": context.index(city)}],
                }
            ],
        }
        for land, city in [*CAPITALS.items()][:n_questions]
    ]
    data = {"version": "1.1", "data": [{"title": "Capitals", "paragraphs": paragraphs}]}
    (folder / "dev-v1.1.json").write_text(json.dumps(data), "utf-8")


# --- runs -----------------------------------------------------------------------------------------


def answer_study(run: Path) -> None:
    """Answered and scored: the commands that need more make it."""
    shaketable.score(ask(shaketable.load_study("study.toml"), run))


def answer_badly(run: Path) -> None:
    """A release that became fragile."""
    Path("app.py").write_text("def answer(question, context):\n    return 'Nowhere'\n", "utf-8")
    answer_study(run)


def answer_by_two_prompts(run: Path) -> None:
    write_study(Path("study.toml"), changes=SCRIPTED | {"[analyze]": f"{TWO_PROMPTS}\n[analyze]"})
    answer_study(run)


def answer_over_temperatures(run: Path) -> None:
    """What the first of the published studies crosses."""
    analyses = '"correctness", "guidelines", "ranking", "variability"'
    evidence = '"unchanged", "random_noise"', '"unchanged", "sentence_removal"'
    changed = SCRIPTED | {'"correctness"': analyses, "[0.0]": "[0.0, 1.0]", evidence[0]: evidence[1]}
    write_study(Path("study.toml"), changes=changed)
    shaketable.run(shaketable.load_study("study.toml", limit=4), run, progress=False)


RUNS: dict[str, Callable[[Path], None]] = {
    "good": answer_study,
    "bad": answer_badly,
    "prompts": answer_by_two_prompts,
    "temperatures": answer_over_temperatures,
}


# --- who reads what -------------------------------------------------------------------------------


def has_an_app(desk: Desk) -> None:
    write_app(desk.folder)


def has_nothing(desk: Desk) -> None:
    """An empty folder."""


def has_questions_and_a_key(desk: Desk) -> None:
    write_app(desk.folder, n_questions=3)
    endpoint = StandIn()
    desk.leaving.callback(endpoint.server.shutdown)
    desk.has_key(endpoint.url)


def has_questions_and_two_releases(desk: Desk) -> None:
    """One of which became fragile."""
    has_questions_and_a_key(desk)
    for name, place in (("bad", "RUN"), ("good", "BASE"), ("good", "RUN_A"), ("bad", "RUN_B")):
        desk.shelf.put(name, desk.folder / place)


def has_an_app_and_its_run(desk: Desk) -> None:
    write_app(desk.folder)
    desk.shelf.put("good", desk.folder / "RUN")


def has_documents(desk: Desk) -> None:
    write_app(desk.folder)
    handbook = _made(desk.folder / "handbook")
    (handbook / "europe.md").write_text("# France\n\nFrance is a country. Its capital is Paris.\n", "utf-8")
    (handbook / "asia.txt").write_text("Laos is a country. Its capital is Vientiane.\n", "utf-8")


def has_a_question_of_squad(desk: Desk) -> None:
    write_squad(desk.folder, n_questions=1)


def has_squad(desk: Desk) -> None:
    """With wordings that were frozen, verdicts of two people on them, and a run."""
    write_squad(desk.folder)
    questions = catalog.find("dataset", "squad")(path=str(desk.folder / "dev-v1.1.json")).questions
    casual = [
        [Variant(question_id=asked.id, text=asked.text.replace("What is", "what's"), variation="formality")]
        for asked in questions
    ]
    file = desk.folder / "variants.jsonl"
    write_variant_set(file, questions, {"formality": casual}, [{"label": "formality"}])
    verdicts = [
        entry_of(task, person, {"accepted": person == "Ada" or n > 0})
        for n, task in enumerate(reviewing_tasks(load_variant_set(file), None))
        for person in ("Ada", "Bo")
    ]
    (desk.folder / "reviews.jsonl").write_text("".join(json.dumps(row) + "\n" for row in verdicts), "utf-8")


def has_squad_and_a_run(desk: Desk) -> None:
    has_squad(desk)
    has_an_app(desk)
    desk.shelf.put("good", desk.folder / "runs" / "query-variation")


def has_a_gate(desk: Desk) -> None:
    write_app(desk.folder)
    write_study(desk.folder / "gate.toml", more="\n[gate]\nmin_accuracy = 0.7\nmax_drop = 0.15\n")
    desk.shelf.put("good", desk.folder / "runs" / "base")


def has_runs_to_compare(desk: Desk) -> None:
    for name, place in (("good", "monday"), ("bad", "friday"), ("prompts", "prompts")):
        desk.shelf.put(name, desk.folder / "runs" / place)


def has_the_examples(desk: Desk) -> None:
    shutil.copytree(ROOT / "examples", desk.folder / "examples")


def has_an_endpoint_of_batches(desk: Desk) -> None:
    endpoint = BatchEndpoint()
    desk.leaving.callback(endpoint.close)
    desk.has_key(endpoint.url)
    write_app(desk.folder, n_questions=4)
    asked = "openai(model='gpt-4o-mini', batch=True, batch_poll_seconds=0.05, price_in=0.15, price_out=0.6)"
    write_study(desk.folder / "study.toml", changes={OWN_APP: asked})


def has_books(desk: Desk) -> None:
    """The example of the page, run."""
    shutil.copytree(ROOT / "examples" / "explain", desk.folder, dirs_exist_ok=True)
    with contextlib.chdir(desk.folder):
        answer_study(Path("runs/books"))


def has_a_run_and_a_log(desk: Desk) -> None:
    has_an_app_and_its_run(desk)
    shutil.copy(LOGS / "inspect_0.3.140_plain.eval", desk.folder / "task.eval")


def has_a_published_study(desk: Desk) -> None:
    desk.shelf.put("temperatures", desk.folder / "runs" / "context-temperature")


def has_many_questions(desk: Desk) -> None:
    """As many as the page asks for, and a model that costs nothing; what it keeps of answers is kept in its folder."""
    rows = [{"question": f"What is {n} plus 1?", "answers": [str(n + 1)]} for n in range(200)]
    (desk.folder / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    changes = {
        **SCRIPTED,
        '"csv"\npath = "questions.csv"': '"jsonl"\npath = "many.jsonl"',
        'perturbations = ["unchanged", "random_noise"]': 'methods = ["closed_book"]',
        '["correctness"]': "[]",
    }
    write_study(desk.folder / "my.toml", changes=changes)
    desk.environment["SHAKETABLE_HOME"] = str(desk.folder / "home")


def has_a_cluster(desk: Desk) -> None:
    """Two nodes on this machine, which are up."""
    from two_nodes import two_nodes

    has_many_questions(desk)
    nodes = desk.leaving.enter_context(two_nodes())
    with nodes.connected():
        desk.stand_ins["10.0.0.1:6379"] = nodes.address


def has_a_run_of_the_demo(desk: Desk) -> None:
    desk.shelf.put("good", desk.folder / "runs" / "demo")


def has_a_service(desk: Desk) -> None:
    """An address that answers both as a service of one's own and as a model."""
    write_app(desk.folder)
    service = StandIn()
    own = service.reply
    service.reply = lambda body, n: (200, {}, {"text": "It is Paris."}) if "query" in body else own(body, n)
    desk.leaving.callback(service.server.shutdown)
    desk.stand_ins["https://example.org"] = service.url.removesuffix("/v1")
    desk.environment["MY_TOKEN"] = "of-a-reader-02"
    desk.environment["OPENAI_API_KEY"] = "of-a-reader-01"
