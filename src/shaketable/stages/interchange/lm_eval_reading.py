"""Sample files of lm-evaluation-harness (`samples_TASK_DATE.jsonl`) → rows of answers, with the results beside them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shaketable.datasets.reading.rows import Row, read_rows
from shaketable.errors import DataError
from shaketable.stages.answer_rows import PlacedRow
from shaketable.stages.interchange.log_rows import (
    OWN,
    Log,
    list_in,
    make_row,
    mapping_in,
    number_in,
    number_of,
    own_condition,
    text_in,
)
from shaketable.types import Remark

NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.\-]+)\.jsonl(\.gz)?")
ADVICE = "Check that this is a file that lm_eval wrote with --log_samples."
FIELD = re.compile(r"\{\{\s*(\w+)(?:\.strip\(\))?\s*\}\}")
QUESTION = ("question", "query", "input", "problem", "prompt", "text")
"""Fields of a document that hold the question, where the task does not say which."""


def is_samples(beginning: bytes) -> bool:
    """Whether JSON lines begin as these files do."""
    line = beginning.partition(b"\n")[0]
    return (
        line.lstrip().startswith(b"{")
        and all(name in line for name in (b'"doc_id"', b'"doc"'))
        and (
            b'"resps"' in line or len(line) == len(beginning)  # A long first line is cut before it.
        )
    )


def read_lm_eval(file: Path, temperature: float | None = None) -> Log:
    """One file of samples, or those that a file of results tells of."""
    if file.name.startswith("results_"):
        return _of_results(file, temperature)
    named = NAME.fullmatch(file.name)
    results = _results_beside(file, named["date"] if named else None)
    task = named["task"] if named else file.stem.removeprefix("samples_")
    told = _Told.of(file, task, results)
    lines = [(row, _checked(row)) for row in read_rows(file)]
    chosen, others = _filters([line for _, line in lines])
    rows: list[PlacedRow] = []
    for row, line in lines:
        if str(line.get("filter")) == chosen:
            rows += told.rows(row.where, line, temperature)
    remarks = [Remark(where=str(file), text=f"answers are those of the filter '{chosen}', not of {', '.join(others)}")]
    return Log(task=task, rows=tuple(rows), remarks=tuple(remarks if others else ()), is_own=bool(told.own))


def _of_results(file: Path, temperature: float | None) -> Log:
    date = file.stem.removeprefix("results_")
    samples = sorted(file.parent.glob(f"samples_*_{date}.jsonl"))
    if not samples:
        raise DataError(f"{file}: no samples_*_{date}.jsonl lies beside it. Run lm_eval with --log_samples.")
    logs = [read_lm_eval(sample, temperature) for sample in samples]
    if len({log.task for log in logs}) > 1 and not all(log.is_own for log in logs):
        raise DataError(
            f"{file}: it tells of {len(logs)} tasks. Give the folder, {file.parent}, or one file of samples."
        )
    rows = tuple(row for log in logs for row in log.rows)
    return Log(task=logs[0].task, rows=rows, remarks=logs[0].remarks, is_own=logs[0].is_own)


def _results_beside(file: Path, date: str | None) -> dict[str, Any]:
    """What was written with the samples; empty: nothing lies there."""
    beside = file.with_name(f"results_{date}.json")
    if date is None or not beside.is_file():
        return {}
    try:
        results = json.loads(beside.read_bytes())
    except (ValueError, OSError) as error:
        raise DataError(f"{beside}: it cannot be read: {error}. Get it again, or put it elsewhere.") from error
    return results if isinstance(results, dict) else {}


def _checked(row: Row) -> dict[str, Any]:
    if not isinstance(row.value, dict) or not isinstance(row.value.get("resps"), list) or "doc" not in row.value:
        raise DataError(f"{row.where}: no 'doc' and 'resps' are in it. {ADVICE}")
    return row.value


def _filters(lines: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The first filter that leaves one text for each response, and the others: documents stand once for each."""
    names = list(dict.fromkeys(str(line.get("filter")) for line in lines))
    whole = [name for name in names if all(_is_whole(line) for line in lines if str(line.get("filter")) == name)]
    chosen = next(iter((*whole, *names)), "none")
    return chosen, [name for name in names if name != chosen]


def _is_whole(line: Mapping[str, Any]) -> bool:
    return len(_texts(list_in(line, "filtered_resps"))) == len(_texts(line["resps"]))


def _texts(responses: Sequence[Any]) -> list[Any]:
    """The responses to the first request, one for each repeat."""
    first = responses[0] if responses else []
    return first if isinstance(first, list) else [first]


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What holds for all lines of a file."""

    task: str
    model: str
    method: str
    config: Mapping[str, Any]
    worse_when_higher: tuple[str, ...]
    own: Mapping[str, Any]

    @classmethod
    def of(cls, file: Path, task: str, results: Mapping[str, Any]) -> _Told:
        config = mapping_in(mapping_in(results, "configs"), task)
        arguments = mapping_in(mapping_in(results, "config"), "model_args")
        names = (text_in(results, "model_name"), text_in(arguments, "model"), text_in(arguments, "pretrained"))
        n_shots = mapping_in(results, "n-shot").get(task)
        kind = text_in(config, "output_type") or "imported"
        better = mapping_in(mapping_in(results, "higher_is_better"), task)
        return cls(
            task=task,
            model=next((name for name in names if name), None) or (file.parent.name if results else "imported"),
            method=f"{n_shots}-shot {kind}" if n_shots else kind,
            config=config,
            worse_when_higher=tuple(name for name, is_better in better.items() if is_better is False),
            own=mapping_in(mapping_in(config, "metadata"), OWN),
        )

    def rows(self, where: str, line: Mapping[str, Any], temperature: float | None) -> list[PlacedRow]:
        requests = _requests(line)
        if len(requests) > 1 or _is_likelihood(line):
            values = [self._choice(where, line, requests)]
        else:
            heat = self._temperature(where, requests, temperature)
            values = [
                {"answer": said, "repeat": repeat, "working": full, "temperature": heat, **_failed(said)}
                for repeat, (said, full) in enumerate(_answers(line))
            ]
            scores = self._scores(line) if len(values) == 1 else {}
            values = [
                value | {"gold": _gold(line), "scores": scores if value["answer"] is not None else {}}
                for value in values
            ]
        shared = self._shared(line, requests)
        return [make_row(where, shared | value | own_condition(self.own) | self._own(line)) for value in values]

    def _shared(self, line: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        prompt = _prompt(requests[0]) if requests else []
        return {
            "question_id": str(line.get("doc_id")),
            "question": self._question(line, prompt),
            "dataset": self.task,
            "model": self.model,
            "method": self.method,
            "n_generations": 1,
            "prompt": prompt,
        }

    def _own(self, line: Mapping[str, Any]) -> dict[str, Any]:
        doc = mapping_in(line, "doc")
        return dict(mapping_in(doc, OWN)) if self.own else {}

    def _question(self, line: Mapping[str, Any], prompt: Sequence[Mapping[str, str]]) -> str:
        """The field that the task asks, a field that is called so, or what the model was asked."""
        doc = mapping_in(line, "doc")
        asked = FIELD.findall(text_in(self.config, "doc_to_text") or "")
        names = (*(asked if len(asked) == 1 else ()), *QUESTION)
        told = next((text for name in names if (text := text_in(doc, name))), None)
        return told or (prompt[-1]["content"] if prompt else "")

    def _temperature(self, where: str, requests: Sequence[Mapping[str, Any]], given: float | None) -> float:
        """Nothing is sampled unless the task says so."""
        settings = mapping_in(requests[0], "arg_1") if requests else {}
        named = number_in(settings, "temperature")
        is_sampled = settings.get("do_sample")
        if is_sampled is False or (named is None and not is_sampled):
            return 0.0 if given is None or is_sampled is False else given
        if named is None and given is None:
            raise DataError(f"{where}: it was sampled, but no temperature is named. Say which it was: --temperature 1.")
        return float(given if named is None else named)  # type: ignore[arg-type]

    def _choice(self, where: str, line: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The likeliest of the choices is the answer."""
        texts = [str(request.get("arg_1", "")).strip() for request in requests]
        likelihoods = [_likelihood(response) for response in list_in(line, "filtered_resps")]
        if len(likelihoods) < len(texts) or len(texts) < 2 or None in likelihoods:
            raise DataError(
                f"{where}: it holds neither texts nor the log-likelihoods of choices, so there is no answer in it. "
                "Import tasks of the output types generate_until and multiple_choice."
            )
        known = [likelihood for likelihood in likelihoods[: len(texts)] if likelihood is not None]
        target = str(line.get("target"))
        place = int(target) if target.isdecimal() and int(target) < len(texts) else None
        return {
            "answer": texts[known.index(max(known))],
            "gold": [target if place is None else texts[place]],
            "temperature": 0.0,
            "scores": self._scores(line),
        }

    def _scores(self, line: Mapping[str, Any]) -> dict[str, float]:
        names = [
            name for name in list_in(line, "metrics") if isinstance(name, str) and name not in self.worse_when_higher
        ]
        numbers = {name: number_of(line.get(name)) for name in names if not isinstance(line.get(name), str)}
        return {name: number for name, number in numbers.items() if number is not None}


def _requests(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    arguments = mapping_in(line, "arguments")
    return [own for own in arguments.values() if isinstance(own, dict)]


def _is_likelihood(line: Mapping[str, Any]) -> bool:
    """Whether what came back are numbers and no texts."""
    first = _texts(line["resps"])
    return bool(first) and isinstance(first[0], list)


def _likelihood(response: object) -> float | None:
    return number_of(response[0]) if isinstance(response, list) and response else number_of(response)


def _answers(line: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    """What is scored of each response, and the whole of it where that is more."""
    responses = _texts(line["resps"])
    filtered = _texts(list_in(line, "filtered_resps")) if _is_whole(line) else responses
    answers: list[tuple[str | None, str]] = []
    for kept, whole in zip(filtered, responses, strict=True):
        said = kept if isinstance(kept, str) else None
        answers.append((said, whole if said is not None and isinstance(whole, str) and whole != said else ""))
    return answers


def _failed(said: str | None) -> dict[str, str]:
    return {} if said is not None else {"failure": "no_output", "failure_message": "the file has null for it"}


def _gold(line: Mapping[str, Any]) -> list[str]:
    """The target, or the targets where it is the text of a list."""
    target = line.get("target")
    if isinstance(target, str) and target.startswith("["):
        try:
            listed = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError):
            return [target]
        if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
            return listed
    return [str(one) for one in target] if isinstance(target, list) else [str(target)]


def _prompt(request: Mapping[str, Any]) -> list[dict[str, str]]:
    """What was sent: a text, or the messages of a chat as the text of their JSON."""
    sent = request.get("arg_0")
    text = sent[0] if isinstance(sent, list) and sent else sent
    if not isinstance(text, str):
        return []
    try:
        messages = json.loads(text) if text.startswith("[{") else None
    except ValueError:
        messages = None
    if isinstance(messages, list) and messages:
        told = [(text_in(message, "role"), text_in(message, "content")) for message in messages]
        if all(role in ("system", "user", "assistant") and content for role, content in told):
            return [{"role": str(role), "content": str(content)} for role, content in told]
    return [{"role": "user", "content": text}]
