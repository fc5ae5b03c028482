"""One finding → one picture, plain functions."""

CATALOG: dict[str, str] = {
    "score_by_temperature": "score_by_temperature:score_by_temperature",
    "variation_by_temperature": "variation_by_temperature:variation_by_temperature",
    "evidence_drops": "evidence_drops:evidence_drops",
    "score_boxes": "score_boxes:score_boxes",
}
