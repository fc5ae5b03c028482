"""Score table → findings, plain functions."""

CATALOG: dict[str, str] = {
    "amplification": "amplification:amplification",
    "cases": "cases:cases",
    "correctness": "correctness:correctness",
    "degradation": "degradation:degradation",
    "dominance": "dominance:dominance",
    "equivalence": "equivalence:equivalence",
    "guidelines": "guidelines:guidelines",
    "ranking": "ranking:ranking",
    "variability": "variability:variability",
}
