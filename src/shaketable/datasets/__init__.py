"""Files → questions and passages, plain functions."""

CATALOG: dict[str, str] = {
    "2wikimultihopqa": "twowikimultihopqa:load_twowikimultihopqa",
    "adaptive_rag": "adaptive_rag:load_adaptive_rag",
    "builtin": "builtin:load_builtin",
    "csv": "csv:load_csv",
    "hotpotqa": "hotpotqa:load_hotpotqa",
    "jsonl": "jsonl:load_jsonl",
    "musique": "musique:load_musique",
    "nq_open": "nq_open:load_nq_open",
    "squad": "squad:load_squad",
    "table": "table:load_table",
    "triviaqa": "triviaqa:load_triviaqa",
}
