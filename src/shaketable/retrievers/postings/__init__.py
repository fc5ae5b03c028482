"""The inverted index of BM25: building, searching."""
