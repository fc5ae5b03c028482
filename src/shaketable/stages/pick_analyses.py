"""Answers made elsewhere → the analyses that their columns allow, and why others were left out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from shaketable.factors import ORIGINAL, SYSTEM, UNCHANGED
from shaketable.stages.answer_rows import AnswerRow

CLOSED_BOOK = "closed_book"
FACTORS = (*SYSTEM, "perturbation", "variation", "temperature")
TYPES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM", "number", "place", "person", "entity")
"""Types of question that analyses of facts tell apart."""
Rows = Sequence[AnswerRow]


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """Something that a file must have for an analysis to say anything."""

    is_met: Callable[[Rows], bool]
    reason: str
    """What is missing where it is not met."""
    in_run: str = ""
    """What a run of a study must have for it; empty: every run has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Analyses that were not picked for the same reason."""

    analyses: tuple[str, ...]
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """What will be scored and asked of a file of answers."""

    metrics: tuple[str, ...]
    analyses: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def pick_analyses(rows: Rows) -> Pick:
    """Every shipped analysis that has something to compare in these rows; of what is missing, the first is told."""
    needed = {need for needs in NEEDS.values() for need in needs} | {need for _, need in METRICS}
    unmet = {need for need in needed if not need.is_met(rows)}
    missing = {name: next((need for need in needs if need in unmet), None) for name, needs in NEEDS.items()}
    extra = [name for name, need in METRICS if need not in unmet]
    return Pick(
        metrics=("correct", "contains", "token_f1", "rouge", *extra),
        analyses=tuple(name for name, need in missing.items() if need is None),
        left_out=tuple(
            LeftOut(reason=need.reason, analyses=tuple(name for name, own in missing.items() if own is need))
            for need in dict.fromkeys(missing.values())
            if need is not None
        ),
    )


# --- what files have --------------------------------------------------------------------------------


def _together(rows: Rows, column: str) -> Collection[set[object]]:
    """The values of a column that one question has where all other factors are the same."""
    alike = [name for name in ("dataset", "question_id", *FACTORS) if name != column]
    others = operator.attrgetter(*alike)
    values: dict[tuple[object, ...], set[object]] = {}
    for row in rows:
        values.setdefault(others(row), set()).add(getattr(row, column))
    return values.values()


def _has_several(column: str) -> Callable[[Rows], bool]:
    return lambda rows: any(len(values) > 1 for values in _together(rows, column))


def _has_beside(column: str, clean: str, n: int = 1) -> Callable[[Rows], bool]:
    """Whether a question has the clean value and so many others; no evidence at all is none that was disturbed."""
    return lambda rows: any(
        clean in values and len(values - {clean, CLOSED_BOOK}) >= n for values in _together(rows, column)
    )


def _is_scanned(rows: Rows) -> bool:
    return any(0.0 in values and len(values) > 1 for values in _together(rows, "temperature"))


def _is_recalled(rows: Rows) -> bool:
    """Whether facts were asked for cool and hot without any evidence, so that a model knows what it answers."""
    return _is_scanned([row for row in rows if row.retriever is None and row.perturbation is None and not row.searches])


def _are_compared(rows: Rows, columns: Sequence[str]) -> bool:
    """Whether a question has two combinations of these."""
    combined: dict[str, set[object]] = {}
    for row in rows:
        combined.setdefault(row.question_id, set()).add(tuple(getattr(row, name) for name in columns))
    return any(len(own) > 1 for own in combined.values())


def _has_entropy(rows: Rows) -> bool:
    return any(row.temperature == 0 and (row.entropy is not None or row.top_logprobs) for row in rows)


def _has_counts(rows: Rows) -> bool:
    return any(row.searches or row.n_searches or row.n_generations or row.n_tokens for row in rows)


def _has_closed_book(rows: Rows) -> bool:
    named = {row.method.partition("(")[0] for row in rows}
    return CLOSED_BOOK in named and len(named) > 1


REPEATS = Need(
    is_met=_has_several("repeat"),
    reason="no question was answered twice in one condition ('repeat': 0, 1, …)",
    in_run="repeats of a question in one condition",
)
HEATED = Need(
    is_met=_has_several("temperature"),
    reason="no question was answered at two temperatures",
    in_run="two sampling temperatures",
)
DISTURBED = Need(
    is_met=_has_beside("perturbation", UNCHANGED),
    reason=f"no question has disturbed evidence beside '{UNCHANGED}' in 'perturbation'",
    in_run="a perturbation beside 'unchanged'",
)
TWICE_DISTURBED = Need(
    is_met=_has_beside("perturbation", UNCHANGED, 2),
    reason=f"no question has two perturbations beside '{UNCHANGED}'",
    in_run="two perturbations beside 'unchanged'",
)
REWORDED = Need(
    is_met=_has_beside("variation", ORIGINAL),
    reason=f"no question has another 'variation' beside '{ORIGINAL}'",
    in_run="a variation beside 'original'",
)
CHOICES = Need(
    is_met=lambda rows: _has_several("temperature")(rows) or _are_compared(rows, SYSTEM),
    reason="no question was answered at two temperatures, or by two systems",
    in_run="two sampling temperatures, or two systems",
)
VARIED = Need(
    is_met=lambda rows: _are_compared(rows, FACTORS), reason="nothing varies but the questions", in_run="two conditions"
)
COUNTED = Need(is_met=_has_counts, reason="no 'n_searches', 'n_generations' or 'n_tokens' is given")
SEARCHED = Need(
    is_met=lambda rows: any(row.searches or row.n_searches for row in rows),
    reason="no 'searches' or 'n_searches' are given",
    in_run="a method that searches",
)
QUERIES = Need(
    is_met=lambda rows: any(row.searches for row in rows),
    reason="no 'searches' are given",
    in_run="a method that searches",
)
JUDGED_HITS = Need(
    is_met=lambda rows: any(row.gold_titles for row in rows) and any(row.searches for row in rows),
    reason="no 'searches' with 'gold_titles' are given",
    in_run="a method that searches, questions that name their gold documents, and the metric 'retrieval'",
)
UNAIDED = Need(
    is_met=_has_closed_book,
    reason=f"no 'method' is '{CLOSED_BOOK}' beside another",
    in_run="the method 'closed_book' beside another",
)
BARE = Need(
    is_met=lambda rows: _has_closed_book(rows) or any(row.perturbation == CLOSED_BOOK for row in rows),
    reason=f"no 'method' or 'perturbation' is '{CLOSED_BOOK}'",
    in_run="the method 'closed_book' beside another",
)
SCANNED = Need(
    is_met=_is_scanned,
    reason="no question was answered at temperature 0 and above it",
    in_run="temperature 0 and a higher one",
)
RECALLED = Need(
    is_met=_is_recalled,
    reason="no question was answered at temperature 0 and above it without evidence",
    in_run="temperature 0 and a higher one, without evidence",
)
ENTROPY = Need(
    is_met=_has_entropy,
    reason="no 'entropy' or 'top_logprobs' at temperature 0",
    in_run="the metric 'entropy', of a model that tells how likely its tokens are",
)
LOGPROBS = Need(is_met=lambda rows: any(row.top_logprobs for row in rows), reason="no 'top_logprobs' are given")
TYPED = Need(
    is_met=lambda rows: any(row.type in TYPES for row in rows),
    reason=f"no 'type' is one of {', '.join(TYPES)}",
    in_run="questions with types",
)
EVIDENCE = Need(
    is_met=lambda rows: any(row.perturbation is not None for row in rows),
    reason="no 'perturbation' is given",
    in_run="evidence",
)
NEVER_CERTAIN = Need(
    is_met=lambda rows: False,
    reason="a file cannot give the certainty of sampled answers",
    in_run="the metric 'certainty'",
)
NEVER_SHAKEN = Need(
    is_met=lambda rows: False,
    reason="it is asked of runs by `shaketable shake`",
    in_run="it is a run of `shaketable shake`",
)
NEVER_JUDGED = Need(
    is_met=lambda rows: False, reason="it reads the metric judge, which asks another model", in_run="the metric 'judge'"
)
NEVER_MEASURED = Need(
    is_met=lambda rows: False,
    reason="the strength of wordings is measured when they are made, by `shaketable vary`",
    in_run="wordings whose strength was measured when they were made",
)

ABOUT_FACTS = (ENTROPY, SCANNED)
NEEDS: dict[str, tuple[Need, ...]] = {
    "correctness": (),
    "variability": (REPEATS,),
    "degradation": (DISTURBED,),
    "equivalence": (DISTURBED,),
    "ranking": (TWICE_DISTURBED, HEATED),
    "dominance": (DISTURBED, HEATED),
    "amplification": (DISTURBED, HEATED),
    "cases": (DISTURBED,),
    "guidelines": (CHOICES,),
    "variance_shares": (VARIED,),
    "context_reliance": (DISTURBED, BARE),
    "wording_accuracy": (REWORDED,),
    "wording_strength": (NEVER_MEASURED,),
    "consistency": (REWORDED,),
    "cost_stability": (REWORDED, COUNTED),
    "query_difficulty": (REWORDED,),
    "run_deviation": (REWORDED, REPEATS),
    "search_decisions": (SEARCHED,),
    "outcomes": (SEARCHED, UNAIDED),
    "trajectories": (REWORDED, QUERIES),
    "trajectory_cases": (REWORDED, QUERIES),
    "drift_chain": (REWORDED, QUERIES),
    "retrieval_quality": (JUDGED_HITS,),
    "fact_accuracy": (RECALLED,),
    "latent_facts": (RECALLED,),
    "factual_robustness": ABOUT_FACTS,
    "breaking": ABOUT_FACTS,
    "weakest_facts": ABOUT_FACTS,
    "predict_breaking": ABOUT_FACTS,
    "question_types": (*ABOUT_FACTS, TYPED),
    "robustness_with_evidence": (*ABOUT_FACTS, EVIDENCE),
    "certainty_bins": (NEVER_CERTAIN,),
    "judge_agreement": (NEVER_JUDGED,),
    "shaken": (NEVER_SHAKEN,),
}
"""Every shipped analysis, in the order in which they are asked."""
METRICS = (
    ("exact_match", SCANNED),
    ("entropy", ENTROPY),
    ("margin", LOGPROBS),
    ("answer_tokens", LOGPROBS),
    ("retrieval", JUDGED_HITS),
)
"""What some analyses read beside the usual metrics."""
