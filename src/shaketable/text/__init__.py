"""What several parts read text with: language, lexicon, normalization, search terms, vectors."""
