"""Files → questions and passages, plain functions."""

CATALOG: dict[str, str] = {
    "builtin": "builtin:load_builtin",
    "hotpotqa": "hotpotqa:load_hotpotqa",
    "jsonl": "jsonl:load_jsonl",
}
