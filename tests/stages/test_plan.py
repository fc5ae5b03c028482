import dataclasses
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from made_studies import row, small_study, study_of, write_rows

from shaketable.errors import DataError, PartError, StudyError
from shaketable.methods.single_retrieval import SingleRetrieval
from shaketable.prompts import Template
from shaketable.stages.plan import plan
from shaketable.study import load_study
from shaketable.types import DatasetChoice


def keys(study):
    return [trial.key for trial, _ in plan(study).trials()]


def test_a_plan_counts_conditions_cells_and_trials(tmp_path):
    planned = plan(small_study(tmp_path, perturbations=["unchanged", "sentence_removal"], repeats=3))
    # 3 questions x 2 kinds of evidence x 2 temperatures x 3 repeats
    assert (len(planned.conditions), planned.n_cells, planned.n_trials) == (2, 12, 36)
    assert len(set(keys(planned.study))) == 36


def test_a_method_that_does_not_search_is_not_crossed_with_evidence(tmp_path):
    planned = plan(
        small_study(
            tmp_path,
            methods=["closed_book", "single_retrieval"],
            retrievers=["gold", "full_gold"],
            perturbations=["unchanged", "sentence_removal"],
        )
    )
    combinations = [tuple(condition.labels.values())[1:] for condition in planned.conditions]
    assert combinations == [
        ("closed_book", None, None),
        ("single_retrieval", "gold", "unchanged"),
        ("single_retrieval", "gold", "sentence_removal"),
        ("single_retrieval", "full_gold", "unchanged"),
        ("single_retrieval", "full_gold", "sentence_removal"),
    ]
    assert planned.n_trials == 5 * 3 * 2 * 2


def test_models_follow_one_another_and_temperatures_stand_together(tmp_path):
    study = small_study(tmp_path, n=2, models=["scripted", "scripted(replies=('a',))"], repeats=1)
    order = [(trial.model, trial.question_id, trial.temperature) for trial, _ in plan(study).trials()]
    assert order == [
        (model, question, temperature)
        for model in ("scripted", "scripted(replies=('a',))")
        for question in [question.id for question in plan(study).questions]
        for temperature in (0.0, 1.0)
    ]


def test_planning_again_gives_the_same_keys_and_seeds(tmp_path):
    study = small_study(tmp_path)
    first, second = ([(trial.key, trial.seed) for trial, _ in plan(study).trials()] for _ in range(2))
    assert first == second


def test_the_order_of_the_file_and_of_the_lists_changes_no_key(tmp_path):
    rows = [row(n) for n in range(3)]
    one = study_of(write_rows(tmp_path / "a.jsonl", rows), perturbations=["unchanged", "sentence_removal"])
    other = study_of(write_rows(tmp_path / "b.jsonl", rows[::-1]), perturbations=["sentence_removal", "unchanged"])
    assert set(keys(one)) == set(keys(other))


def test_names_metrics_and_analyses_change_no_key(tmp_path):
    study = small_study(tmp_path)
    other = dataclasses.replace(study, name="other", metrics=("rouge",), analyses=("variability",))
    assert keys(study) == keys(other)


def test_settings_that_do_not_shape_answers_change_no_key(tmp_path):
    plain, priced = (
        small_study(tmp_path, models=[f"openai(model='m', base_url='http://127.0.0.1:1/v1'{more})"])
        for more in ("", ", concurrency=3, price_in=1.0")
    )
    assert keys(plain) == keys(priced)


@pytest.mark.parametrize(
    "changed",
    [
        {"models": ["scripted(replies=('x',))"]},
        {"methods": ["single_retrieval(k=6)"]},
        {"methods": ["closed_book"]},
        {"retrievers": ["full_gold"]},
        {"perturbations": ["sentence_removal"]},
        {"temperatures": [0.1, 1.1]},
        {"seed": 4},
        {"generation": {"max_tokens": 9}},
    ],
)
def test_every_part_setting_and_seed_changes_every_key(tmp_path, changed):
    study = small_study(tmp_path)
    assert not set(keys(study)) & set(keys(small_study(tmp_path, **changed)))


def test_a_higher_version_of_a_part_changes_every_key(tmp_path, monkeypatch):
    study = small_study(tmp_path)
    before = keys(study)
    monkeypatch.setattr(SingleRetrieval, "version", SingleRetrieval.version + 1)
    assert not set(before) & set(keys(study))


def test_a_changed_prompt_text_changes_every_key(tmp_path, monkeypatch):
    study = small_study(tmp_path)
    before = keys(study)
    changed = Template("answer_from_context")
    changed.__dict__["text"] = "Please: $document $question"
    monkeypatch.setattr(SingleRetrieval, "prompts", (changed,))
    assert not set(before) & set(keys(study))


@pytest.mark.parametrize(
    ("changed", "n_same"),
    [
        ({"question": "Who has written book 0?"}, 0),
        ({"facts": [["Book 0", 0]]}, 0),
        ({"documents": [*row(0)["documents"], {"title": "More", "text": "More."}]}, 0),
        ({"answers": ["Another gold answer"]}, 4),
        ({"type": "bridge", "tags": {"source": "desk"}}, 4),
        ({"reference": "It was Author 0."}, 4),
    ],
)
def test_what_a_system_sees_of_a_question_is_in_the_key_and_its_gold_answer_is_not(tmp_path, changed, n_same):
    before = keys(study_of(write_rows(tmp_path / "a.jsonl", [row(0)])))
    after = keys(study_of(write_rows(tmp_path / "a.jsonl", [row(0, **changed)])))
    assert len(before) == 4
    assert len(set(before) & set(after)) == n_same


def test_questions_of_several_datasets_keep_apart(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", [row(0)])
    study = dataclasses.replace(
        study_of(path),
        datasets=(DatasetChoice(name="builtin", limit=1), DatasetChoice(name="jsonl", settings={"path": str(path)})),
    )
    ids = [question.id for question in plan(study).questions]
    assert len(ids) == 2
    assert ids[1] == "jsonl:q0"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"methods": ["single_retrieval", "single_retrieval(k=5)"]}, "is the same component as 'single_retrieval'"),
        (
            {"models": ["scripted", "scripted()"]},
            r"models\[1\]: 'scripted\(\)' is the same component as 'scripted'",
        ),
        ({"variations": ["original", "original()"]}, r"cross.variations\[1\]: 'original\(\)' is the same component"),
    ],
)
def test_one_part_in_two_spellings_is_refused(tmp_path, changed, message):
    with pytest.raises(StudyError, match=message):
        plan(small_study(tmp_path, **changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"models": ["scriptd"]}, r"^cross\.models\[0\]: Unknown model 'scriptd'\. Did you mean 'scripted'\?"),
        ({"methods": ["closed_book", "x"]}, r"^cross\.methods\[1\]: Unknown method 'x'\."),
        ({"perturbations": ["sentence_replacement(sede=1)"]}, r"no setting 'sede'\. Did you mean 'seed'\?"),
    ],
)
def test_a_part_that_does_not_exist_is_found_before_anything_runs(tmp_path, changed, message):
    with pytest.raises(PartError, match=message):
        plan(small_study(tmp_path, **changed))


def test_metrics_and_analyses_are_checked_before_anything_runs(tmp_path):
    study = small_study(tmp_path)
    with pytest.raises(PartError, match=r"^score\.metrics\[0\]: Unknown metric"):
        plan(dataclasses.replace(study, metrics=("bleurg",)))
    with pytest.raises(PartError, match=r"^analyze\.analyses\[0\]: correctness has no setting 'x'"):
        plan(dataclasses.replace(study, analyses=("correctness(x=1)",)))


def test_the_model_that_writes_references_is_checked_before_anything_runs(tmp_path):
    study = dataclasses.replace(small_study(tmp_path), reference="smolm2")
    with pytest.raises(PartError, match=r"score\.reference: Unknown model 'smolm2'\. Did you mean 'smollm2'\?"):
        plan(study)


def test_dataset_settings_are_checked(tmp_path):
    study = small_study(tmp_path)
    with pytest.raises(StudyError, match=r"dataset: jsonl has no setting 'pth'\. Did you mean 'path'\?"):
        plan(dataclasses.replace(study, datasets=(DatasetChoice(name="jsonl", settings={"pth": "x"}),)))
    with pytest.raises(StudyError, match=r"dataset\.path is 5; give the path of a file"):
        plan(dataclasses.replace(study, datasets=(DatasetChoice(name="jsonl", settings={"path": 5}),)))
    with pytest.raises(DataError, match=r"There is no file none\.jsonl in"):
        plan(study_of(tmp_path / "none.jsonl"))


FULL_SIZE = """
import json, sys
from shaketable.stages.plan import plan
from shaketable.study import load_study
planned = plan(load_study("context_temperature", sys.argv[1:]))
kind = {q.id: q.tags["type"] for q in planned.questions}
factors, keys = set(), set()
for t, _ in planned.trials():
    factors.add((t.model, t.temperature, t.perturbation, kind[t.question_id]))
    keys.add(t.key)
print(json.dumps({
    "conditions": len(factors), "cells": planned.n_cells, "trials": planned.n_trials,
    "keys": len(keys), "short": len(planned.short_cells),
    "heavy": sorted({"torch", "transformers", "spacy"} & set(sys.modules)),
}))
"""


FIVE_MODELS = (
    "cross.models=['openai(model=\"gpt-3.5-turbo\")', 'openai(model=\"gpt-4o\")', "
    "'openai(model=\"deepseek-reasoner\")', "
    "'transformers(path=\"Llama-3.1-8B-Instruct\")', 'transformers(path=\"Llama-3.2-1B-Instruct\")']"
)


def full_study(tmp_path, share=1.0):
    """How the full study is run: on an official file of HotpotQA, which has questions of 2 to 8 facts."""
    sizes = {2: 120, 3: 120, 4: 120, 5: 120, 6: 80, 7: 40, 8: 25}
    rows = []
    for kind in ("bridge", "comparison"):
        for n_facts, size in sizes.items():
            for n in range(round(share * size)):
                titles = [f"{kind} {n_facts} {n} {i}" for i in range(n_facts)]
                rows.append(
                    {
                        "_id": f"{kind}-{n_facts}-{n}",
                        "question": f"Which of {n_facts} is number {n}?",
                        "answer": f"Number {n}",
                        "type": kind,
                        "level": "hard",
                        "supporting_facts": [[title, 0] for title in titles],
                        "context": [[title, ["A fact.", "More."]] for title in titles],
                    }
                )
    path = tmp_path / "hotpot_train_v1.1.json"
    path.write_text(json.dumps(rows), "utf-8")
    return ["dataset.name=hotpotqa", f"dataset.path={path}", FIVE_MODELS]


def test_the_full_context_temperature_study_asks_600_questions_and_no_others(tmp_path):
    planned = plan(load_study("context_temperature", full_study(tmp_path)))
    kinds = Counter((question.tags["type"], question.tags["n_facts"]) for question in planned.questions)
    # Specification, section 1: {2, 3, 4} facts x {bridge, comparison}, 100 questions each.
    assert kinds == {(kind, n_facts): 100 for kind in ("bridge", "comparison") for n_facts in (2, 3, 4)}
    assert planned.short_cells == ()
    # The study counts 5 models x 11 temperatures x 4 contexts x 2 types as conditions.
    n_types = len({kind for kind, _ in kinds})
    assert len(planned.conditions) * len(planned.study.temperatures) * n_types == 440
    assert (planned.n_cells, planned.n_trials) == (132_000, 396_000)


def test_without_its_filter_the_full_study_would_draw_longer_questions_too(tmp_path):
    planned = plan(load_study("context_temperature", [*full_study(tmp_path), "dataset.where={}"]))
    assert len(planned.questions) == 600 + 2 * (100 + 80 + 40 + 25)


@pytest.mark.parametrize("share", [0.1, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_full_context_temperature_study_is_planned_without_torch(tmp_path, share):
    overrides = full_study(tmp_path, share)
    done = subprocess.run([sys.executable, "-c", FULL_SIZE, *overrides], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    n_questions = 600 if share == 1 else 6 * 12
    # 5 models x 11 temperatures x 4 kinds of evidence x 2 types; x half of the questions; x 3 repeats
    cells = 440 * n_questions // 2
    assert (found["conditions"], found["cells"], found["trials"]) == (440, cells, 3 * cells)
    assert found["keys"] == 3 * cells
    # 100 questions are asked for of each of the six kinds.
    assert (found["short"], found["heavy"]) == (0 if share == 1 else 6, [])


SIX = ("squad.jsonl", "nq.jsonl", "triviaqa.jsonl", "2wikimultihopqa.jsonl.gz", "hotpotqa.jsonl.gz", "musique.jsonl")
TEST_SETS = Path(__file__).parents[3] / "shared" / "data" / "adaptive_rag_test500"


@pytest.mark.skipif(not TEST_SETS.is_dir(), reason="the folder of real data is not there")
def test_the_study_of_query_variation_takes_its_six_test_sets_at_once():
    study = load_study("query_variation")
    choices = [DatasetChoice(name="adaptive_rag", settings={"path": str(TEST_SETS / file)}, limit=5) for file in SIX]
    methods = [method for method in study.methods if not method.startswith("flare")]
    assert [method.partition("(")[0] for method in methods] == [
        "closed_book",
        "single_retrieval",
        "dragin",
        "search_o1",
    ]
    planned = plan(dataclasses.replace(study, datasets=tuple(choices), methods=tuple(methods)))
    names = Counter(question.dataset for question in planned.questions)
    assert names == {f"adaptive_rag {file.partition('.')[0]}": 5 for file in SIX}
    tried = {(variant.question_id, variant.variation) for variant in planned.variants}
    assert len(tried) == 6 * 5 * 7, "Each question in seven wordings, some of them rejected."
    assert planned.n_trials == len(planned.asked) * 4 * 3, "Four methods, three repeats."
    assert len(planned.asked) > 0.9 * len(tried)
    assert len({trial.key for trial, _ in planned.trials()}) == planned.n_trials


# --- settings that follow the dataset ---------------------------------------------------------------


def hop_study(tmp_path, method, tags=lambda i: {"hops": i + 1}):
    rows = [row(i, tags=tags(i)) for i in range(3)]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    return study_of(path, methods=[method], temperatures=[0.0], repeats=1)


def test_a_task_that_follows_the_dataset_is_settled_by_the_plan(tmp_path):
    """One hop, two and three: people see what the study says, keys and parts hold what was settled."""
    planned = plan(hop_study(tmp_path, "search_o1(task='by_dataset', k=3)"))
    found = list(planned.trials())
    assert [(trial.question_id, condition.method.task) for trial, condition in found] == [
        ("q0", "single_hop"),
        ("q1", "multi_hop"),
        ("q2", "multi_hop"),
    ]
    assert {trial.method for trial, _ in found} == {"search_o1(task='by_dataset', k=3)"}
    parts = [part.label for _, condition in found for part in condition.parts if part.kind == "method"]
    assert parts == ["search_o1(task='single_hop', k=3)", "search_o1(k=3)", "search_o1(k=3)"]


def test_a_settled_task_has_the_key_of_the_task_itself(tmp_path):
    keys = {}
    for task in ("by_dataset", "single_hop", "multi_hop"):
        planned = plan(hop_study(tmp_path, f"search_o1(task={task!r})"))
        keys[task] = {trial.question_id: trial.key for trial, _ in planned.trials()}
    assert keys["by_dataset"]["q0"] == keys["single_hop"]["q0"] != keys["multi_hop"]["q0"]
    assert keys["by_dataset"]["q1"] == keys["multi_hop"]["q1"]


def test_other_hops_of_the_same_questions_make_another_plan(tmp_path):
    """A run is not gone on with whose questions would be asked otherwise."""
    first = plan(hop_study(tmp_path, "search_o1(task='by_dataset')"))
    second = plan(hop_study(tmp_path, "search_o1(task='by_dataset')", tags=lambda i: {"hops": 1}))
    assert first.fingerprint != second.fingerprint


def test_data_that_do_not_say_their_hops_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(StudyError, match=r"task='by_dataset'\) follows the dataset, and nothing says .* 'jsonl'"):
        plan(hop_study(tmp_path, "search_o1(task='by_dataset')", tags=lambda i: {}))
