"""Adaptive RAG under query variation: "How You Ask Matters!", arXiv 2604.10745."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

import polars as pl

from shaketable.analyses.wording.consistency import Consistency
from shaketable.analyses.wording.cost_stability import CostStability
from shaketable.analyses.wording.drift_chain import DriftChain, Stage
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.search_decisions import SearchDecisions
from shaketable.analyses.wording.trajectories import Trajectories
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.grouping import group_by_system
from shaketable.report.published.comparison import Claim, Comparison, Own, compare, format_own, model_of, table
from shaketable.report.published.verdicts import Judgement, is_known, least, mean_estimate, ordered, signed, within
from shaketable.types import Estimate

MODELS = {"llama-3.1-8b": "Llama-3.1-8B", "qwq-32b": "QwQ-32B"}
METHODS = {"closed_book": "NR", "single_retrieval": "WR", "dragin": "LB", "search_o1": "GB"}
DATASETS = {
    "2wiki": "2WIKI",
    "hotpotqa": "HotpotQA",
    "musique": "MuSiQue",
    "squad": "SQuAD",
    "triviaqa": "TriviaQA",
    "nq": "NQ",
}
SEVERAL_HOPS = ("2WIKI", "HotpotQA", "MuSiQue")
COLUMNS = {
    "formality": "form",
    "readability": "read",
    "declarative": "decl",
    "imperative": "impr",
    "spelling": "spell",
    "grammar": "gram",
}
"""Our variations → the columns of the published tables."""


def similarity(own: Own) -> Iterator[Comparison]:
    """Every printed number that the run has too."""
    for number in _similarities(own):
        printed = _printed(own, number.cell, "answer_similarity", COLUMNS.get(_kind(number.cell)))
        if printed is not None:
            claim = f"Similarity of answers to {number.cell.variation}"
            yield _compare(own, number, claim, f"{printed:g}", within(number.estimate, printed))


def stability_of_searches(own: Own) -> Iterator[Comparison]:
    for number in _numbers(own.results(CostStability), "re_searches", "cvr_searches"):
        is_change, variation = number.metric == "re_searches", number.cell.variation
        column = f"re_{COLUMNS.get(_kind(number.cell))}" if is_change else "cvr"
        printed = _printed(own, number.cell, "call_stability", column, target="retriever")
        if printed is not None:
            claim = f"RE of searches, {variation}" if is_change else "CVR of searches"
            yield _compare(own, number, claim, f"{printed:g}", within(number.estimate, printed))


def spelling_is_least_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "spelling", 1, "Misspelled questions get the answers least like the original's")


def imperative_is_most_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "imperative", -1, "Commands get the answers most like the original's")


def _extreme(own: Own, variation: str, sign: Literal[-1, 1], claim: str) -> Iterator[Comparison]:
    for group in group_by_system(_similarities(own)):
        numbers = {_kind(number.cell): number for number in group if _kind(number.cell) in COLUMNS}
        if variation in numbers:
            judgement = least({name: number.estimate for name, number in numbers.items()}, variation, sign)
            yield _compare(own, numbers[variation], claim, f"in {_count(variation, sign)} sound rows", judgement)


def _similarities(own: Own) -> list[WordingNumber]:
    return [number for number in _numbers(own.results(Consistency), "similarity") if not number.answered_only]


def _count(variation: str, sign: Literal[-1, 1]) -> str:
    """In how many rows of the published table it is so; rows that repeat those of the human subset do not count."""
    sound = table("answer_similarity").filter(same_as_human_subset=0)
    column = COLUMNS[variation]
    others = [pl.col(other) for other in COLUMNS.values() if other != column]
    beyond = [pl.col(column) < other if sign == 1 else pl.col(column) > other for other in others]
    return f"{sound.filter(*beyond).height} of {sound.height}"


def misspelling_costs(own: Own) -> Iterator[Comparison]:
    for number in _losses(own):
        if _kind(number.cell) == "spelling":
            claim = f"Misspelling lowers {number.metric}" + ", where not empty" * number.answered_only
            published = "QwQ-32B, GB, 2WIKI: InAccuracy 63.4 to 50.6 %"
            yield _compare(own, number, claim, published, signed(number.estimate, 1))


def rewording_flips(own: Own) -> Iterator[Comparison]:
    """The study has no control; what two runs of one wording flip is taken off here."""
    rates = table("flip_rates")["flip_rate_pct"]
    for number in _numbers(own.results(SearchDecisions), "excess_any"):
        if number.estimate.value is not None:
            claim = f"Rewording ({number.cell.variation}) flips the decision to search, beyond what two runs flip"
            published = f"{min(rates):g} to {max(rates):g} % of SQuAD by temperature, up to 55 %; no control"
            yield _compare(own, number, claim, published, signed(number.estimate, 1))


def misspelling_makes_over_confident(own: Own) -> Iterator[Comparison]:
    for group in group_by_system(_numbers(own.results(SearchDecisions), "over_confidence")):
        numbers = {_kind(number.cell): number for number in group if not number.is_loss}
        if "spelling" in numbers:
            judgement = least({name: number.estimate for name, number in numbers.items()}, "spelling", -1)
            claim = "Over-confidence is highest when the question is misspelled"
            yield _compare(own, numbers["spelling"], claim, "up to 9.4 %", judgement)


def written_queries_use_more_tokens(own: Own) -> Iterator[Comparison]:
    tokens = _numbers(own.results(CostStability), "n_tokens")
    levels = [number for number in tokens if number.cell.variation == ORIGINAL and not number.is_loss]
    usage = dict(table("token_usage").filter(model="Llama-3.1-8B").select("method", "original").iter_rows())
    for written in (number for number in levels if _method(own, number.cell) == "GB"):
        for triggered in (number for number in levels if _method(own, number.cell) == "LB"):
            if _model_and_dataset(triggered.cell) == _model_and_dataset(written.cell):
                yield compare(
                    "Search-o1 writes many more tokens than DRAGIN",
                    f"Llama-3.1-8B {usage['GB']:,} against {usage['LB']:,}",
                    f"{_name(own, written.cell)}; {_name(own, triggered.cell)}",
                    f"{format_own(written.estimate)}; {format_own(triggered.estimate)}",
                    ordered(triggered.estimate, written.estimate),
                )


def searches_change_more_on_several_hops(own: Own) -> Iterator[Comparison]:
    """Of methods that write queries; those that are triggered do not, in the published table either."""
    changes = _numbers(own.results(CostStability), "re_searches")
    hops: dict[str, dict[bool, list[Estimate]]] = {}
    for number in changes:
        name = model_of(number.cell.dataset or "", DATASETS)
        if _method(own, number.cell) == "GB" and name is not None and number.cell.system is not None:
            of_model = hops.setdefault(number.cell.system.model, {True: [], False: []})
            of_model[name in SEVERAL_HOPS].append(number.estimate)
    for model, estimates in hops.items():
        if estimates[True] and estimates[False]:
            several, single = mean_estimate(estimates[True]), mean_estimate(estimates[False])
            yield compare(
                "Searches change more with the wording on several hops than on one (RE, Search-o1)",
                _printed_changes(),
                model,
                f"several {format_own(several)}; one {format_own(single)}",
                ordered(single, several),
            )


def _printed_changes() -> str:
    rows = table("call_stability").filter(model="QwQ-32B", target="retriever", method="GB", same_as_human_subset=0)
    means = rows.select("dataset", change=pl.mean_horizontal(f"re_{name}" for name in COLUMNS.values()))
    return "QwQ-32B: " + ", ".join(f"{dataset} {change:.3f}" for dataset, change in means.iter_rows())


def later_hops_miss(own: Own) -> Iterator[Comparison]:
    gold = [
        number
        for number in _numbers(own.results(Trajectories), "gold")
        if number.cell.variation == ORIGINAL and is_known(number.estimate)
    ]
    for group in group_by_system(gold):
        by_hop = {number.hop: number for number in group if number.hop is not None}
        if len(by_hop) > 1:
            first, last = by_hop[min(by_hop)], by_hop[max(by_hop)]
            claim = f"Later searches bring gold documents less often (hop {last.hop} against {first.hop})"
            published = "falls with the hop, fastest for human rewrites"
            yield _compare(own, last, claim, published, ordered(last.estimate, first.estimate))


CHAIN: dict[tuple[Stage, Stage], tuple[str, Literal[-1, 1], str]] = {
    ("loss", "mss"): ("The less likely a wording, the less alike its queries (loss and MSS)", -1, "−0.15"),
    ("length", "mss"): ("The longer a wording, the more alike its queries (length and MSS)", 1, "0.29"),
    ("mss", "collapse"): (
        *("The less alike the queries, the more the evidence changes (MSS and collapse)", -1, "negative"),
    ),
    ("mss", "rfr"): ("The less alike the queries, the fewer gold documents (MSS and RFR)", -1, "negative"),
    ("rfr", "gap"): ("The fewer gold documents, the more correctness is lost (RFR and gap)", -1, "negative"),
}


def chain(own: Own) -> Iterator[Comparison]:
    for link in (link for result in own.results(DriftChain) for link in result.correlations):
        if link.cell.variation is None and link.rho.value is not None:
            claim, sign, published = CHAIN[link.first, link.second]
            published = f"{published} (Search-o1, 2WIKI, human rewrites)"
            yield compare(claim, published, _name(own, link.cell), link.rho, signed(link.rho, sign))


def f1_falls_too(own: Own) -> Iterator[Comparison]:
    """F1 and InAccuracy lose together under the wordings that cost accuracy."""
    losses = [number for number in _losses(own) if not number.answered_only]
    accuracy = {number.cell: number for number in losses if number.metric == "contains"}
    printed = table("token_f1").filter(dataset="2WIKI")["token_f1"].to_list()
    for number in losses:
        other = accuracy.get(number.cell)
        if number.metric == "token_f1" and other is not None and signed(other.estimate, 1).verdict == "agrees":
            claim = f"F1 falls where InAccuracy falls ({number.cell.variation})"
            published = f"2WIKI, human: {printed[0]:g} to {printed[1]:g}"
            yield _compare(own, number, claim, published, signed(number.estimate, 1))


class Numbered(Protocol):
    @property
    def numbers(self) -> Sequence[WordingNumber]: ...


def _numbers(results: Sequence[Numbered], *metrics: str) -> list[WordingNumber]:
    return [number for result in results for number in result.numbers if number.metric in metrics]


def _losses(own: Own) -> list[WordingNumber]:
    return [number for result in own.results(WordingAccuracy) for number in result.numbers if number.is_loss]


def _compare(own: Own, number: WordingNumber, claim: str, published: str, judgement: Judgement) -> Comparison:
    return compare(claim, published, _name(own, number.cell), number.estimate, judgement)


def _name(own: Own, cell: Cell) -> str:
    return own.labels.name(cell, "dataset", "perturbation")


def _printed(own: Own, cell: Cell, name: str, column: str | None, **wanted: str) -> float | None:
    """The published number for the same model, method and dataset; None: there is none that is sound."""
    model = model_of(own.written(cell.system.model), MODELS) if cell.system else None
    dataset = model_of(cell.dataset or "", DATASETS)
    if column is None or model is None or dataset is None or column not in table(name).columns:
        return None
    rows = table(name).filter(model=model, dataset=dataset, method=_method(own, cell), same_as_human_subset=0, **wanted)
    return None if rows.is_empty() else float(rows[column][0])


def _method(own: Own, cell: Cell) -> str | None:
    return METHODS.get(own.written(cell.system.method).partition("(")[0]) if cell.system else None


def _kind(cell: Cell) -> str:
    """The variation without its settings: who made the wordings is another question."""
    return str(cell.variation).partition("(")[0]


def _model_and_dataset(cell: Cell) -> tuple[str | None, str | None]:
    return cell.system.model if cell.system else None, cell.dataset


CLAIMS: tuple[Claim, ...] = (
    similarity,
    stability_of_searches,
    spelling_is_least_similar,
    imperative_is_most_similar,
    misspelling_costs,
    f1_falls_too,
    rewording_flips,
    misspelling_makes_over_confident,
    written_queries_use_more_tokens,
    searches_change_more_on_several_hops,
    later_hops_miss,
    chain,
)
