"""Local inference on a GPU: rows in fixed slots, and graphs that are captured once and replayed."""
