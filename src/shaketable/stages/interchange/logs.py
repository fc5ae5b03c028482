"""A path → the rows of the logs that lie there, whichever tool wrote them."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Literal

from shaketable.errors import DataError
from shaketable.stages.interchange import inspect_reading, lm_eval_reading
from shaketable.stages.interchange.log_rows import Log, joined
from shaketable.text.unpacking import refuse_pipe

LogFormat = Literal["answers", "inspect", "lm-eval"]
BEGINNING = 1 << 16
"""Bytes that tell whose a file is."""


def read_log(path: Path, log_format: LogFormat | None = None, temperature: float | None = None) -> Log | None:
    """The rows of one log, or of all that a folder holds; None: it is a file of answers, which is read elsewhere."""
    if log_format == "answers" or not path.exists():
        return None
    refuse_pipe(path)
    files = _logs_in(path) if path.is_dir() else [path]
    kinds = {file: log_format or format_of(file) for file in files}
    if path.is_dir():
        files = [file for file, kind in kinds.items() if kind is not None]
        if not files:
            raise DataError(
                f"{path} holds no logs. Give a folder with logs of Inspect (.eval, .json) or samples_*.jsonl of "
                "lm-evaluation-harness, or one file."
            )
    found = sorted({kind for kind in kinds.values() if kind is not None})
    if not found:
        return None
    if len(found) > 1:
        raise DataError(f"{path} holds logs of {' and '.join(found)}. Choose with --format {found[0]}.")
    return joined([_read(file, found[0], temperature) for file in files], path)


def format_of(file: Path) -> LogFormat | None:
    """Whose log a file is, by its content; None: nobody's."""
    with file.open("rb") as opened:
        beginning = opened.read(BEGINNING)
    if beginning.startswith(b"PK\x03\x04"):
        return "inspect"
    if lm_eval_reading.is_samples(beginning) or (file.name.startswith("results_") and file.suffix == ".json"):
        return "lm-eval"
    return "inspect" if inspect_reading.is_log(beginning) else None


def _logs_in(folder: Path) -> list[Path]:
    """Files that may be logs, in the order of their names; results of lm-evaluation-harness come with their samples."""
    patterns = ("*.eval", "*.json", "samples_*.jsonl")
    return sorted(
        file
        for file in chain.from_iterable(folder.rglob(pattern) for pattern in patterns)
        if file.is_file() and not file.name.startswith("results_")
    )


def _read(file: Path, kind: LogFormat, temperature: float | None) -> Log:
    try:
        if kind == "inspect":
            return inspect_reading.read_inspect(file, temperature)
        return lm_eval_reading.read_lm_eval(file, temperature)
    except RecursionError as error:
        raise DataError(f"{file}: it is nested too deeply to be read. Check that this is a log.") from error
