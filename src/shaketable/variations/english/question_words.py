"""Words that open questions, and tags that tell a verb."""

from __future__ import annotations

FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
ARTICLES = frozenset({"the", "a", "an"})
WH_WORDS = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
ADVERBIAL = frozenset({"when", "where", "why", "how"})
RELATIVE = WH_WORDS | {"that"}
BEING = frozenset({"is", "are", "was", "were"})
BE = BEING | {"'s", "'re"}
DO = frozenset({"do", "does", "did"})
AUXILIARIES = BE | DO | {
    "am", "has", "have", "had", "can", "could", "will", "would", "should", "may", "might", "must", "shall",
}  # fmt: skip
