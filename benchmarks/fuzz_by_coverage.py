"""Claim: as fuzz.py, for files and texts as bytes, led by what code a case reached. Needs atheris: pip install atheris.

    python benchmarks/fuzz_by_coverage.py TARGET [-runs=N] [-max_total_time=S] [CORPUS]

Targets: load_hotpotqa and the other loaders, answer_rows, study, part_texts. What stands behind TARGET goes to
libFuzzer. It ends at the first failure and leaves the input that made it in a file.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "helpers")]

with atheris.instrument_imports(include=["shaketable.datasets", "shaketable.catalog", "shaketable.study", "tomllib"]):
    from faults.fuzz import loading, studies
    from faults.fuzz.layouts import ROWS
    from faults.fuzz.mutation import as_lines


def readers() -> dict[str, tuple[Callable[[bytes], None], list[bytes]]]:
    """Target → what reads the bytes, and bytes to start from."""
    named = {
        f"load_{name}": (functools.partial(loading.loads, name), [as_lines(rows), loading.TABLES.get(name, b"[]")])
        for name, rows in ROWS.items()
    }
    parts = [f"{kind}:{text}".encode() for kind, text in studies.EVERY]
    return {
        **named,
        "answer_rows": (loading.reads_answers, [as_lines([loading.ANSWER]), loading.ANSWER_TABLE]),
        "study": (
            lambda content: studies.reads_study((content, [])),
            [text.encode() for text in studies.TEXTS.values()],
        ),
        "part_texts": (_build, parts),
    }


def _build(content: bytes) -> None:
    kind, _, text = content.decode("utf-8", "surrogateescape").partition(":")
    with contextlib.suppress(KeyError):  # No kind of part.
        studies.builds((kind, text))


def main() -> None:
    name, known = (sys.argv[1:] or [""])[0], readers()
    if name not in known:
        sys.exit(f"Which target? Known: {', '.join(known)}.")
    read, seeds = known[name]
    corpus = loading.scratch() / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, content in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(content)
    atheris.Setup([sys.argv[0], *sys.argv[2:], str(corpus)], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
