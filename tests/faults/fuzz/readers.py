"""Every function that reads what a model wrote or a dataset holds, so that each can be given long runs of one thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shaketable.cli.diffs import word_diff as told_diff
from shaketable.datasets.adaptive_rag import parse_printed_array
from shaketable.datasets.reading.rows import RowError
from shaketable.datasets.reading.sentences import sentence_bounds
from shaketable.methods import search_o1
from shaketable.methods.asking import before_next_block
from shaketable.methods.chain_of_thought import NEXT_BLOCK
from shaketable.methods.words import assign, merge, tokens_of_each
from shaketable.metrics.contains import RESULT
from shaketable.metrics.correct import Correct
from shaketable.metrics.gibberish import scripts
from shaketable.metrics.refusal import refuses
from shaketable.metrics.same_answer import says_the_same
from shaketable.perturbations.altered import split_end
from shaketable.report.word_diff import word_diff
from shaketable.retrievers.corpus.passages import split_sentences
from shaketable.text import normalization, plain, ranking, search_terms
from shaketable.text.english import not_english
from shaketable.text.thoughts import OPENED, split_thoughts
from shaketable.text.unseen import visible
from shaketable.text.word_edits import word_edits
from shaketable.types import Question
from shaketable.variations.english.edits import QUOTATION
from shaketable.variations.english.reading_ease import reading_ease
from shaketable.variations.english.substitution import QUOTED
from shaketable.variations.gate.asked import asking_trouble
from shaketable.variations.gate.constraints import constraints_trouble
from shaketable.variations.gate.names import added_names
from shaketable.variations.gate.numbers import numbers_trouble
from shaketable.variations.gate.replies import wording_of

COMPARING = Question(id="c", text="Which is older, Paris or Rome?", answers=("Rome",), gold_titles=("Paris", "Rome"))
YES_NO = Question(id="y", text="Are Paris and Rome in Italy?", answers=("no",))
PLAIN = Question(id="p", text="Who?", answers=("Ann Lee", "A"))


def _printed(text: str) -> object:
    try:
        return parse_printed_array(text)
    except (ValueError, RowError):
        return None


READERS: Mapping[str, Callable[[str], object]] = {
    "refusal": refuses,
    "correct_choice": lambda text: Correct().explain(text, COMPARING),
    "correct_named": lambda text: Correct().explain(f"Rome {text} Paris {text} older", COMPARING),
    "correct_yes_no": lambda text: Correct().explain(text, YES_NO),
    "correct_plain": lambda text: Correct().explain(text, PLAIN),
    "correct_question": lambda text: Correct().explain(
        "Rome", Question(id="q", text=f"{text} or {text}?", answers=("Rome",))
    ),
    "correct_gold": lambda text: Correct().explain(text, Question(id="q", text="Who?", answers=(text[:300], "b"))),
    "contains_result": lambda text: RESULT.sub(" ", text),
    "scripts": scripts,
    "same_answer": lambda text: says_the_same(text, f"{text} x", "Who?"),
    "squad": normalization.squad,
    "words": normalization.words,
    "occurs_whole": lambda text: plain.occurs_whole(text[:20], text),
    "occurs": lambda text: normalization.occurs(text[:2] or "a", text),
    "contains_words": lambda text: normalization.contains_words(
        normalization.words(text)[:200], normalization.words(text)
    ),
    "thoughts": lambda text: split_thoughts(text, finished=False),
    "opened": lambda text: OPENED.sub("", text),
    "boxed": search_o1.boxed,
    "boxed_text": lambda text: search_o1.boxed("\\boxed{" + text + "}"),
    "facts": search_o1.facts,
    "last_query": search_o1._last_query,
    "shortened": search_o1.shortened,
    "inside": search_o1._inside,
    "next_block": before_next_block,
    "next_example": lambda text: NEXT_BLOCK.split(text, maxsplit=1),
    "merge": lambda text: merge([text[i : i + 4] for i in range(0, len(text), 4)]),
    "assign": lambda text: assign(text.split(), [text[i : i + 40] for i in range(0, len(text), 40)]),
    "tokens_of_each": lambda text: tokens_of_each(
        [text[i : i + 4] for i in range(0, len(text), 4)], [text[i : i + 40] for i in range(0, len(text), 40)]
    ),
    "split_end": split_end,
    "visible": visible,
    "word_diff": lambda text: word_diff(text, f"x {text[::-1]}"),
    "told_diff": lambda text: told_diff(text, f"x {text[::-1]}"),
    "word_edits": lambda text: word_edits(text, f"x {text[::-1]}"),
    "sentence_bounds": sentence_bounds,
    "split_sentences": split_sentences,
    "printed_array": _printed,
    "search_terms": search_terms.terms,
    "ranking_terms": ranking.terms,
    "not_english": not_english,
    "reading_ease": reading_ease,
    "wording_of": wording_of,
    "quotation": lambda text: QUOTATION.findall(text),
    "quoted": lambda text: QUOTED.findall(text),
    "gate_constraints": lambda text: constraints_trouble("Who is it?", text),
    "gate_numbers": lambda text: numbers_trouble(text, f"{text} 3"),
    "gate_names": lambda text: added_names("Who is it?", text),
    "gate_asking": lambda text: (asking_trouble("Who is it?", text), asking_trouble(text, "Who is it?")),
}
