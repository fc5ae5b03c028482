"""Rules of English that rewordings are made by."""
