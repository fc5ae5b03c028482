"""Finished records → numbers."""

CATALOG: dict[str, str] = {
    "contains": "contains:Contains",
    "correct": "correct:Correct",
    "exact_match": "exact_match:ExactMatch",
    "token_f1": "token_f1:TokenF1",
    "rouge": "rouge:Rouge",
    "retrieval": "retrieval:Retrieval",
    "bertscore": "bertscore:Bertscore",
    "refusal": "refusal:Refusal",
    "given": "given:Given",
    "gibberish": "gibberish:Gibberish",
    "terse": "terse:Terse",
    "answer_tokens": "answer_tokens:AnswerTokens",
    "certainty": "certainty:Certainty",
    "entropy": "entropy:Entropy",
    "judge": "judge:Judge",
    "margin": "margin:Margin",
    "query_loss": "query_loss:QueryLoss",
    "question_type": "question_type:QuestionType",
    "same_answer": "same_answer:SameAnswer",
}
