"""What the published tables of "How You Ask Matters!" (arXiv 2604.10745) decide by themselves, with our definitions."""

from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest

from shaketable.analyses.wording.hops import Hop, Trails
from shaketable.analyses.wording.vectors import Vectors
from shaketable.report.published.comparison import table
from shaketable.statistics.stability import aligned_similarity, relative_change

PUBLISHED = Path(__file__).parents[4] / "shared" / "spec" / "published"
SHIPPED = {
    "similarity_all": "answer_similarity",
    "calls_all": "call_stability",
    "token_usage": "token_usage",
    "flip_rate_by_temperature": "flip_rates",
    "f1_vs_inaccuracy": "token_f1",
}

MODEL_MADE = ["form", "read", "decl", "impr", "spell", "gram"]


def load(name: str) -> pl.DataFrame:
    """A table that ships, or one of those beside the project, where they are."""
    if name in SHIPPED:
        return table(SHIPPED[name])
    if not PUBLISHED.is_dir():
        pytest.skip("the published tables are not there")
    return pl.read_csv(PUBLISHED / f"p002_{name}.csv")


def changes(columns: list[str], **wanted: str) -> dict[str, float]:
    (row,) = load("calls_human_subset").filter(**wanted).to_dicts()
    return {column: row[f"re_{column}"] for column in columns}


def is_sum_of(value: float, unit: float, n: int) -> bool:
    """Whether a mean over n questions of multiples of the unit is printed so, with three decimals."""
    total = round(value * n / unit)
    return any(abs(step * unit / n - value) <= 0.0005 + 1e-9 for step in (total - 1, total, total + 1))


# --- what the calls were divided by ------------------------------------------------------------------


def test_zero_originals_stay_in_the_denominator_because_only_a_hundred_questions_fit() -> None:
    # The 24 changes of searches (six variants, SQuAD and TriviaQA, two models) are multiples of 1/200.
    found = [
        value
        for model, dataset in itertools.product(("Llama-3.1-8B", "QwQ-32B"), ("SQuAD", "TriviaQA"))
        for value in changes(MODEL_MADE, model=model, dataset=dataset, target="retriever", method="GB").values()
    ]
    assert len(found) == 24
    assert all(round(value * 200) == pytest.approx(value * 200) for value in found)
    # A change is a multiple of one half where originals made 0, 1 or 2 searches.
    allowed = [n for n in range(40, 121) if all(is_sum_of(value, 0.5, n) for value in found)]
    assert allowed == [100]


def feasible(searches: float, calls: float, n: int, calls_of: dict[int, int]) -> bool:
    """Whether n pairs of 0, 1 or 2 searches can have these mean changes of searches and of calls."""
    kinds = [
        (relative_change(o, c), relative_change(calls_of[o], calls_of[c]))
        for o, c in itertools.permutations(range(3), 2)
    ]
    kinds = sorted(set(kinds))  # pairs that change both alike count once
    total = round(2 * searches * n)  # in halves
    reachable = {0: {0.0}}
    for half in range(1, total + 1):
        reachable[half] = {
            round(before + change, 9)
            for of_searches, change in kinds
            for before in reachable.get(half - round(2 * of_searches), ())
        }
    return any(abs(found / n - calls) <= 0.0005 + 1e-9 for found in reachable[total])


def test_calls_are_searches_and_one_more_and_reading_documents_is_not_counted() -> None:
    # Llama on SQuAD: searches + 1 fits all columns, 2 x searches + 1 none.
    place = {"model": "Llama-3.1-8B", "dataset": "SQuAD", "method": "GB"}
    searches = changes(MODEL_MADE, target="retriever", **place)
    calls = changes(MODEL_MADE, target="llm", **place)
    once, twice = {0: 1, 1: 2, 2: 3}, {0: 1, 1: 3, 2: 5}
    assert [feasible(searches[name], calls[name], 100, once) for name in MODEL_MADE] == [True] * 6
    assert [feasible(searches[name], calls[name], 100, twice) for name in MODEL_MADE] == [False] * 6


# --- ranks and claims -----------------------------------------------------------------------------------


def test_searches_by_trigger_do_not_change_more_on_several_hops() -> None:
    rows = (
        load("calls_all")
        .filter(target="retriever")
        .with_columns(
            change=pl.mean_horizontal(f"re_{name}" for name in MODEL_MADE),
            has_hops=pl.col("dataset").is_in(["2WIKI", "HotpotQA", "MuSiQue"]),
        )
    )

    def is_larger(method: str) -> list[bool]:
        """For each model: is the least change with several hops above the largest with one?"""
        sound = rows.filter(method=method, same_as_human_subset=0)
        return [
            of_model.filter("has_hops")["change"].min() > of_model.filter(~pl.col("has_hops"))["change"].max()
            for of_model in sound.partition_by("model")
        ]

    assert is_larger("GB") == [True, True]
    assert is_larger("LB") == [False, False]


def test_the_larger_model_is_more_accurate_and_not_steadier() -> None:
    accuracy = {
        (row["model"], row["dataset"]): row["orig_inaccuracy_pct"] for row in load("closed_source_gb").to_dicts()
    }
    assert all(accuracy["QwQ-32B", dataset] > accuracy["Llama-3.1-8B", dataset] for dataset in ("2WIKI", "SQuAD"))
    steadiness = {
        (row["model"], row["dataset"], row["method"]): row["cvr"]
        for row in load("calls_all").filter(target="retriever", same_as_human_subset=0).to_dicts()
    }
    both = [key[1:] for key in steadiness if key[0] == "QwQ-32B" and ("Llama-3.1-8B", *key[1:]) in steadiness]
    steadier = [key for key in both if steadiness["QwQ-32B", *key] > steadiness["Llama-3.1-8B", *key]]
    assert (len(both), steadier) == (10, [("SQuAD", "LB"), ("2WIKI", "LB")])


def test_answers_vary_less_with_written_queries_than_with_triggers_on_several_hops() -> None:
    # Section 9.5: the text of the paper says the opposite.
    rows = {
        (row["dataset"], row["method"]): row["diversity"]
        for row in load("similarity_all").filter(model="QwQ-32B").to_dicts()
    }
    assert all(rows[dataset, "GB"] < rows[dataset, "LB"] for dataset in ("2WIKI", "HotpotQA", "MuSiQue"))


def test_diversity_is_one_minus_the_mean_over_pairs() -> None:
    # Section 5.5: where variants are exchangeable, a variant is as far from a variant as from the original. So much is
    # left for pairs of variants when the published diversity is the mean over all 21 pairs; and the squared norm of the
    # mean of 7 unit vectors would leave far less.
    sound = load("similarity_all").filter(method="GB", same_as_human_subset=0)
    assert len(sound) == 9
    for row in sound.to_dicts():
        to_original = [row[name] for name in MODEL_MADE]
        alike = 1 - row["diversity"]
        over_pairs = (21 * alike - sum(to_original)) / 15
        over_mean = ((49 * alike - 7) / 2 - sum(to_original)) / 15
        mean = sum(to_original) / 6
        assert over_pairs == pytest.approx(mean, abs=0.04)
        assert mean - over_mean > 0.08


def test_the_steadiest_rows_are_those_of_llama_on_squad() -> None:
    rows = load("calls_all").filter(model="Llama-3.1-8B", dataset="SQuAD", method="GB")
    assert dict(rows.select("target", "cvr").iter_rows()) == {"retriever": 0.937, "llm": 0.963}


def test_f1_falls_where_in_accuracy_falls() -> None:
    rows = {(row["dataset"], row["variant"]): row for row in load("f1_vs_inaccuracy").to_dicts()}
    for dataset in ("2WIKI", "SQuAD"):
        before, after = rows[dataset, "original"], rows[dataset, "human"]
        assert after["token_f1"] < before["token_f1"] and after["inaccuracy_pct"] < before["inaccuracy_pct"]
    assert [rows["2WIKI", variant]["token_f1"] for variant in ("original", "human")] == [0.396, 0.283]


def test_people_cost_about_as_much_as_misspelling_with_dense_retrieval() -> None:
    rows = load("dense_contriever").filter(model="Llama-3.1-8B", dataset="2WIKI", method="LB")
    found = dict(rows.select("variant", "inaccuracy_pct").iter_rows())
    assert [found[name] for name in ("original", "human", "spell")] == [37.6, 17.9, 23.0]
    assert max(found, key=lambda name: found[name]) == "original"


def test_the_published_trajectory_has_the_numbers_of_the_definitions() -> None:
    hops = load("trajectory_example")
    assert aligned_similarity(hops["subquery_similarity"].to_list(), len(hops)) == pytest.approx(0.7425)
    trails = Trails(
        hops={
            name: [Hop(query="", passages=frozenset(), is_hit=bool(hit)) for hit in hops[f"hit_{name}"]]
            for name in ("original", "human")
        },
        vectors=Vectors(of={}),
        missing="skip",
    )
    assert trails.failure_rate("human") == 0.5
    assert trails.failure_rate("original") == 0
