"""The inverted index of BM25: analysis of English, building, searching."""
