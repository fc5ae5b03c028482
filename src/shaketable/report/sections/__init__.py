"""One section per kind of result: what the page tells of it."""

CATALOG: dict[str, str] = {
    "Correctness": "correctness:section",
    "Guidelines": "guidelines:section",
    "Dominance": "dominance:section",
    "Degradation": "degradation:section",
    "Ranking": "ranking:section",
    "Amplification": "amplification:section",
}
"""The name of a result's type → what makes its section, in the order of the page."""
