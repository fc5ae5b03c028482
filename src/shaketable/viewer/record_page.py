"""One record in full: its evidence before and after, every repeat, and the trace of what was asked and replied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.errors import RunError
from shaketable.report.examples import word_diff
from shaketable.store.explore import Explorer
from shaketable.text.gold import gold_among
from shaketable.types import Completion, Event, Evidence, Failure, Generate, Note, Probe, Question, Record, Search
from shaketable.viewer.curve_picture import draw_curves
from shaketable.viewer.two_trajectories import two_trajectories

N_DIFFED = 4000
"""Words up to which two texts are compared; the time grows with their product."""
CONFIDENCES = ("processed_logprobs", "logprobs")
"""Extras that tell how sure a token was; of the distribution that was really sampled, where there is one."""
ALIGNED = ("words", "scores", "weights", "hits", "content_hits")
"""What a decision notes word by word: RIND's scores, QFS's weights, and places of words."""


def record_values(explorer: Explorer, key: str, metric: str | None) -> dict[str, Any]:
    record = explorer.record(key)
    if record is None:
        raise RunError(f"This run has no record '{key}'. See the list of records.")
    question = explorer.question(record.trial.question_id)
    assert question is not None
    repeats = explorer.repeats(record)
    cool = [repeat.key for repeat in repeats if repeat.temperature == 0]
    curves = [curve for curve in explorer.curves(cool) if curve.reason is None]
    return {
        "record": record,
        "question": question,
        "metric": metric,
        "scores": explorer.scores(key),
        "repeats": repeats,
        "diff": evidence_diff(record, explorer.untouched(record)),
        "trajectories": two_trajectories(record, explorer.original_wording(record), question),
        "events": [event_values(event, question) for event in record.trace],
        "curve": draw_curves(curves, dict.fromkeys(cool, record.trial.model)),
    }


def evidence_diff(record: Record, untouched: Record | None) -> dict[str, Any] | None:
    """The evidence of the untouched case against the record's own; None: it is the same, or has none to compare."""
    if record.answer is None or untouched is None or untouched.answer is None:
        return None
    if record.trial.perturbation in (None, "unchanged"):
        return None
    before, after = (" ".join(hit.passage.text for hit in one.answer.hits) for one in (untouched, record) if one.answer)
    if max(before.count(" "), after.count(" ")) > N_DIFFED:
        return {"before": before, "after": after, "runs": None}
    return {"before": before, "after": after, "runs": word_diff(before, after)}


def event_values(event: Event, question: Question) -> dict[str, Any]:
    """A step with its reply, as the template shows it."""
    step, reply = event.step, event.reply
    values: dict[str, Any] = {"failure": reply if isinstance(reply, Failure) else None}
    match step:
        case Search():
            values |= {"kind": "search", "title": "Search", "query": step.query, "k": step.k}
        case Generate():
            values |= {"kind": "generate", "title": step.purpose or "Generate", "messages": step.messages}
        case Probe():
            values |= {"kind": "probe", "title": "Probe", "text": step.text, "wants": step.wants}
        case Note():
            values |= {"kind": "note", "title": step.name, **note_values(step.values)}
    if isinstance(reply, Evidence):
        gold = gold_among(question, [hit.passage.title for hit in reply.hits])
        values["gold_hit"] = None if gold is None else bool(gold)
        values["hits"] = [(hit, bool(gold_among(question, [hit.passage.title]))) for hit in reply.hits]
        values["edits"], values["flags"] = reply.edits, reply.flags
    elif isinstance(reply, Completion):
        values["completion"], values["tokens"] = reply, shaded(reply)
    return values


def note_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A decision: each word with its number, those that decided marked, and what else was noted."""
    words, numbers = values.get("words"), values.get("scores", values.get("weights"))
    if not isinstance(words, list) or not isinstance(numbers, list) or len(words) != len(numbers):
        return {"words": [], "values": values}
    deciding = values.get("content_hits", ())
    scored = [(word, numbers[place], place in deciding) for place, word in enumerate(words)]
    return {"words": scored, "values": {name: value for name, value in values.items() if name not in ALIGNED}}


def shaded(completion: Completion) -> list[tuple[str, str, str]] | None:
    """Each token with the class of its shade, `c0` for a sure one to `c9`, and its probability in words.

    None: the model gave no probabilities.
    """
    extras: Mapping[str, Any] = completion.extras
    values: Sequence[float | None] | None = next((extras[name] for name in CONFIDENCES if name in extras), None)
    if values is None or len(values) != len(completion.tokens):
        return None
    return [
        (token, "", "no probability") if value is None else (token, *_shade(math.exp(min(0.0, value))))
        for token, value in zip(completion.tokens, values, strict=True)
    ]


def _shade(probability: float) -> tuple[str, str]:
    return f"c{min(9, int(10 * (1 - probability)))}", f"{100 * probability:.3g} %"
