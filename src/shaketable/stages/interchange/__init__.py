"""Runs ↔ the logs of other tools: Inspect and lm-evaluation-harness. Neither is needed to read or write them."""
