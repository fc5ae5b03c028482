"""Two systems beside each other → a page of one file."""
