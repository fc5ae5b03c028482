"""One section per kind of result: what the page tells of it."""

CATALOG: dict[str, str] = {
    "WordingAccuracy": "wording_accuracy:section",
    "RunDeviation": "run_deviation:section",
    "Consistency": "consistency:section",
    "CostStability": "cost_stability:section",
    "SearchDecisions": "search_decisions:section",
    "Trajectories": "trajectories:section",
    "TrajectoryCases": "trajectory_cases:section",
    "DriftChain": "drift_chain:section",
    "Outcomes": "outcomes:section",
    "QueryDifficulty": "query_difficulty:section",
    "RetrievalQuality": "retrieval_quality:section",
    "Correctness": "correctness:section",
    "Guidelines": "guidelines:section",
    "Dominance": "dominance:section",
    "Degradation": "degradation:section",
    "Ranking": "ranking:section",
    "Amplification": "amplification:section",
}
"""The name of a result's type → what makes its section, in the order of the page."""
