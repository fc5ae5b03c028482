"""`explanations.json`: what `explain` gave of a run, each as the same value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter

from shaketable.errors import RunError
from shaketable.store.explanations import Explanation
from shaketable.store.sealing.files import refuse_altered, write_sealed

NAME = "explanations.json"
SCHEMA = 1
ADAPTER = TypeAdapter(tuple[Explanation, ...])


def load_explanations(folder: Path) -> tuple[Explanation, ...]:
    """All of a run, in the order they were made; none: nothing was explained, or by another version."""
    path = folder / NAME
    if not path.is_file():
        return ()
    refuse_altered(path, "Delete it, and explain again.")
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["schema"] != SCHEMA:
            return ()
        return ADAPTER.validate_python(content["explanations"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{path} does not hold explanations: {str(error).splitlines()[0]}. Delete it, and explain again."
        ) from error


def write_explanation(folder: Path, explanation: Explanation) -> None:
    """Beside the others; one of the same trial takes the place of the older."""
    others = [own for own in load_explanations(folder) if own.key != explanation.key]
    write_explanations(folder, [*others, explanation])


def write_explanations(folder: Path, explanations: Iterable[Explanation]) -> None:
    """All of a run."""
    write_sealed(folder / NAME, _format(explanations))


def _format(explanations: Iterable[Explanation]) -> str:
    values = ADAPTER.dump_python(tuple(explanations), mode="json")
    return json.dumps({"schema": SCHEMA, "explanations": values}, indent=1, ensure_ascii=False, allow_nan=False)
