"""Prompts → completions."""

CATALOG: dict[str, str] = {
    "smollm2": "smollm2:Smollm2",
    "transformers": "transformers:Transformers",
    "openai": "openai:Openai",
    "pipeline": "pipeline:Pipeline",
    "scripted": "scripted:Scripted",
}
