"""Whether the questions of a dataset need one fact or a chain of them, as its makers say."""

from __future__ import annotations

from typing import Literal

from shaketable.types import Question

Hops = Literal["single_hop", "multi_hop"]

OF_DATASET: dict[str, Hops] = {
    "squad": "single_hop",
    "nq": "single_hop",
    "nq_open": "single_hop",
    "triviaqa": "single_hop",
    "hotpotqa": "multi_hop",
    "2wikimultihopqa": "multi_hop",
    "musique": "multi_hop",
}


def hops_of(question: Question) -> Hops | None:
    """By the name of the dataset, or of the set that a collection took it from; a tag `hops` with a number goes before
    it. None: nobody says. What tells one question from its neighbours, such as its gold evidence, is not looked at."""
    tagged = question.tags.get("hops")
    if isinstance(tagged, int):
        return "multi_hop" if tagged > 1 else "single_hop"
    name = str(question.tags.get("subset") or question.dataset.partition(" ")[0])
    if name == "builtin":  # Its facts are asked closed book, its multi-hop questions come with documents.
        return "multi_hop" if question.documents else "single_hop"
    return OF_DATASET.get(name)
