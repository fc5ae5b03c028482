"""What stands between a proposed wording and one that is asked."""
