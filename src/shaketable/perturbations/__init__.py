"""Hits → disturbed hits."""

CATALOG: dict[str, str] = {
    "unchanged": "unchanged:Unchanged",
    "sentence_removal": "sentence_removal:SentenceRemoval",
    "sentence_replacement": "sentence_replacement:SentenceReplacement",
    "entity_masking": "entity_masking:EntityMasking",
}
