"""Hits → disturbed hits."""

CATALOG: dict[str, str] = {
    "unchanged": "unchanged:Unchanged",
    "sentence_removal": "sentence_removal:SentenceRemoval",
    "sentence_replacement": "sentence_replacement:SentenceReplacement",
    "entity_masking": "entity_masking:EntityMasking",
    "combination": "combination:Combination",
    "source_reordering": "source_reordering:SourceReordering",
    "word_reordering": "word_reordering:WordReordering",
    "unit_replacement": "unit_replacement:UnitReplacement",
    "entity_replacement": "entity_replacement:EntityReplacement",
    "antonym": "antonym:Antonym",
    "synonym": "synonym:Synonym",
    "random_noise": "random_noise:RandomNoise",
}
