"""Adaptive RAG under query variation: "How You Ask Matters!", arXiv 2604.10745."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import polars as pl

from shaketable.report.published.comparison import (
    Claim,
    Comparison,
    Own,
    Row,
    compare,
    estimate_of,
    format_own,
    model_of,
    table,
)
from shaketable.report.published.verdicts import Judgement, is_known, least, mean_estimate, ordered, signed, within

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
    for row in own.rows("consistency", metric="similarity"):
        cell = _printed(row, "answer_similarity", COLUMNS.get(str(row["variation"])))
        if cell is not None:
            judgement = within(estimate_of(row), cell)
            yield _comparison(row, f"Similarity of answers to {row['variation']}", f"{cell:g}", judgement)


def stability_of_searches(own: Own) -> Iterator[Comparison]:
    for row in own.rows("cost_stability"):
        if row["contrast"] is not None or row["metric"] not in ("re_searches", "cvr_searches"):
            continue
        column = "cvr" if row["metric"] == "cvr_searches" else f"re_{COLUMNS.get(str(row['variation']))}"
        cell = _printed(row, "call_stability", column, target="retriever")
        if cell is not None:
            judgement = within(estimate_of(row), cell)
            name = "CVR of searches" if column == "cvr" else f"RE of searches, {row['variation']}"
            yield _comparison(row, name, f"{cell:g}", judgement)


def spelling_is_least_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "spelling", 1, "Misspelled questions get the answers least like the original's")


def imperative_is_most_similar(own: Own) -> Iterator[Comparison]:
    yield from _extreme(own, "imperative", -1, "Commands get the answers most like the original's")


def _extreme(own: Own, variation: str, sign: Literal[-1, 1], claim: str) -> Iterator[Comparison]:
    for rows in own.by_system("consistency", metric="similarity").values():
        for dataset in dict.fromkeys(row["dataset"] for row in rows):
            here = [row for row in rows if row["dataset"] == dataset]
            spans = {str(row["variation"]): estimate_of(row) for row in here if str(row["variation"]) in COLUMNS}
            if variation in spans:
                judgement = least(spans, variation, sign)
                shown = next(row for row in here if row["variation"] == variation)
                yield _comparison(shown, claim, f"in {_count(variation, sign)} sound rows", judgement)


def _count(variation: str, sign: Literal[-1, 1]) -> str:
    """In how many rows of the published table it is so; rows that repeat those of the human subset do not count."""
    sound = table("answer_similarity").filter(same_as_human_subset=0)
    column = COLUMNS[variation]
    others = [pl.col(other) for other in COLUMNS.values() if other != column]
    beyond = [pl.col(column) < other if sign == 1 else pl.col(column) > other for other in others]
    return f"{sound.filter(*beyond).height} of {sound.height}"


def misspelling_costs(own: Own) -> Iterator[Comparison]:
    for row in own.rows("wording_accuracy", contrast="original - spelling"):
        judgement = signed(estimate_of(row), 1)
        claim = f"Misspelling lowers {row['metric']}"
        yield _comparison(row, claim, "QwQ-32B, GB, 2WIKI: InAccuracy 63.4 to 50.6 %", judgement)


def rewording_flips(own: Own) -> Iterator[Comparison]:
    """The study has no control; what two runs of one wording flip is taken off here."""
    rates = table("flip_rates")["flip_rate_pct"]
    for row in own.rows("search_decisions", metric="excess_any"):
        if row["contrast"] is None and estimate_of(row).value is not None:
            judgement = signed(estimate_of(row), 1)
            claim = f"Rewording ({row['variation']}) flips the decision to search, beyond what two runs flip"
            published = f"{min(rates):g} to {max(rates):g} % of SQuAD by temperature, up to 55 %; no control"
            yield _comparison(row, claim, published, judgement)


def misspelling_makes_over_confident(own: Own) -> Iterator[Comparison]:
    for rows in own.by_system("search_decisions", metric="over_confidence", contrast=None).values():
        spans = {str(row["variation"]): estimate_of(row) for row in rows}
        if "spelling" in spans:
            judgement = least(spans, "spelling", -1)
            shown = next(row for row in rows if row["variation"] == "spelling")
            claim = "Over-confidence is highest when the question is misspelled"
            yield _comparison(shown, claim, "up to 9.4 %", judgement)


def written_queries_use_more_tokens(own: Own) -> Iterator[Comparison]:
    rows = own.rows("cost_stability", metric="n_tokens", variation="original", contrast=None)
    printed = table("token_usage")
    for written in (row for row in rows if _method(row) == "GB"):
        for triggered in (row for row in rows if _method(row) == "LB" and _place(row) == _place(written)):
            judgement = ordered(estimate_of(triggered), estimate_of(written))
            usage = {row["method"]: row["original"] for row in printed.filter(model="Llama-3.1-8B").to_dicts()}
            yield compare(
                "Search-o1 writes many more tokens than DRAGIN",
                f"Llama-3.1-8B {usage['GB']:,} against {usage['LB']:,}",
                f"{written['system']}; {triggered['system']}",
                f"{format_own(estimate_of(written))}; {format_own(estimate_of(triggered))}",
                judgement,
            )


def searches_change_more_on_several_hops(own: Own) -> Iterator[Comparison]:
    """Of methods that write queries; those that are triggered do not, in the published table either."""
    rows = [row for row in own.rows("cost_stability", metric="re_searches") if _method(row) == "GB"]
    for model in dict.fromkeys(str(row["model"]) for row in rows):
        hops: dict[bool, list[Row]] = {True: [], False: []}
        for row in rows:
            name = model_of(str(row["dataset"]), DATASETS)
            if row["model"] == model and name is not None:
                hops[name in SEVERAL_HOPS].append(row)
        if hops[True] and hops[False]:
            several, single = (
                mean_estimate([estimate_of(row) for row in hops[is_several]]) for is_several in (True, False)
            )
            judgement = ordered(single, several)
            yield compare(
                "Searches change more with the wording on several hops than on one (RE, Search-o1)",
                _printed_changes(),
                model,
                f"several {format_own(several)}; one {format_own(single)}",
                judgement,
            )


def _printed_changes() -> str:
    rows = table("call_stability").filter(model="QwQ-32B", target="retriever", method="GB", same_as_human_subset=0)
    means = rows.select("dataset", change=pl.mean_horizontal(f"re_{name}" for name in COLUMNS.values()))
    return "QwQ-32B: " + ", ".join(f"{dataset} {change:.3f}" for dataset, change in means.iter_rows())


def later_hops_miss(own: Own) -> Iterator[Comparison]:
    for rows in own.by_system("trajectories", metric="gold", variation="original").values():
        by_hop = {row["hop"]: row for row in rows if row.get("hop") and is_known(estimate_of(row))}
        if len(by_hop) > 1:
            first, last = by_hop[min(by_hop)], by_hop[max(by_hop)]
            judgement = ordered(estimate_of(last), estimate_of(first))
            claim = f"Later searches bring gold documents less often (hop {max(by_hop)} against {min(by_hop)})"
            yield _comparison(last, claim, "falls with the hop, fastest for human rewrites", judgement)


CHAIN: dict[str, tuple[str, Literal[-1, 1], str]] = {
    "loss_mss": ("The less likely a wording, the less alike its queries (loss and MSS)", -1, "−0.15"),
    "length_mss": ("The longer a wording, the more alike its queries (length and MSS)", 1, "0.29"),
    "mss_collapse": ("The less alike the queries, the more the evidence changes (MSS and collapse)", -1, "negative"),
    "mss_rfr": ("The less alike the queries, the fewer gold documents (MSS and RFR)", -1, "negative"),
    "rfr_gap": ("The fewer gold documents, the more correctness is lost (RFR and gap)", -1, "negative"),
}


def chain(own: Own) -> Iterator[Comparison]:
    for row in own.rows("drift_chain", variation=None):
        if row["metric"] in CHAIN and estimate_of(row).value is not None:
            claim, sign, published = CHAIN[row["metric"]]
            judgement = signed(estimate_of(row), sign)
            yield _comparison(row, claim, f"{published} (Search-o1, 2WIKI, human rewrites)", judgement)


def f1_falls_too(own: Own) -> Iterator[Comparison]:
    """F1 and InAccuracy lose together under the wordings that cost accuracy."""
    drops = {
        (str(row["system"]), str(row["dataset"]), str(row["variation"]), str(row["metric"])): row
        for row in own.rows("wording_accuracy")
        if row["contrast"] is not None
    }
    printed = table("token_f1").filter(dataset="2WIKI")["token_f1"].to_list()
    for (system, dataset, variation, metric), row in drops.items():
        other = drops.get((system, dataset, variation, "contains"))
        if metric == "token_f1" and other is not None and signed(estimate_of(other), 1).verdict == "agrees":
            judgement = signed(estimate_of(row), 1)
            claim = f"F1 falls where InAccuracy falls ({variation})"
            yield _comparison(row, claim, f"2WIKI, human: {printed[0]:g} to {printed[1]:g}", judgement)


def _comparison(row: Row, claim: str, published: str, judgement: Judgement) -> Comparison:
    return compare(claim, published, str(row["system"]), estimate_of(row), judgement)


def _printed(row: Row, name: str, column: str | None, **wanted: str) -> float | None:
    """The published number for the same model, method and dataset; None: there is none that is sound."""
    model, dataset = model_of(str(row["model"]), MODELS), model_of(str(row["dataset"]), DATASETS)
    if column is None or model is None or dataset is None or column not in table(name).columns:
        return None
    rows = table(name).filter(model=model, dataset=dataset, method=_method(row), same_as_human_subset=0, **wanted)
    return None if rows.is_empty() else float(rows[column][0])


def _method(row: Row) -> str | None:
    return METHODS.get(str(row["method"]).partition("(")[0])


def _place(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in ("model", "dataset"))


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
