"""Queries → hits."""

CATALOG: dict[str, str] = {
    "gold": "gold:Gold",
    "full_gold": "full_gold:FullGold",
    "distractor": "distractor:Distractor",
    "bm25": "bm25:Bm25",
    "dense": "dense:Dense",
    "milvus": "milvus:Milvus",
}
