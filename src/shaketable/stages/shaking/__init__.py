"""A shake within a budget: its study, what it asks next, and the study that would confirm it."""
