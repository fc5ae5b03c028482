"""`drafts.json`: what models have written of replies that are not finished, so that a run that is killed goes on there.

It is written every moment and needed until the next one, so it is a file beside the records, written anew as a whole. A
file that is not as it was written is not used, and one that cannot be written costs nothing but the work.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from shaketable.identity import canonical, digest_text
from shaketable.store.codec import decode
from shaketable.text.whole_file import write_whole
from shaketable.types import Draft

NAME = "drafts.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptDraft:
    """The reply that a trial waits for."""

    key: str
    """Of the trial."""
    place: int
    """Among the replies of its trial, from 0."""
    prompt: str
    """The digest of what was asked: a draft answers nothing else."""
    draft: Draft


def load_drafts(folder: Path) -> dict[str, KeptDraft]:
    """Key of a trial → its draft."""
    try:
        seal, text = (folder / NAME).read_text("utf-8").split("\n", 1)
        drafts = [decode(KeptDraft, packed) for packed in json.loads(text)] if seal == digest_text(text) else []
    except (OSError, ValueError, TypeError, KeyError):
        drafts = []
    return {kept.key: kept for kept in drafts}


def write_drafts(folder: Path, drafts: Collection[KeptDraft]) -> None:
    """Whole or not at all; no file where there are none."""
    file = folder / NAME
    with contextlib.suppress(OSError):
        if not drafts:
            file.unlink(missing_ok=True)
            return
        text = canonical(list(drafts))
        write_whole(file, f"{digest_text(text)}\n{text}")
