"""A study that asks a hostile endpoint, and its records beside what the server says that it did."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hostile_replies import FAULTS
from hostile_server import GOOD, Log
from made_studies import row, write_rows

from shaketable.types import Generate, Record

KEYS = {"OPENAI_API_KEY": "sk-Planted-0123456789-abcdefghij", "TEAM_KEY": "tk-Planted-9876543210-zyxwvutsrq"}
STUDY = """
name = "hostile"
seed = 3
[dataset]
name = "jsonl"
path = {path}
[cross]
models = [{model}]
methods = ["closed_book"]
temperatures = [0.0]
repeats = 1
[generation]
max_tokens = 20
logprobs = true
top_logprobs = true
[score]
metrics = ["contains", "certainty", "margin", "entropy(n_top=2)", "terse"]
[analyze]
analyses = ["correctness"]
"""


def write_study(folder: Path, url: str, n_questions: int, **settings: object) -> Path:
    path = write_rows(folder / "questions.jsonl", [row(n) for n in range(n_questions)])
    given = {"model": "hostile", "base_url": url, "headers": {"X-Api-Key": "${TEAM_KEY}"}, **settings}
    model = f"openai({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    study = folder / "hostile.toml"
    study.write_text(STUDY.format(path=json.dumps(str(path)), model=json.dumps(model)), "utf-8")
    return study


def outcomes(records: Iterable[Record]) -> dict[str, bool]:
    """What was asked → whether there is an answer."""
    steps = ((record, event.step) for record in records for event in record.trace)
    return {step.messages[-1].content: record.failure is None for record, step in steps if isinstance(step, Generate)}


def disagreements(log: Log, answered: Mapping[str, bool], attempts: int) -> list[str]:
    """Where records and the server's log do not tell of the same requests and answers."""
    return [
        f"{'an answer' if is_answer else 'a failure'} after {done}"
        for prompt, is_answer in answered.items()
        if not _agrees(done := log.by_prompt.get(prompt, []), is_answer, attempts)
    ]


def _agrees(done: Sequence[str], is_answer: bool, attempts: int) -> bool:
    came_of = ["answer" if name == GOOD else FAULTS[name].outcome for name in done]
    if not came_of or any(outcome not in ("again", "busy", "either") for outcome in came_of[:-1]):
        return False
    last, n_before = came_of[-1], sum(outcome in ("again", "either") for outcome in came_of[:-1])
    if last == "again":
        return not is_answer and n_before == attempts - 1
    return n_before < attempts and last in (("answer",) if is_answer else ("failure", "either"))


def n_answers_sent(log: Log, prompts: Iterable[str]) -> int:
    return sum(name == GOOD or FAULTS[name].outcome == "answer" for one in prompts for name in log.by_prompt[one])


def n_open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def reasons(records: Iterable[Record]) -> Counter[str]:
    """Failures by what is said of them, the host and numbers left out."""
    failures = (record.failure for record in records if record.failure is not None)
    said = ((one.kind, one.message.partition(": ")[2]) for one in failures)
    return Counter(f"{kind}: {re.sub(r'[0-9][0-9,.]*', '…', message)[:50]}" for kind, message in said)


def leaks(folder: Path, *texts: str) -> Iterator[str]:
    """Where a key stands: in any file of a folder, its database and that one's journal included, or in a text."""
    for key in KEYS.values():
        for file in folder.rglob("*"):
            if file.is_file() and key.lower().encode() in file.read_bytes().lower():
                yield f"{key} in {file.relative_to(folder)}"
        for text in texts:
            if key.lower() in text.lower():
                yield f"{key} in what was said"


def invalid_json(folder: Path) -> Iterator[str]:
    """Files, and values in the database, that are no JSON though they are named so."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    for file in (*folder.rglob("*.json"), *folder.rglob("*.jsonl")):
        lines = file.read_text("utf-8").splitlines() if file.suffix == ".jsonl" else [file.read_text("utf-8")]
        for line in lines:
            try:
                json.loads(line, parse_constant=refuse)
            except ValueError as error:
                yield f"{file.name}: {error}"
