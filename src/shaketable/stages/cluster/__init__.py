"""Trials spread over a cluster of Ray: a driver that keeps plan and store, workers that have the model."""
