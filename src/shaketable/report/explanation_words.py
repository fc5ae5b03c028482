"""An explanation in words: what turns the answer, what keeps it, and how sure it is that nothing smaller does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shaketable.report.words import count
from shaketable.store.explanations import Certainty, Explanation, GivenAnswer, Operation, SentenceSet

CHANGED: dict[Operation, str] = {
    "removal": "without {}",
    "masking": "with the names in {} masked",
    "replacement": "with {} replaced by another of the same record",
    "alone": "with {} alone",
}
UNDONE: dict[Operation, str] = {
    "removal": "taking sentences away",
    "masking": "masking the names in sentences",
    "replacement": "replacing sentences",
    "alone": "leaving out sentences",
}
CANNOT: dict[Operation, str] = {
    "removal": "there are none",
    "masking": "there is no name in them",
    "replacement": "the record has no other sentence to put in their place",
    "alone": "there are none",
}
WITHOUT_EVIDENCE = {
    "no_search": "{name} is asked without evidence, so only its wording can be changed.",
    "pipeline": "{name} takes no context and hands none over to be disturbed, so only the wording can be changed. "
    "Give its function a parameter `context` or `disturb`.",
    "nothing_found": "Nothing was found for this question, so only its wording can be changed.",
}


def verdict_of(answer: GivenAnswer, explanation: Explanation) -> str:
    if answer.is_right is None:
        return "not told"
    if explanation.judged_by is None:
        return "the same" if answer.is_right else "another"
    return "right" if answer.is_right else "wrong"


def name_sentences(ids: Sequence[str], own: Explanation) -> str:
    """`sentence 2`, `sentences 2 and 5`."""
    places = {sentence.id: number for number, sentence in enumerate(own.sentences, 1)}
    numbers = [str(places[id]) for id in ids]
    listed = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]])) if numbers else "no sentence"
    return f"{'sentence' if len(numbers) == 1 else 'sentences'} {listed}" if numbers else listed


def _turned(own: Explanation) -> str:
    if own.judged_by is None:
        return "the answer is another"
    return "the answer turns wrong" if own.answer.is_right else "the answer turns right"


def describe_explanation(own: Explanation) -> Iterator[str]:
    if own.without_evidence is not None:
        yield WITHOUT_EVIDENCE[own.without_evidence].format(name=own.name)
    if own.judged_by is not None and not own.answer.is_right:
        yield "The answer is wrong already; what follows is the smallest change that makes it right."
    for sets in own.sets:
        yield _describe_set(sets, own)
    yield from _describe_support(own)
    yield from _describe_rewording(own)


def _describe_support(own: Explanation) -> Iterator[str]:
    """Where the evidence that decides is not the evidence that should."""
    supporting = {sentence.id for sentence in own.sentences if sentence.is_supporting}
    removal = own.by("removal")
    if supporting and removal and removal.sentences and not supporting.intersection(removal.sentences):
        listed = name_sentences(removal.sentences, own)
        are = "is no fact" if len(removal.sentences) == 1 else "are no facts"
        yield f"By the dataset {listed} {are} that the right answer rests on."


def _describe_set(sets: SentenceSet, own: Explanation) -> str:
    if sets.reason is not None:
        return f"Not tried, {UNDONE[sets.operation]}: {sets.reason}"
    if not sets.n_candidates:
        return f"Not tried, {UNDONE[sets.operation]}: {CANNOT[sets.operation]}."
    if sets.operation == "alone":
        return _describe_alone(sets, own)
    if sets.sentences is None:
        return f"By {UNDONE[sets.operation]}, nothing turns the answer: {_describe_tried(sets)}"
    change = CHANGED[sets.operation].format(name_sentences(sets.sentences or (), own))
    turned = f"{change[0].upper()}{change[1:]} {_turned(own)}{_others(sets, own)}."
    return f"{turned}{_certainty(sets.certainty, len(sets.sentences), sets.tried_up_to)}"


def _others(sets: SentenceSet, own: Explanation) -> str:
    """Others of the same size."""
    if not sets.others:
        return ""
    shown = [CHANGED[sets.operation].format(name_sentences(other, own)) for other in sets.others[:3]]
    more = f", and {len(sets.others) - 3} more sets of that size" if len(sets.others) > 3 else ""
    return f"; likewise {', or '.join(shown)}{more}"


def _describe_alone(sets: SentenceSet, own: Explanation) -> str:
    gives = "the same answer" if own.judged_by is None else "the right answer"
    if sets.sentences is None:
        return f"No few sentences alone give {gives}: {_describe_tried(sets)}"
    if not sets.sentences:
        return f"No sentence is needed: without any of them {own.name} gives {gives}."
    listed, is_one = name_sentences(sets.sentences or (), own), len(sets.sentences) == 1
    kept = f"{listed[0].upper()}{listed[1:]} alone {'gives' if is_one else 'give'} {gives}{_others(sets, own)}."
    return f"{kept}{_certainty(sets.certainty, len(sets.sentences), sets.tried_up_to)}"


def _describe_tried(sets: SentenceSet) -> str:
    if sets.certainty == "none":
        return f"all sets of the {sets.n_candidates} sentences were tried."
    if sets.tried_up_to > 0:
        upto = f"all of up to {sets.tried_up_to} {'sentence' if sets.tried_up_to == 1 else 'sentences'} among them"
        return f"{sets.n_asked:,} sets were tried, {upto}."
    return f"{sets.n_asked:,} sets were tried, not even all single sentences."


def _certainty(certainty: Certainty, size: int, tried_up_to: int, what: str = "sets") -> str:
    if certainty == "smallest":
        return "" if size <= 1 else f" It is a smallest one: all smaller {what} were tried."
    if certainty == "irreducible":
        upto = f"those of up to {tried_up_to} were" if tried_up_to > 0 else "not even all single ones were"
        return f" It cannot be made smaller by leaving one out; smaller {what} were not all tried ({upto})."
    return " It may be larger than it must be: the limit of calls, or answers that failed, left it unsettled."


def _describe_rewording(own: Explanation) -> Iterator[str]:
    rewording = own.rewording
    if rewording is None:
        return
    flipping = rewording.flipping
    if flipping is None and rewording.n_wordings:
        yield f"No other wording turns the answer; tried: {rewording.n_wordings}."
    elif flipping is None and not rewording.n_unaffordable:
        yield "No other wording was tried: there is none."
    elif flipping is not None:
        part = "" if flipping.text == flipping.whole else f"a part of “{flipping.whole}” "
        yield (
            f"Asked as “{flipping.text}” {_turned(own)} ({part}by {flipping.variation}; "
            f"{100 * flipping.edit_distance:.0f} % of the words differ; {rewording.n_flipping} of "
            f"{count(rewording.n_wordings, 'wording')} do it)."
            f"{_certainty(flipping.certainty, len(flipping.edits), flipping.tried_up_to, 'parts of this rewording')}"
        )
    if rewording.n_unaffordable:
        yield f"Not tried, because of the limit of calls: {count(rewording.n_unaffordable, 'more wording')}."
    for reason in rewording.not_tried:
        yield f"Paraphrases not tried: {reason}"


def describe_limits(own: Explanation) -> Iterator[str]:
    if own.stored is not None and own.stored.split() != own.answer.text.split():
        yield f"In the run the answer was “{own.stored}”; asked anew it is another."
    if own.is_sampled and own.repeats == 1:
        yield (
            "The system may answer otherwise when it is asked again, and each change was asked once: a turn may be "
            "chance. Let the most of several answers decide: --repeats 5."
        )
    if n_untold := sum(sets.n_untold for sets in own.sets) + (own.rewording.n_untold if own.rewording else 0):
        yield f"{n_untold:,} changes brought no answer that can be judged, and do not count as tried."
    dollars = "" if own.dollars is None else f", {own.dollars:.4f} USD"
    yield f"{count(own.n_calls, 'call')}{dollars}; the limit was {own.max_calls:,}."
