"""Answering procedures, as steps."""

CATALOG: dict[str, str] = {
    "closed_book": "closed_book:ClosedBook",
    "single_retrieval": "single_retrieval:SingleRetrieval",
}
