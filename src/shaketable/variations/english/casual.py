"""A question → the same in everyday words and an everyday order."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from shaketable.text import language
from shaketable.variations.english.casual_turns import (
    alternatives_first,
    is_bare_which,
    question_words,
    stranded,
    turned,
)
from shaketable.variations.english.casual_words import ACTIVE, CONTRACTIONS, EVERYDAY, PHRASES
from shaketable.variations.english.substitution import Table, substituted

COMMON = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|in"
    r"|on|at|for|from|to|with|by|about|of|the|a|an|this|these|according|during|after|before|besides|along|over|under|within|since|through|among|between|into|as|if|while|although|both|there|it|he|she|his|her|its|their)\b",
    re.IGNORECASE,
)
"""What may lose its capital in front."""
NAME_BEFORE = re.compile(r"[A-Z](?!\w*(?:an|ish|ese|ch)$)")
"""A word with a capital that is no nationality."""
QUOTED = re.compile(r"[\"“”‘]|(?<!\w)['’](?=\w)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Casual:
    """A question without its mark, in everyday words."""

    text: str
    changes: tuple[str, ...]
    n_words: int
    """How many of them exchange words rather than their order."""


def casual(asked: str, rng: random.Random, pipeline: str) -> Casual:
    """Everyday words in an everyday order; contractions come last, because they hide the verb."""
    text, changes, n_words = small(asked), [], 0
    if pattern := turned(text):
        text, n_words = pattern, 1
        changes.append("everyday pattern")
    elif loose := stranded(text, pipeline):
        text = loose
        changes.append("preposition at the end")
    for pattern_text, replacement in PHRASES:
        other = _outside_quotes(pattern_text, replacement, text)
        if other != text:
            text, n_words = other, n_words + 1
            changes.append(f"{replacement}")
    if any(letter.isupper() for letter in text):  # Else a title may stand anywhere.
        text, exchanges = substituted(text, _safe_table(text, pipeline), rng, pipeline)
        n_words += len(exchanges)
        changes += exchanges
    if " or " not in text and re.match(r"which (?!of\b|one|two\b)", text) and not _is_bare(text, pipeline):
        text = "what" + text.removeprefix("which")
        changes.append("which → what")
    if (first := alternatives_first(text)) and (not changes or rng.random() < 0.6):
        text = first
        changes.append("alternatives first")
    return Casual(text=text, changes=tuple(changes), n_words=n_words)


def _is_bare(text: str, pipeline: str) -> bool:
    words = question_words(text, pipeline)
    return len(words) < 2 or is_bare_which(words[0], words[1])


def contracted(text: str) -> str:
    for pattern, replacement in CONTRACTIONS:
        text = _outside_quotes(pattern, replacement, text)
    return text


def _outside_quotes(pattern: str, replacement: str, text: str) -> str:
    """Where the first mark stands, the rest may be a quotation; without one, the whole is changed."""
    quoted = QUOTED.search(text)
    end = quoted.start() if quoted else len(text)
    return re.sub(pattern, replacement, text[:end]) + text[end:]


def _safe_table(text: str, pipeline: str) -> Table:
    """The everyday words, less those that stand in a name, in a passive, or in a set phrase: `on film`."""
    words = [word for word in language.parsed(text, pipeline) if not word.is_space]
    is_passive = any(word.lower_ in ("is", "are", "was", "were", "be", "been", "being") for word in words)
    left = set()
    quoted = QUOTED.search(text)
    for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
        in_name = before is not None and before.i > 0 and NAME_BEFORE.match(before.text)
        in_phrase = word.lemma_ == "film" and before is not None and before.tag_ == "IN"
        in_phrase |= word.lemma_ == "begin" and after is not None and after.is_punct
        in_phrase |= (
            word.lower_ == "largest"
            and after is not None
            and (after.tag_ in ("VBN", "VBD") or after.lower_ == "populated")
        )
        in_phrase |= word.lemma_ == "originate" and (after is None or after.lower_ != "from")
        in_phrase |= word.lower_ == "whom" and before is not None and before.tag_ in ("IN", "TO")
        if in_name or in_phrase or (quoted and word.idx >= quoted.start()):
            left |= {word.lemma_, word.lower_}
        if is_passive and word.tag_ in ("VBN", "VBD"):
            left |= {lemma for lemma, _ in ACTIVE if lemma == word.lemma_}
    return {key: others for key, others in {**EVERYDAY, **ACTIVE}.items() if key[0] not in left}


def small(text: str) -> str:
    """Without the capital in front, unless it is a name's."""
    return text[:1].lower() + text[1:] if COMMON.match(text) else text
