"""Adaptive RAG under query variation: "How You Ask Matters!", arXiv 2604.10745."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Literal, Protocol

import polars as pl

from shaketable.analyses.claims import Subject
from shaketable.analyses.wording.consistency import Consistency
from shaketable.analyses.wording.cost_stability import CostStability
from shaketable.analyses.wording.drift_chain import DriftChain, Stage
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.search_decisions import SearchDecisions
from shaketable.analyses.wording.trajectories import Trajectories
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.factors import ORIGINAL, Cell, is_by_people
from shaketable.report.grouping import group_by_system
from shaketable.report.published.comparison import Claim, Comparison, Own, compare, dataset_of, format_own, table
from shaketable.report.published.verdicts import (
    Judgement,
    is_known,
    least,
    mean_estimate,
    ordered,
    signed,
    unlike,
    within,
)
from shaketable.types import Estimate

MODELS = {"llama-3.1-8b": "Llama-3.1-8B", "qwq-32b": "QwQ-32B", "gpt-4o-mini": "GPT-4o-mini"}
METHODS = {"closed_book": "NR", "single_retrieval": "WR", "dragin": "LB", "search_o1": "GB"}
DATASETS = {
    "2wiki": "2WIKI",
    "hotpotqa": "HotpotQA",
    "musique": "MuSiQue",
    "squad": "SQuAD",
    "triviaqa": "TriviaQA",
    "nq": "NQ",
}
SEARCHING = ("LB", "GB")
"""Methods that decide whether to search."""
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
PEOPLE, ENCODER, TEMPERATURE = "human", "all-mpnet-base-v2", 0.7
N_WORDINGS = 1 + len(COLUMNS)
"""Of a question, in the tables without people's rewrites."""
N_WITH_PEOPLE = N_WORDINGS + 2


def _unlike(
    own: Own, cell: Cell, *more: tuple[bool, str], methods: Sequence[str] = tuple(METHODS.values())
) -> Judgement | None:
    """What of a system is not as in the study: model, method, dataset, retriever, temperature, and what else a number
    needs."""
    retriever = (cell.system.retriever or "") if cell.system else ""
    return unlike(
        (own.model(cell, MODELS) is not None, "the system is none of the study's models"),
        (_method(own, cell) in methods, f"published of {', '.join(methods)}"),
        (dataset_of(cell.dataset, DATASETS) is not None, "the dataset is none of the study's"),
        ("dense" not in retriever or "contriever" in retriever, "the retriever is none of the study's"),
        (cell.temperature in (None, TEMPERATURE), f"published at temperature {TEMPERATURE:g}"),
        *more,
    )


def _by_people(cell: Cell) -> bool:
    return cell.variation is not None and is_by_people(cell.variation)


def _is_subset(own: Own) -> bool:
    """Whether the run asks only questions that have rewrites by people, as the tables with people do."""
    return any(choice.with_rewrites for choice in own.study.datasets)


def similarity(own: Own) -> Iterator[Comparison]:
    """Every printed number that the run has too."""
    encoders = {result.encoder for result in own.results(Consistency)}
    for number in _similarities(own):
        printed = _printed(own, number.cell, "answer_similarity", _column(number.cell))
        if printed is not None:
            claim = f"Similarity of answers to {number.cell.variation}"
            judgement = _unlike(own, number.cell, _same_encoder(encoders)) or within(number.estimate, printed)
            yield _compare(own, number, claim, f"{printed:g}", judgement)


def _same_encoder(encoders: set[str]) -> tuple[bool, str]:
    return encoders == {ENCODER}, f"published by the encoder {ENCODER}, this run by {', '.join(sorted(encoders))}"


def stability_of_searches(own: Own) -> Iterator[Comparison]:
    """The published numbers are of one run, and CVR of so many wordings."""
    numbers = _numbers(own.results(CostStability), "re_searches", "cvr_searches")
    has_people = any(_by_people(number.cell) for number in numbers)
    one_run = own.study.repeats == 1, f"published of one run, this run has {own.study.repeats}"
    for number in numbers:
        is_change = number.metric == "re_searches"
        column = f"re_{_column(number.cell)}" if is_change else "cvr"
        printed = _printed(own, number.cell, "call_stability", column, target="retriever")
        if printed is None or (not is_change and has_people and _is_subset(own) != number.with_people):
            continue
        wanted = N_WITH_PEOPLE if _is_subset(own) else N_WORDINGS
        kinds = {_column(other.cell) for other in numbers if replace(other.cell, variation=None) == number.cell}
        n_wordings = 1 + len(kinds - {None, PEOPLE}) + 2 * (PEOPLE in kinds and number.with_people)
        all_wordings = (
            is_change or n_wordings == wanted,
            f"published of {wanted} wordings of a question, this run has {n_wordings}",
        )
        claim = f"RE of searches, {number.cell.variation}" if is_change else "CVR of searches"
        judgement = _unlike(own, number.cell, one_run, all_wordings) or within(number.estimate, printed)
        yield _compare(own, number, claim, f"{printed:g}", judgement)


def levels(own: Own) -> Iterator[Comparison]:
    """InAccuracy and searches where the study prints them: with Contriever, of GPT-4o-mini, and beside F1."""
    is_token = any(text.startswith("contains") and "'token'" in text for text in own.study.metrics)
    accuracies = [
        number
        for result in own.results(WordingAccuracy)
        for number in result.numbers
        if number.metric == "contains" and not (number.is_loss or number.answered_only)
    ]
    searches = [own for own in _numbers(own.results(CostStability), "n_searches") if not own.is_loss]
    same_metric = is_token, "InAccuracy is contains(match='token')"
    for number in (*accuracies, *searches):
        is_accuracy = number.metric == "contains"
        printed = _printed_level(own, number.cell, is_accuracy=is_accuracy)
        if printed is not None:
            what = "InAccuracy" if is_accuracy else "Searches"
            value, shown = (printed / 100, f"{printed:g} %") if is_accuracy else (printed, f"{printed:g}")
            different = _unlike(own, number.cell, *([same_metric] if is_accuracy else []))
            judgement = different or within(number.estimate, value)
            yield _compare(own, number, f"{what}, {_column(number.cell)}", shown, judgement)


def _printed_level(own: Own, cell: Cell, *, is_accuracy: bool) -> float | None:
    model, dataset = own.model(cell, MODELS), dataset_of(cell.dataset, DATASETS)
    place = {"model": model, "dataset": dataset, "method": _method(own, cell)}
    if None in place.values():
        return None
    variant, retriever = _column(cell), (cell.system.retriever or "") if cell.system else ""
    if "dense" in retriever:
        rows = table("dense_retriever").filter(**place, variant=variant)
        column = "inaccuracy_pct" if is_accuracy else "mean_retrieval_calls"
    elif variant in (ORIGINAL, PEOPLE) and _is_subset(own):
        rows = table("closed_source").filter(**place)
        what = "inaccuracy_pct" if is_accuracy else "mean_retrieval_calls"
        column = f"{'orig' if variant == ORIGINAL else variant}_{what}"
    else:
        return None
    return None if rows.is_empty() else float(rows[column][0])


def spelling_is_least_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "spelling", 1, "Misspelled questions get the answers least like the original's")


def imperative_is_most_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "imperative", -1, "Commands get the answers most like the original's")


def _extreme(own: Own, variation: str, sign: Literal[-1, 1], claim: str) -> Iterator[Comparison]:
    encoders = {result.encoder for result in own.results(Consistency)}
    for group in group_by_system(_similarities(own)):
        numbers = {_kind(number.cell): number for number in group if _kind(number.cell) in COLUMNS}
        if variation in numbers:
            number = numbers[variation]
            judgement = _unlike(own, number.cell, _same_encoder(encoders), _all_rewordings(numbers)) or least(
                {name: number.estimate for name, number in numbers.items()}, variation, sign
            )
            yield _compare(own, number, claim, f"in {_count(variation, sign)} sound rows", judgement)


def _all_rewordings(numbers: Collection[str]) -> tuple[bool, str]:
    missing = [name for name in COLUMNS if name not in numbers]
    return not missing, f"published of six rewordings, the run has no {', '.join(missing)}"


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
        if _kind(number.cell) == "spelling" and number.metric == "contains":
            claim = "Misspelling lowers InAccuracy" + ", where not empty" * number.answered_only
            published = "QwQ-32B, GB, 2WIKI: InAccuracy 63.4 to 50.6 %"
            judgement = _unlike(own, number.cell) or own.settle(signed(number.estimate, 1), _subject(number, "wording"))
            yield _compare(own, number, claim, published, judgement)


def _subject(number: WordingNumber, kind: str) -> Subject:
    return Subject(kind=kind, cell=number.cell, metric=number.metric)


def rewording_flips(own: Own) -> Iterator[Comparison]:
    """The study has no control; what two runs of one wording flip is taken off here."""
    rates = table("flip_rates")["flip_rate_pct"]
    for number in _numbers(own.results(SearchDecisions), "excess_any"):
        if number.estimate.value is not None:
            claim = f"Rewording ({number.cell.variation}) flips the decision to search, beyond what two runs flip"
            published = f"{min(rates):g} to {max(rates):g} % of SQuAD by temperature, up to 55 %; no control"
            people = _by_people(number.cell), "published of rewrites by people"
            # Table 9 has four temperatures: the flips hardly depend on it.
            different = _unlike(own, replace(number.cell, temperature=None), people, methods=SEARCHING)
            judgement = different or own.settle(signed(number.estimate, 1), _subject(number, "decision"))
            yield _compare(own, number, claim, published, judgement)


def misspelling_makes_over_confident(own: Own) -> Iterator[Comparison]:
    for group in group_by_system(_numbers(own.results(SearchDecisions), "over_confidence")):
        numbers = {_kind(number.cell): number for number in group if not number.is_loss}
        if "spelling" in numbers:
            number, claim = numbers["spelling"], "Over-confidence is highest when the question is misspelled"
            different = _unlike(own, number.cell, _all_rewordings(numbers), methods=SEARCHING)
            of_each = {name: other.estimate for name, other in numbers.items()}
            yield _compare(own, number, claim, "up to 9.4 %", different or least(of_each, "spelling", -1))


def written_queries_use_more_tokens(own: Own) -> Iterator[Comparison]:
    tokens = _numbers(own.results(CostStability), "n_tokens")
    levels = [number for number in tokens if number.cell.variation == ORIGINAL and not number.is_loss]
    usage = dict(table("token_usage").filter(model="Llama-3.1-8B").select("method", "original").iter_rows())
    for written in (number for number in levels if _method(own, number.cell) == "GB"):
        for triggered in (number for number in levels if _method(own, number.cell) == "LB"):
            if _model_and_dataset(triggered.cell) == _model_and_dataset(written.cell):
                different = _unlike(own, written.cell) or _unlike(own, triggered.cell)
                yield compare(
                    "Search-o1 writes many more tokens than DRAGIN",
                    f"Llama-3.1-8B {usage['GB']:,} against {usage['LB']:,}",
                    f"{_name(own, written.cell)}; {_name(own, triggered.cell)}",
                    f"{format_own(written.estimate)}; {format_own(triggered.estimate)}",
                    different or ordered(triggered.estimate, written.estimate),
                )


def searches_change_more_on_several_hops(own: Own) -> Iterator[Comparison]:
    """Of methods that write queries; those that are triggered do not, in the published table either."""
    changes = _numbers(own.results(CostStability), "re_searches")
    hops: dict[str, dict[bool, list[Estimate]]] = {}
    cells: dict[str, Cell] = {}
    for number in changes:
        name = dataset_of(number.cell.dataset, DATASETS)
        if _method(own, number.cell) == "GB" and name is not None and number.cell.system is not None:
            of_model = hops.setdefault(number.cell.system.model, {True: [], False: []})
            of_model[name in SEVERAL_HOPS].append(number.estimate)
            cells.setdefault(number.cell.system.model, number.cell)
    for model, estimates in hops.items():
        if estimates[True] and estimates[False]:
            several, single = mean_estimate(estimates[True]), mean_estimate(estimates[False])
            yield compare(
                "Searches change more with the wording on several hops than on one (RE, Search-o1)",
                _printed_changes(),
                model,
                f"several {format_own(several)}; one {format_own(single)}",
                _unlike(own, cells[model]) or ordered(single, several),
            )


def _printed_changes() -> str:
    rows = table("call_stability").filter(model="QwQ-32B", target="retriever", method="GB", same_as_human_subset=0)
    means = rows.select("dataset", change=pl.mean_horizontal(f"re_{name}" for name in COLUMNS.values()))
    return "QwQ-32B: " + ", ".join(
        f"{dataset} {change:.3f}".replace("-0", "−0") for dataset, change in means.iter_rows()
    )


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
            name = dataset_of(last.cell.dataset, DATASETS)
            several = name in SEVERAL_HOPS, "published of questions of several hops"
            judgement = _unlike(own, last.cell, several, methods=SEARCHING) or ordered(last.estimate, first.estimate)
            yield _compare(own, last, claim, published, judgement)


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
    """The study states it of people's rewrites; where a run has none, its rewordings together stand there."""
    for link in (link for result in own.results(DriftChain) for links in result.chains for link in links):
        claim, sign, published = CHAIN[link.first, link.second]
        different = _unlike(
            own,
            link.cell,
            (_by_people(link.cell), "published of rewrites by people"),
            (dataset_of(link.cell.dataset, DATASETS) == "2WIKI", "published of 2WIKI"),
            methods=("GB",),
        )
        subject = Subject(kind="chain", cell=link.cell, metric=link.first, other=link.second)
        judgement = different or own.settle(signed(link.rho, sign), subject)
        yield compare(
            claim, f"{published} (Search-o1, 2WIKI, human rewrites)", _name(own, link.cell), link.rho, judgement
        )


def f1_falls_too(own: Own) -> Iterator[Comparison]:
    """F1 and InAccuracy lose together under the wordings that cost accuracy."""
    losses = [number for number in _losses(own) if not number.answered_only]
    accuracy = {number.cell: number for number in losses if number.metric == "contains"}
    rows = table("token_f1")
    for number in losses:
        other, dataset = accuracy.get(number.cell), dataset_of(number.cell.dataset, DATASETS)
        if number.metric == "token_f1" and other is not None and signed(other.estimate, 1).verdict == "agrees":
            claim = f"F1 falls where InAccuracy falls ({number.cell.variation})"
            printed = rows.filter(dataset=dataset if dataset in rows["dataset"] else "2WIKI")
            values = " to ".join(f"{value:g}" for value in printed["token_f1"])
            different = _unlike(
                own,
                number.cell,
                (own.model(number.cell, MODELS) in rows["model"], "published of Llama-3.1-8B"),
                (dataset in rows["dataset"], "published of 2WIKI and SQuAD"),
                (_by_people(number.cell), "published of rewrites by people"),
                methods=tuple(rows["method"].unique()),
            )
            judgement = different or own.settle(signed(number.estimate, 1), _subject(number, "wording"))
            yield _compare(own, number, claim, f"{printed['dataset'][0]}, human: {values}", judgement)


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
    """The published number for the same model, method and dataset; None: there is none that is sound.

    Numbers of people's rewrites, and all numbers of a run that asks only questions that have some, are in a table of
    their own.
    """
    model, dataset = own.model(cell, MODELS), dataset_of(cell.dataset, DATASETS)
    of_subset = _is_subset(own) or _by_people(cell)
    rows = table(f"{name}_people" if of_subset else name)
    is_dense = cell.system is not None and "dense" in (cell.system.retriever or "")
    method = _method(own, cell)
    if None in (column, model, dataset, method) or column not in rows.columns or is_dense:
        return None
    rows = rows.filter(model=model, dataset=dataset, method=method, **wanted)
    if not of_subset:
        rows = rows.filter(same_as_human_subset=0)
    return None if rows.is_empty() else float(rows[column][0])


def _method(own: Own, cell: Cell) -> str | None:
    return METHODS.get(own.written(cell.system.method).partition("(")[0]) if cell.system else None


def _kind(cell: Cell) -> str:
    """The variation without its settings: who made the wordings is another question."""
    return str(cell.variation).partition("(")[0]


def _column(cell: Cell) -> str | None:
    """How the published tables name a wording; None: it is none of theirs."""
    if cell.variation == ORIGINAL:
        return ORIGINAL
    return PEOPLE if _by_people(cell) else COLUMNS.get(_kind(cell))


def _model_and_dataset(cell: Cell) -> tuple[str | None, str | None]:
    return cell.system.model if cell.system else None, cell.dataset


CLAIMS: tuple[Claim, ...] = (
    similarity,
    stability_of_searches,
    levels,
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


def is_spoken_of(own: Own) -> bool:
    """Whether the run has what the study is about: a question in other words."""
    return any(number.cell.variation not in (None, ORIGINAL) for number in _losses(own)) or bool(_similarities(own))
