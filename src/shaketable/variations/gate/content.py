"""Is every word of the original found in the wording, and every word of the wording in the original?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.text import language
from shaketable.text.encoder import Encoder, TokenStates, encoder

LAYERS = {"all-MiniLM-L6-v2": 5}
"""The last but one, as BERTScore reads it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """How near two texts are to an encoder: 1 for the same text."""

    similarity: float
    """Cosine of the two sentence vectors."""
    recall: float
    """How well the content words of the original are found in the wording: the mean over them of the best cosine."""
    precision: float
    """The same for those of the wording in the original; a longer paraphrase says more, so it is lower."""


def meanings(originals: Sequence[str], wordings: Sequence[str], name: str) -> list[Meaning]:
    """One for each pair; every distinct text is read once."""
    if not originals:
        return []
    model = encoder(name)
    cosines = (model.embed(originals) * model.embed(wordings)).sum(axis=1)
    texts = list(dict.fromkeys([*originals, *wordings]))
    states = dict(zip(texts, model.token_states(texts, _layer(model)), strict=True))
    found = []
    for original, wording, cosine in zip(originals, wordings, cosines, strict=True):
        recall, precision = _found(states[original], states[wording])
        # The last digits of a sum depend on the batch, and a wording must not.
        found.append(
            Meaning(similarity=round(float(cosine), 4), recall=round(recall, 4), precision=round(precision, 4))
        )
    return found


def _layer(model: Encoder) -> int:
    return LAYERS.get(model.name) or model.n_layers - 1


def _found(original: TokenStates, wording: TokenStates) -> tuple[float, float]:
    """Recall and precision; 1 where a text has no content words, so that nothing is held against it."""
    from torch.nn.functional import normalize

    if not (original.is_word.any() and wording.is_word.any()):
        return 1.0, 1.0
    cosine = normalize(original.states, dim=1) @ normalize(wording.states, dim=1).T
    best_of_original = cosine[:, wording.is_word].amax(1)
    best_of_wording = cosine[original.is_word].amax(0)
    sides = ((original, best_of_original), (wording, best_of_wording))
    recall, precision = (float(best[places].mean()) if (places := _content(text)) else 1.0 for text, best in sides)
    return recall, precision


def _content(text: TokenStates) -> list[int]:
    """The places of pieces that are no marks and no words too common to mean anything."""
    common = language.stop_words()
    return [
        place
        for place, (piece, is_word) in enumerate(zip(text.pieces, text.is_word.tolist(), strict=True))
        if is_word and any(map(str.isalnum, piece)) and piece.strip("#Ġ▁").lower() not in common
    ]
