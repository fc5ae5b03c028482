"""An original and another wording → how far they are apart, whatever that does to answers."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable import weights
from shaketable.errors import lacks_packages
from shaketable.text import ranking
from shaketable.text.encoder import PACKAGES, encoder
from shaketable.text.normalization import without_surrogates
from shaketable.text.search_terms import terms
from shaketable.types import Strength
from shaketable.variations.english.reading_ease import reading_ease
from shaketable.variations.gate.meaning import ENCODER
from shaketable.variations.gate.naturalness import READER, losses

DIGITS = 4
"""The last digits of a sum depend on the batch, and a wording must not."""
NO_WORDS = "one of the two has no word"
NO_TERMS = "the original has no search term"
NO_LOSS = "the model could not read it"
Pair = tuple[str, str]
"""An original and its wording."""


def measure_strength(originals: Sequence[str], wordings: Sequence[str]) -> list[Strength]:
    """One for each pair. Nothing is fetched: what needs weights that are not here is None, with the reason."""
    pairs = [
        (without_surrogates(original), without_surrogates(wording))
        for original, wording in zip(originals, wordings, strict=True)
    ]
    worded = list(dict.fromkeys(pair for pair in pairs if all(map(ranking.terms, pair))))
    numbers = zip(worded, _changes_of_loss(worded), _cosines(worded), strict=True)
    measured = {pair: _measure(pair, loss, cosine) for pair, loss, cosine in numbers}
    return [measured.get(pair, Strength(reason=NO_WORDS)) for pair in pairs]


def share_of_terms_kept(original: str, wording: str) -> float | None:
    """Of the distinct terms that BM25 would search for; None: there is none."""
    before = set(terms(original))
    return len(before & set(terms(wording))) / len(before) if before else None


def word_distance(original: str, wording: str) -> float:
    """Levenshtein's distance of their words, small or capital and without marks, divided by the longer length.

    Words, not letters: a misspelled word is lost to a retriever as a whole, whatever is left of its letters.
    """
    before, after = ranking.terms(original), ranking.terms(wording)
    longer = max(len(before), len(after), 1)
    while before and after and before[-1] == after[-1]:  # What they share at the end costs nothing.
        del before[-1], after[-1]
    row = list(range(len(after) + 1))
    for i, old in enumerate(before, 1):
        above, row = row, [i]
        for j, new in enumerate(after, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (old != new)))
    return row[-1] / longer


def _measure(pair: Pair, loss: float | str, cosine: float | str) -> Strength:
    original, wording = pair
    kept = share_of_terms_kept(original, wording)
    reasons = [reason for reason in (NO_TERMS if kept is None else kept, loss, cosine) if isinstance(reason, str)]
    return Strength(
        terms_kept=None if kept is None else round(kept, DIGITS),
        edit_distance=round(word_distance(original, wording), DIGITS),
        loss=None if isinstance(loss, str) else round(loss, DIGITS),
        reading_ease=round(reading_ease(wording) - reading_ease(original), DIGITS),
        meaning=None if isinstance(cosine, str) else round(cosine, DIGITS),
        reason="; ".join(dict.fromkeys(reasons)) or None,
    )


def _changes_of_loss(pairs: Sequence[Pair]) -> list[float | str]:
    """By how many nats a token of the wording costs more, or why that is not known."""
    if not pairs:
        return []
    if missing := _missing(READER):
        return [missing] * len(pairs)
    before, after = (losses(texts) for texts in zip(*pairs, strict=True))
    return [
        NO_LOSS if old is None or new is None else new.mean - old.mean for old, new in zip(before, after, strict=True)
    ]


def _cosines(pairs: Sequence[Pair]) -> list[float | str]:
    if not pairs:
        return []
    if missing := _missing(ENCODER):
        return [missing] * len(pairs)
    model = encoder(ENCODER)
    originals, wordings = (model.embed(texts) for texts in zip(*pairs, strict=True))
    return [float(cosine) for cosine in (originals * wordings).sum(axis=1)]


def _missing(name: str) -> str | None:
    """Why weights cannot be used at once."""
    if problem := lacks_packages(f"{name}, which measures it,", PACKAGES):
        return problem
    if weights.present(name):
        return None
    return f"the weights {name} are not here; get them once: shaketable models fetch {name}"
