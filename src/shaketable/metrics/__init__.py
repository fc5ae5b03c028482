"""Finished records → numbers."""

CATALOG: dict[str, str] = {
    "contains": "contains:Contains",
    "exact_match": "exact_match:ExactMatch",
    "token_f1": "token_f1:TokenF1",
    "rouge": "rouge:Rouge",
    "bertscore": "bertscore:Bertscore",
    "refusal": "refusal:Refusal",
    "gibberish": "gibberish:Gibberish",
    "terse": "terse:Terse",
}
