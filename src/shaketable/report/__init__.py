"""Results → a page: words, sections, charts."""
