"""Runs in the browser, live: pages for people, served to this machine alone."""
