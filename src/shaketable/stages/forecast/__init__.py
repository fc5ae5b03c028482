"""How long a run will take: what is known of its trials, and what the rest is drawn from."""
