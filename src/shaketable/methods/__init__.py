"""Answering procedures, as steps."""

CATALOG: dict[str, str] = {
    "as_asked": "as_asked:AsAsked",
    "closed_book": "closed_book:ClosedBook",
    "dragin": "dragin:Dragin",
    "fixed_length": "fixed_length:FixedLength",
    "fixed_sentence": "fixed_sentence:FixedSentence",
    "flare": "flare:Flare",
    "interleaved": "interleaved:Interleaved",
    "query_rewrite": "query_rewrite:QueryRewrite",
    "recall": "recall:Recall",
    "search_o1": "search_o1:SearchO1",
    "single_retrieval": "single_retrieval:SingleRetrieval",
}
