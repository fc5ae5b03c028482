"""Local inference: batches, caches, batch invariance, probes and trees of tokens."""
