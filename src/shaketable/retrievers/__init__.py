"""Queries → hits."""

CATALOG: dict[str, str] = {
    "gold": "gold:Gold",
    "full_gold": "full_gold:FullGold",
    "distractor": "distractor:Distractor",
}
