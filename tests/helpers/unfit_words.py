"""Words that must never be put into a document, as digests, so that nobody meets them by accident."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

UNFIT = frozenset(Path(__file__).with_name("unfit_words.sha256").read_text("ascii").split())
"""The first 16 digits of SHA-256 of 1,043 words: those of the package better_profanity 0.7.0 (MIT), and others, written
for this test, of violence, drugs, peoples and beliefs, bodies and disease."""
ENDINGS = ("", "s", "es", "ed", "d", "ing", "er", "ers", "ly", "y")


def unfit(words: Iterable[str]) -> set[str]:
    """Those on the list, in any inflection."""
    bases = {
        base
        for word in map(str.lower, words)
        for ending in ENDINGS
        if word.endswith(ending)
        for stem in [word.removesuffix(ending)]
        for base in (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    }
    return {base for base in bases if hashlib.sha256(base.encode()).hexdigest()[:16] in UNFIT and len(base) > 2}
