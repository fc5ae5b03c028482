"""Which verdicts a study can reach is known before it runs, and agrees with the tests behind them."""

import json

import numpy as np
import pytest

from shaketable.stages.plan import plan
from shaketable.stages.reach import reach_of
from shaketable.statistics.bounds import p_noninferior
from shaketable.statistics.ceilings import n_that_lose_nothing
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.sign_flips import sign_flip
from shaketable.study import load_study

STUDY = """
name = "x"
[dataset]
name = "jsonl"
path = "q.jsonl"
[cross]
models = ["scripted(replies=('Paris',))"]
methods = ["closed_book"]
temperatures = {temperatures}
[score]
metrics = ["correct"]
[analyze]
analyses = ["guidelines{margin}"]
{more}
"""


def reached(tmp_path, n_of_type, temperatures=(0.0, 1.0), margin="", more=""):
    rows = [
        {"id": f"{type}{i}", "question": f"Who is {type} {i}?", "answers": ["Paris"], "type": type or None}
        for type, n in n_of_type.items()
        for i in range(n)
    ]
    (tmp_path / "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    file = tmp_path / "x.toml"
    file.write_text(STUDY.format(temperatures=list(temperatures), margin=margin, more=more))
    return {reach.verdict: reach for reach in reach_of(plan(load_study(file)))}


@pytest.mark.parametrize(("n", "is_reachable"), [(58, False), (59, True)])
def test_a_safe_temperature_takes_59_questions(tmp_path, n, is_reachable):
    reach = reached(tmp_path, {"": n})["safe_temperature"]
    assert (reach.n, reach.n_needed, reach.per_type, reach.is_reachable) == (n, 59, False, is_reachable)
    p = float(p_noninferior(bound_differences(np.zeros((1, n)), True), 0.05)[0])
    assert (p < 0.05) == is_reachable, "The test behind the verdict, where nothing is lost."


def test_the_smallest_type_decides(tmp_path):
    reach = reached(tmp_path, {"bridge": 80, "comparison": 30})["safe_temperature"]
    assert (reach.n, reach.per_type, reach.is_reachable) == (30, True, False)


def test_a_type_of_few_questions_is_judged_with_the_others(tmp_path):
    reach = reached(tmp_path, {"bridge": 70, "comparison": 3})["safe_temperature"]
    assert (reach.n, reach.is_reachable) == (70, True)


def test_a_wider_margin_takes_fewer_questions(tmp_path):
    assert (
        reached(tmp_path, {"": 40}, margin="(margin=0.1)")["safe_temperature"].n_needed
        == n_that_lose_nothing(0.1, 0.05)
        == 29
    )


def test_one_temperature_has_no_safe_one(tmp_path):
    assert "safe_temperature" not in reached(tmp_path, {"": 80}, temperatures=(0.0,))


def test_more_questions_detect_smaller_drops(tmp_path):
    drops = [reached(tmp_path, {"": n})["comparison"].detectable for n in (20, 60, 200)]
    assert drops == sorted(drops, reverse=True) and 0 < drops[-1] < drops[0] < 1


def test_the_drop_that_is_detected_is_confirmed_four_times_in_five(tmp_path):
    """Answers of 3 in 10 questions change; by drawing studies with that drop."""
    n = 150
    drop = reached(tmp_path, {"": n})["comparison"].detectable
    rng = np.random.default_rng(0)
    worse, better = (0.3 + drop) / 2, (0.3 - drop) / 2
    draws = rng.choice([1.0, -1.0, 0.0], p=[worse, better, 0.7], size=(400, n))
    ids = [str(i) for i in range(n)]
    power = np.mean([p < 0.05 for p in sign_flip(draws, ids)])
    assert 0.72 < power < 0.9


def test_a_study_of_facts_is_not_judged_before_it_runs(tmp_path):
    assert reached(tmp_path, {"": 60}, more='[scan]\nknown = "exact_match"') == {}
