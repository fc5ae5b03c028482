"""What metrics over the tokens of an answer share: which tokens are the answer's, and what the model said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaketable.metrics.scoring import GREEDY_ONLY, unscored
from shaketable.types import Completion, Generate, Json, Record, Score

NOT_KEPT = "the model gave no {name}: the study or the method must want them"
NOT_SAMPLED = (
    "the endpoint lists too few tokens to tell the distribution that was sampled from (top_logprobs); scaled=False "
    "takes the model's own"
)
NO_TOKENS = "the answer has no tokens"
Judge = Callable[[Completion, int], float | str]
"""The last completion of a record and the number of its answer tokens → a number, or why there is none."""


def score_tokens(metric: str, records: Sequence[Record], judge: Judge) -> list[list[Score]]:
    """One number per record, from the completion that its answer is made of: the last one."""
    scored = []
    for record in records:
        judged = unscored(record) or _judged(record, judge)
        value, reason = (None, judged) if isinstance(judged, str) else (judged, None)
        scored.append([Score(key=record.trial.key, metric=metric, value=value, reason=reason)])
    return scored


def extra(completion: Completion, name: str) -> list[Json] | str:
    """One list per token, or why there is none."""
    values = completion.extras.get(name)
    if not isinstance(values, list) or len(values) != len(completion.tokens):
        if name == "top_logprobs" and completion.decoding.get("temperature"):
            return GREEDY_ONLY
        if name == "processed_logprobs" and "logprobs" in completion.extras:
            return NOT_SAMPLED
        return NOT_KEPT.format(name=name)
    return values


def n_answer_tokens(completion: Completion, answer: str) -> int:
    """How many tokens it took to say the answer: what follows, such as an end mark or a cut line, is none of it.

    Where the tokens do not spell the answer, because the method reworded it, all count but a mark that ends them;
    endpoints do not list theirs, and there the last token is the end of the text.
    """
    tokens, sought, text = completion.tokens, answer.strip(), ""
    for n, token in enumerate(("", *tokens)):
        text += token
        if sought in text:
            return n
    last = tokens[-1].strip()
    is_text = last != "" and completion.text.rstrip().endswith(last)
    return len(tokens) - (completion.finish_reason != "length" and not is_text)


def _judged(record: Record, judge: Judge) -> float | str:
    replies = [event.reply for event in record.trace if isinstance(event.step, Generate)]
    completion = replies[-1] if replies else None
    if not isinstance(completion, Completion):
        return "the trace has no completion"
    if not completion.tokens:
        return NOT_KEPT.format(name="tokens") if completion.text else NO_TOKENS
    if completion.thoughts:
        return "the tokens of thoughts and answer are not told apart"
    return judge(completion, n_answer_tokens(completion, record.answer.text if record.answer else ""))
