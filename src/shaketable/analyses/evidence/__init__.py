"""Analyses of disturbed evidence and of temperature."""
