"""Valid files and values → nearly valid ones."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from faults.fuzz.texts import Make, is_one_in, short, value

Path = tuple[str | int, ...]

BYTES = (
    *(b"\xff", b"\x00", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null"),
    *(
        b"\xed\xa0\xbd",
        b"1e999",
        b"9" * 4400,
        b"0x" + b"f" * 4000,
        b"-0.0",
        b"NaN",
        b"[" * 3000,
        b"{'",
        b"\x1f\x8b",
        b"=",
    ),
    *(
        b"'" * 3,
        b"true",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"PAR1",
        b"#",
        b"--",
        b"(" * 120,
        b"\\ud83d",
        b"()",
        b"=()",
        b"None",
    ),
)


def paths(whole: Any, before: Path = ()) -> Iterator[Path]:
    """The place of every value in it, that of the whole first."""
    yield before
    if isinstance(whole, dict | list):
        for step, inner in whole.items() if isinstance(whole, dict) else enumerate(whole):
            yield from paths(inner, (*before, step))


def changed(rng: Random, whole: Any, other: Make[Any] = value, most: int = 3) -> Any:
    """The value with a few places replaced, taken out, doubled or added to."""
    made = copy.deepcopy(whole)
    for _ in range(rng.randint(1, most)):
        places = list(paths(made))[1:]
        if not places:
            return other(rng)
        *above, last = rng.choice(places)
        holder = made
        for step in above:
            holder = holder[step]
        match rng.choice(("replace", "replace", "replace", "remove", "double", "add")):
            case "replace":
                holder[last] = other(rng)
            case "remove":
                del holder[last]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
            case _ if isinstance(holder, dict):
                holder[short(rng)] = other(rng)
            case _:
                holder.append(other(rng))
    return made


def damaged(rng: Random, content: bytes, most: int = 4) -> bytes:
    """The bytes with a few of them replaced, taken out, doubled or cut off."""
    for _ in range(rng.randint(1, most)):
        start = rng.randint(0, len(content))
        end = min(len(content), start + rng.choice((0, 0, 1, 2, 8, 40)))
        kind = rng.randrange(4)
        new = rng.choice(BYTES) if kind < 2 else content[start:end] * 2
        if kind == 2:
            new = bytes(rng.randrange(256) for _ in range(rng.randrange(6)))
        content = content[:start] + new + content[end:]
    return content[: rng.randint(0, len(content))] if is_one_in(rng, 10) else content


def as_lines(rows: Sequence[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def file(rng: Random, rows: Sequence[Any], layouts: Sequence[str] = ("lines", "array", "indented")) -> bytes:
    """The rows as a file in one of its layouts; values are changed, or bytes, or both, or neither."""
    how = rng.choice(("values", "values", "bytes", "both", "neither"))
    made = changed(rng, list(rows)) if how in ("values", "both") else list(rows)
    layout = rng.choice(layouts)
    listed = made if isinstance(made, list) else [made]
    if layout == "lines":
        content = as_lines(listed)
    else:
        whole = (listed or [None])[0] if layout == "first" else made
        content = json.dumps(whole, indent=None if layout == "array" else 1).encode()
    if how in ("bytes", "both"):
        content = damaged(rng, content)
    if is_one_in(rng, 12):
        content = gzip.compress(content, 1, mtime=0)
        content = damaged(rng, content) if is_one_in(rng, 2) else content
    return content
