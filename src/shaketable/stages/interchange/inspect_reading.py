"""Logs of Inspect (`.eval`, `.json`) → rows of answers: epochs are repeats, targets gold answers, errors failures."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shaketable.errors import DataError
from shaketable.stages.answer_rows import PlacedRow
from shaketable.stages.interchange.log_rows import (
    MOST_BYTES,
    OWN,
    Log,
    count_in,
    list_in,
    make_row,
    mapping_in,
    number_in,
    number_of,
    own_condition,
    text_in,
)
from shaketable.text.unpacking import unpack
from shaketable.types import Remark

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""What Inspect makes of the values that its scorers write: correct, incorrect, partial, no answer."""
CHOSEN = re.compile(r"ANSWER\s*:\s*([A-Z](?:\s*,\s*[A-Z])*)\b", re.IGNORECASE)
ATTACHMENT = "attachment://"
ADVICE = "Check that this is a log of Inspect: `inspect log dump` reads one."
Samples = Iterator[tuple[str, dict[str, Any]]]


def is_log(beginning: bytes) -> bool:
    """Whether a JSON file begins as these logs do."""
    start = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:200]
    return re.match(rb'\{\s*"(version|status)"\s*:', start) is not None and b'"eval"' in beginning


def read_inspect(file: Path, temperature: float | None = None) -> Log:
    header, samples = _opened(file)
    spec = mapping_in(header, "eval")
    if not spec:
        raise DataError(f"{file}: no 'eval' is in its header. {ADVICE}")
    own = mapping_in(mapping_in(spec, "metadata"), OWN)
    shared = _shared(file, header, temperature) | own_condition(own)
    rows: list[PlacedRow] = []
    for where, sample in samples:
        rows.append(_row(where, sample, shared))
    status = text_in(header, "status")
    is_whole = status in (None, "success")
    remark = Remark(where=str(file), text=f"its status is '{status}', so samples may be missing")
    if not rows:
        raise DataError(f"{file}: it holds no samples (status: {status}). Run the task with its samples logged.")
    return Log(task=shared["dataset"], rows=tuple(rows), remarks=() if is_whole else (remark,), is_own=bool(own))


# --- files ----------------------------------------------------------------------------------------


def _opened(file: Path) -> tuple[dict[str, Any], Samples]:
    """The header, and samples with their places one after the other."""
    if zipfile.is_zipfile(file):
        return _header_in(file), _zipped_samples(file)
    try:
        content = unpack(file.read_bytes(), file.name)
        log = json.loads(content)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{file}: it cannot be read as a log: {error}. {ADVICE}") from error
    if not isinstance(log, dict):
        raise DataError(f"{file}: found {type(log).__name__}, expected a JSON object. {ADVICE}")
    samples = log.get("samples") or []
    if not isinstance(samples, list):
        raise DataError(f"{file}: 'samples' is {type(samples).__name__}, expected a list. {ADVICE}")
    return log, ((f"{file.name} samples[{place}]", _object(file, sample)) for place, sample in enumerate(samples))


def _object(file: Path, sample: object) -> dict[str, Any]:
    if not isinstance(sample, dict):
        raise DataError(f"{file}: a sample is {sample!r}, expected an object. {ADVICE}")
    return sample


def _unzipped(file: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except Exception as error:  # A damaged directory ends in errors of many kinds: zipfile, struct, Unicode, overflow.
        raise DataError(f"{file}: it cannot be unpacked: {error}. The file is damaged; get it again.") from error


def _header_in(file: Path) -> dict[str, Any]:
    with _unzipped(file) as opened:
        names = opened.namelist()
        if sum(member.file_size for member in opened.infolist()) > MOST_BYTES:
            raise DataError(f"{file}: it unpacks to more than {MOST_BYTES >> 30} GiB. Export fewer samples.")
        # A task that was cut has no header yet, only what it started with.
        name = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if name is None:
            raise DataError(f"{file}: it is a zip file without 'header.json'. {ADVICE}")
        header = _member(file, opened, name)
    if name != "header.json":
        header = {"status": "started", **header}
    return header


def _zipped_samples(file: Path) -> Samples:
    with _unzipped(file) as opened:
        for name in opened.namelist():
            if name.startswith("samples/") and name.endswith(".json"):
                yield f"{file.name} {name}", _member(file, opened, name)


def _member(file: Path, opened: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        value = json.loads(opened.read(name))
    except NotImplementedError as error:
        raise DataError(
            f"{file}: {name} is packed in a way that is not known here ({error}). Write it as JSON: "
            f"inspect log convert {file.name} --to json --output-dir FOLDER."
        ) from error
    except Exception as error:  # A damaged zip file ends in errors of many kinds: zlib, struct, zipfile, EOF.
        raise DataError(f"{file}: {name} cannot be read: {error}. The file is damaged; get it again.") from error
    if not isinstance(value, dict):
        raise DataError(f"{file}: {name} is no JSON object. {ADVICE}")
    return value


# --- what all samples share -----------------------------------------------------------------------


def _shared(file: Path, header: Mapping[str, Any], temperature: float | None) -> dict[str, Any]:
    spec, plan = mapping_in(header, "eval"), mapping_in(header, "plan")
    steps = [text_in(step, "solver") for step in list_in(plan, "steps")]
    solvers = [step.rpartition("/")[2] for step in steps if step]
    dataset = text_in(mapping_in(spec, "dataset"), "name") or text_in(spec, "task") or file.stem
    config = {**mapping_in(spec, "model_generate_config"), **mapping_in(plan, "config")}
    own = mapping_in(mapping_in(spec, "metadata"), OWN)
    named = number_in(own, "temperature") if own else number_in(config, "temperature")
    if named is None and temperature is None:
        raise DataError(
            f"{file}: the log names no temperature, so the provider's default was used, which it does not tell. Say "
            "which that is: --temperature 1 for most providers."
        )
    return {
        "dataset": dataset,
        "model": text_in(spec, "model") or "imported",
        "method": " + ".join(solvers) or "imported",
        "temperature": temperature if named is None else named,
    }


# --- one sample -----------------------------------------------------------------------------------


def _row(where: str, sample: Mapping[str, Any], shared: Mapping[str, Any]) -> PlacedRow:
    kept = mapping_in(sample, "metadata")
    own = mapping_in(kept, OWN)
    attached = mapping_in(sample, "attachments")
    messages = _messages(sample.get("messages"), attached)
    asked = _asked(sample.get("input"), attached)
    choices = [choice for choice in list_in(sample, "choices") if isinstance(choice, str)]
    completion = _completion(mapping_in(sample, "output"), attached)
    error = _error(sample)
    usage = [use for use in mapping_in(sample, "model_usage").values() if isinstance(use, dict)]
    said = None if error else _chosen(sample, completion, choices) if choices else completion
    replies = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    values = {
        "question_id": str(sample.get("id")),
        "question": asked,
        "gold": _gold(sample.get("target"), choices),
        "answer": said,
        "working": completion if completion and said != completion and not error else "",
        "repeat": (count_in(sample, "epoch") or 1) - 1,
        "type": text_in(kept, "type"),
        "n_generations": len(replies),
        "n_tokens": sum(count_in(use, "output_tokens") or 0 for use in usage),
        "n_prompt_tokens": sum(count_in(use, "input_tokens") or 0 for use in usage),
        "seconds": max(number_in(sample, "working_time") or number_in(sample, "total_time") or 0.0, 0.0),
        "prompt": messages[: replies[-1]] if replies else messages,
        "scores": _scores(mapping_in(sample, "scores")),
        **({"failure": error[0], "failure_message": error[1]} if error else {}),
    }
    return make_row(where, values | dict(shared) | own)


def _asked(value: object, attached: Mapping[str, Any]) -> str:
    """The question: a text, or what the user says last."""
    if isinstance(value, str):
        return _text(value, attached)
    told = [message["content"] for message in _messages(value, attached) if message["role"] == "user"]
    return told[-1] if told else ""


def _messages(value: object, attached: Mapping[str, Any]) -> list[dict[str, str]]:
    """Those that have words; what tools say is left out."""
    listed = value if isinstance(value, list) else []
    told = [
        {"role": str(message.get("role")), "content": _text(message.get("content"), attached)}
        for message in listed
        if isinstance(message, dict)
    ]
    return [message for message in told if message["role"] in ("system", "user", "assistant")]


def _text(content: object, attached: Mapping[str, Any]) -> str:
    """The words of a message; pictures and thoughts are left out, and long texts may lie beside it."""
    if isinstance(content, list):
        return "\n".join(
            _text(part.get("text"), attached) for part in content if isinstance(part, dict) and "text" in part
        )
    if not isinstance(content, str):
        return ""
    if content.startswith(ATTACHMENT):
        kept = attached.get(content.removeprefix(ATTACHMENT))
        return kept if isinstance(kept, str) else content
    return content


def _completion(output: Mapping[str, Any], attached: Mapping[str, Any]) -> str | None:
    """What the model said; None: nothing came from it."""
    choices = list_in(output, "choices")
    said = output.get("completion")
    if isinstance(said, str) and (said or choices):
        return _text(said, attached)
    return _text(mapping_in(choices[0], "message").get("content"), attached) if choices else None


def _error(sample: Mapping[str, Any]) -> tuple[str, str] | None:
    """Kind and message of what went wrong."""
    error, output = mapping_in(sample, "error"), mapping_in(sample, "output")
    if error:
        return "error", text_in(error, "message") or "no message"
    if message := text_in(output, "error"):
        return "model_error", message
    limit = mapping_in(sample, "limit")
    if not list_in(output, "choices") and not text_in(output, "completion"):
        kind = text_in(limit, "type")
        return (f"{kind}_limit", f"its limit was {limit.get('limit')}") if kind else ("no_output", "the log has none")
    return None


# --- choices and scores ---------------------------------------------------------------------------


def _gold(target: object, choices: Sequence[str]) -> list[str]:
    """Accepted answers; of a question with choices, the texts of those that are right, all together."""
    targets = [str(one) for one in (target if isinstance(target, list) else [target]) if one is not None]
    chosen = _texts_of(targets, choices) if choices else None
    return targets if chosen is None else [chosen]


def _chosen(sample: Mapping[str, Any], completion: str | None, choices: Sequence[str]) -> str | None:
    """The text of what was chosen, by the scorer or in the reply; else the reply."""
    graded = [text_in(score, "answer") for score in mapping_in(sample, "scores").values()]
    written = CHOSEN.findall(completion or "")
    for letters in (*graded, *written[-1:]):
        text = _texts_of([part.strip().upper() for part in letters.split(",")], choices) if letters else None
        if text is not None:
            return text
    return completion


def _texts_of(letters: Sequence[str], choices: Sequence[str]) -> str | None:
    places = [LETTERS.find(letter) if len(letter) == 1 else -1 for letter in letters]
    if not places or not all(0 <= place < len(choices) for place in places):
        return None
    return ", ".join(choices[place] for place in sorted(places))


def _scores(scores: Mapping[str, Any]) -> dict[str, float]:
    """Name → number; a scorer with several numbers has them as `scorer.number`."""
    numbers: dict[str, float] = {}
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        members = value.items() if isinstance(value, dict) else [(None, value)]
        for member, own in members:
            number = GRADES.get(own) if isinstance(own, str) and own in GRADES else number_of(own)
            if number is not None:
                numbers[name if member is None else f"{name}.{member}"] = number
    return numbers
