"""The list of records: which are asked for, in which order, and how each heading sorts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from shaketable.factors import judging_metric, main_metric
from shaketable.report.words import name_evidence
from shaketable.store.explore import Explorer
from shaketable.store.selection import ANY_FLAG, COUNTED, FACTORS, JUDGED, NO_VALUE, OUTCOMES, OWN, Selection
from shaketable.viewer.addresses import PER_PAGE, link, pages_of, read_metric, read_number

STATE = (*FACTORS, "question", "outcome", "judge", "repeats", "flag", "words", "sort", "order")
"""What an address says of a list, beside its page."""
TAGGED = "tag."
"""How an address begins what it asks of a tag: `tag.continent=Europe`."""
NUMBERS = ("temperature", "repeat", *COUNTED)
TITLES = {"n_tokens": "Tokens", "n_searches": "Searches", "seconds": "Seconds"}
NAMED = ("perturbation", "variation")
"""Factors whose parts are shown in words, as everywhere: `sentence_removal` is sentence removal."""
REPEATS = {"differ": "answers differ", "flip": "right and wrong"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    name: str
    title: str
    link: str
    """The same records sorted by this; the other way round where they are already."""
    sorted: Literal["ascending", "descending"] | None
    is_number: bool


def state_of(given: Mapping[str, str]) -> dict[str, str]:
    """What leads back to the list, and from one of its records to the next."""
    return {name: value for name, value in given.items() if value and (name in STATE or name.startswith(TAGGED))}


def read_selection(given: Mapping[str, str], metrics: Sequence[str], judged_by: str | None) -> Selection:
    """The page of a list; `at` is the place of one record in it."""
    page, at = read_number(given.get("page", "1"), "page"), given.get("at")
    return Selection(
        factors={name: given[name] for name in FACTORS if name in given},
        tags={name.removeprefix(TAGGED): value for name, value in given.items() if name.startswith(TAGGED) and value},
        question_id=given.get("question"),
        outcome=given.get("outcome"),
        judged_by=judge_of(given, metrics, judged_by),
        repeats=given.get("repeats"),
        flag=given.get("flag"),
        words=given.get("words", ""),
        sort=given.get("sort"),
        is_descending=given.get("order") == "down",
        offset=(page - 1) * PER_PAGE if at is None else read_number(at, "at") - 1,
        limit=PER_PAGE,
    )


def judge_of(given: Mapping[str, str], metrics: Sequence[str], main: str | None) -> str | None:
    """The metric that tells right from wrong: the one asked for, or the run's."""
    return read_metric(given, "judge", metrics) or judging_metric(metrics, main)


def record_list_values(explorer: Explorer, home: str, given: Mapping[str, str], main: str | None) -> dict[str, Any]:
    selection = read_selection(given, explorer.metrics, main)
    found, facets, flags = explorer.find(selection), explorer.facets(), explorer.flags()
    judge = selection.judged_by
    sorted_by = selection.sort if selection.sort in (*explorer.metrics, *COUNTED) else None
    scores = list(dict.fromkeys(filter(None, [sorted_by, main_metric(explorer.metrics, main), judge])))
    shown = [name for name in FACTORS if name in facets]
    names = ["question", *shown, *scores, "answer"]
    return {
        "found": found,
        "given": given,
        "state": state_of(given),
        "first": selection.offset + 1,
        "choices": {name: _choices(name, values) for name, values in facets.items()},
        "tags": {f"{TAGGED}{name}": (name, dict(zip(own, own, strict=True))) for name, own in explorer.tags().items()},
        "named": NAMED,
        "shown": shown,
        "scores": scores,
        "headings": [heading(name, home, given, name in NUMBERS or name in scores) for name in names],
        "outcomes": [*OUTCOMES, *(JUDGED if judge else ())],
        "judge": judge,
        "repeats": {name: words for name, words in REPEATS.items() if judge or name != "flip"},
        "flags": _flag_words(flags),
        "sorts": list(dict.fromkeys([*names, *explorer.metrics, *OWN])),
        "pages": pages_of(link(home, "records"), given, found.n),
    }


def heading(name: str, home: str, given: Mapping[str, str], is_number: bool) -> Heading:
    is_sorted, is_down = given.get("sort") == name, given.get("order") == "down"
    state = {**state_of(given), "sort": name, "order": "down" if is_sorted and not is_down else ""}
    return Heading(
        name=name,
        title=TITLES.get(name, name if is_number and name not in NUMBERS else name.capitalize()),
        link=f"{link(home, 'records')}?{urlencode({name: value for name, value in state.items() if value})}",
        sorted=("descending" if is_down else "ascending") if is_sorted else None,
        is_number=is_number,
    )


def _choices(name: str, values: Sequence[str]) -> dict[str, str]:
    """Value → words of each choice."""
    return {value: name_evidence(value) if name in NAMED and value != NO_VALUE else value for value in values}


def _flag_words(flags: Mapping[str, int] | None) -> dict[str, str]:
    """Value → words of each choice; empty: no evidence of this run is flagged."""
    if flags is None:
        return {ANY_FLAG: "any (reads every record once)"}
    counted = {flag: f"{flag.replace('_', ' ')} ({n:,})" for flag, n in flags.items()}
    return {ANY_FLAG: "any", **counted} if counted else {}
