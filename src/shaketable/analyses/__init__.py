"""Score table → findings, plain functions."""

CATALOG: dict[str, str] = {
    "correctness": "correctness:correctness",
    "variability": "variability:variability",
}
