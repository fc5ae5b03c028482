import dataclasses
import re
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable import catalog
from shaketable.cli.running import _default_folder
from shaketable.errors import StudyError
from shaketable.factors import judging_metric, numbers_of
from shaketable.study import format_study, load_study, parse_study, shipped_studies, study_schema
from shaketable.study.naming import LONGEST, name_after
from shaketable.types import DatasetChoice, Gate, Study

GENERATION = {
    "max_tokens": 256,
    "top_p": 1.0,
    "top_k": 0,
    "repetition_penalty": 1.0,
    "library_defaults": False,
    "logprobs": False,
    "top_logprobs": False,
}


@pytest.fixture
def load(tmp_path):
    """Load a study from its text."""

    def loader(text, *overrides, limit=None):
        path = tmp_path / "typos.toml"
        path.write_text(text, "utf-8")
        try:
            return load_study(path, overrides, limit)
        except StudyError as error:
            raise StudyError(str(error).replace(f"{tmp_path}/", "")) from error

    return loader


def test_a_name_is_enough_for_a_study(load):
    study = load('name = "x"')
    assert study.datasets == (DatasetChoice(name="builtin"),)
    assert (study.models, study.temperatures, study.repeats) == (("smollm2",), (0.0,), 1)
    assert study.generation == GENERATION


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sede = 1\nname = 'x'", "typos.toml, sede: unknown key 'sede'. Did you mean 'seed'? Known keys: name, seed,"),
        (
            "name = 'x'\n[cross]\nmodel = ['a']",
            "typos.toml, cross.model: unknown key 'model'. Did you mean 'models'? Known keys: models, methods,",
        ),
        (
            "name = 'x'\n[dataset]\nbalance = { by = ['type'], percell = 2 }",
            "dataset.balance.percell: unknown key 'percell'. Did you mean 'per_cell'? Known keys: by, per_cell.",
        ),
        (
            "name = 'x'\n[[dataset]]\n[[dataset]]\nbalance = { by = ['type'], percell = 2 }",
            "typos.toml, dataset[1].balance.percell: unknown key 'percell'.",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = { from = 0, to = 1, stp = 1, step = 1 }",
            "typos.toml, cross.temperatures.stp: unknown key 'stp'. Did you mean 'step'? Known keys: from, to, step.",
        ),
        (
            "name = 'x'\n[cross]\nrepeats = 'two'",
            "typos.toml, cross.repeats: found 'two'; input should be a valid integer",
        ),
        ("name = 'x'\n[cross]\nmodels = 'a'", "typos.toml, cross.models: found 'a'; input should be a valid list."),
        (
            "name = 'x'\n[cross]\nrepeats = 0",
            "typos.toml, cross.repeats: found 0; input should be greater than or equal",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = [0.0, -1.0]",
            "typos.toml, cross.temperatures[1]: found -1.0; input should",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = [inf]",
            "typos.toml, cross.temperatures[0]: found inf; input should be a finite",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = [nan]",
            "typos.toml, cross.temperatures[0]: found nan, which is no number",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = [0.5, 0.0, 0.50]",
            "typos.toml, cross.temperatures: 0.5 is listed twice. Give each temperature once.",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = []",
            "typos.toml, cross.temperatures: the list is empty. Give at least one",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = { from = 1, to = 0, step = 0.1 }",
            "typos.toml, cross.temperatures: 'to' (0.0) lies below 'from' (1.0).",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = { from = 0, to = 1, step = 0 }",
            "typos.toml, cross.temperatures.step: found 0; input should be greater than 0.",
        ),
        (
            "name = 'x'\n[cross]\ntemperatures = { from = 0, to = inf, step = 1 }",
            "typos.toml, cross.temperatures.to: found inf; input should be a finite number.",
        ),
        (
            "name = 'x'\n[cross]\nmethods = ['a', 'b', 'a']",
            "typos.toml, cross.methods: 'a' is listed twice. Name each component once.",
        ),
        (
            "name = 'x'\n[score]\nmetrics = ['rouge', 'rouge']",
            "typos.toml, score.metrics: 'rouge' is listed twice. Name each component once.",
        ),
        ("name = 'x'\n[cross]\nretrievers = []", "cross.retrievers and cross.perturbations need an entry each"),
        (
            "name = 'x'\n[dataset]\nlimit = 0",
            "typos.toml, dataset.limit: found 0; input should be greater than or equal to 1.",
        ),
        (
            "name = 'x'\n[dataset]\nwhere = { n_facts = [] }",
            "typos.toml, dataset.where.n_facts: found []; value error, give a value of the tag, or a list of values",
        ),
        (
            "name = 'x'\n[dataset]\nwhere = { n_facts = [[2]] }",
            "typos.toml, dataset.where.n_facts: found [[2]]; value error, give a value of the tag, or a list of values",
        ),
        (
            "name = 'x'\ndataset = 'nq'",
            "typos.toml, dataset: found 'nq'; write a table with the keys name, where, with_rewrites, balance, limit, "
            "shard.",
        ),
        ("seed = 1", "typos.toml, name: this key is missing. Add it to the study."),
        ("name = ", "typos.toml: this is not TOML: "),
    ],
)
def test_a_wrong_study_is_named_with_place_finding_and_expectation(load, text, message):
    with pytest.raises(StudyError) as caught:
        load(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_flip_rate = 3", "typos.toml, gate.max_flip_rate: found 3; input should be less than or equal to 1."),
        ("max_drops = 0.1", "typos.toml, gate.max_drops: unknown key 'max_drops'. Did you mean 'max_drop'?"),
        ("undecided = 'maybe'", "typos.toml, gate.undecided: found 'maybe'; input should be 'pass' or 'fail'."),
        ("confidence = 0.5", "typos.toml, gate.confidence: found 0.5; input should be greater than 0.5."),
    ],
)
def test_a_wrong_threshold_is_named(load, text, message):
    with pytest.raises(StudyError, match=re.escape(message)):
        load(f"name = 'x'\n[gate]\n{text}")


def test_one_mistake_is_explained_in_one_line_and_two_in_two(load):
    with pytest.raises(StudyError) as caught:
        load("name = 'x'\n[dataset]\nlimit = 0\n[cross]\ntemperatures = { from = -1, to = 1, step = 1 }")
    assert len(str(caught.value).splitlines()) == 2


def test_a_study_in_another_encoding_is_refused_with_the_place(tmp_path):
    path = tmp_path / "old.toml"
    path.write_bytes("name = 'Zürich'".encode("latin-1"))
    with pytest.raises(StudyError, match=r"old\.toml line 1: byte 9 .*is not UTF-8.*WINDOWS-1252"):
        load_study(path)


def test_another_dataset_leaves_the_settings_of_the_shipped_one_behind():
    """As the comment of the study says it; `part` is a setting of the built-in data alone."""
    given = ["dataset.path=questions.json", "dataset.name=triviaqa"]
    for overrides in (given, given[::-1]):
        (dataset,) = load_study("factual_robustness", overrides).datasets
        assert dataset.name == "triviaqa" and list(dataset.settings) == ["path"]
    (same,) = load_study("factual_robustness", ["dataset.name=builtin"]).datasets
    assert same.settings == {"part": "facts"}


def test_a_reference_prompt_is_a_text_or_a_file_and_the_text_is_frozen(tmp_path, load):
    written = "name = 'x'\n[score]\nreference = 'smollm2'\nreference_prompt = "
    text = "{question} is answered by {answer}.\nSay so."
    (tmp_path / "prompt.txt").write_text(text + "\n")
    from_file = load(written + "'prompt.txt'")
    assert from_file.reference_prompt == text
    assert load(written + '"""' + text + '"""') == from_file
    (tmp_path / "prompt.txt").unlink()
    assert parse_study(tomllib.loads(format_study(from_file)), "frozen") == from_file


@pytest.mark.parametrize(
    ("reference", "prompt", "message"),
    [
        (
            "smollm2",
            "none.txt",
            "found 'none.txt'; expected a text with {question} and {answer}, or the path of a file",
        ),
        ("smollm2", "Only {question}. " * 40, "Only {question}. '; expected a text with {question} and {answer}"),
        ("smollm2", "half.txt", "half.txt has no {answer}; a prompt needs {question} and {answer}."),
        ("template", "{question} {answer}", "no model is asked where score.reference is 'template'."),
    ],
)
def test_a_wrong_reference_prompt_is_refused_when_the_study_is_read(tmp_path, load, reference, prompt, message):
    (tmp_path / "half.txt").write_text("{question}")
    with pytest.raises(StudyError, match=re.escape(message)):
        load(f"name = 'x'\n[score]\nreference = {reference!r}\nreference_prompt = {prompt!r}")


def test_decoding_can_differ_for_one_model(load):
    study = load(
        """name = 'x'
        [cross]
        models = ["openai(model='gpt-4o')", "transformers(path='Llama-3.1-8B-Instruct')"]
        [generation]
        max_tokens = 1000
        [generation.models."transformers(path='Llama-3.1-8B-Instruct')"]
        top_p = 0.9
        top_k = 50"""
    )
    assert study.generation == GENERATION | {"max_tokens": 1000}
    assert study.generation_of == {"transformers(path='Llama-3.1-8B-Instruct')": {"top_p": 0.9, "top_k": 50}}
    assert parse_study(tomllib.loads(format_study(study)), "frozen") == study


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smolm2.top_k = 5", "generation.models: 'smolm2' is none of cross.models. Did you mean 'smollm2'? Write it"),
        ("smollm2.topk = 5", "generation.models.smollm2.topk: unknown key 'topk'. Did you mean 'top_k'? Known keys:"),
        ("smollm2.top_k = -5", "generation.models.smollm2.top_k: found -5; input should be greater than or equal to 0"),
    ],
)
def test_a_wrong_decoding_of_one_model_is_named(load, text, message):
    with pytest.raises(StudyError, match=re.escape(message)):
        load(f"name = 'x'\n[generation.models]\n{text}")


def test_a_missing_file_is_answered_with_the_studies_that_ship():
    with pytest.raises(StudyError) as caught:
        load_study("dmeo")
    assert str(caught.value).startswith(
        "No study file dmeo. Did you mean 'demo'? Give the path of a TOML file, or a study"
    )
    assert all(name in str(caught.value) for name in shipped_studies())


@pytest.mark.parametrize("name", shipped_studies())
def test_the_studies_that_ship_load_by_name(name):
    assert load_study(name).models


# --- temperatures -----------------------------------------------------------------------------------


def test_a_range_gives_the_numbers_a_person_would_write(load):
    study = load("name = 'x'\n[cross]\ntemperatures = { from = 0.0, to = 2.0, step = 0.2 }")
    assert study.temperatures == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@pytest.mark.parametrize(
    ("start", "to", "step", "expected"),
    [
        (0, 0, 0.5, (0.0,)),
        (0, 1, 0.3, (0.0, 0.3, 0.6, 0.9)),
        (0.1, 0.7, 0.1, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
    ],
)
def test_a_range_ends_at_the_last_step_that_fits(load, start, to, step, expected):
    study = load(f"name = 'x'\n[cross]\ntemperatures = {{ from = {start}, to = {to}, step = {step} }}")
    assert study.temperatures == expected


def test_minus_zero_is_zero(load):
    [zero] = load("name = 'x'\n[cross]\ntemperatures = [-0.0]").temperatures
    assert repr(zero) == "0.0"


# --- overrides --------------------------------------------------------------------------------------


def test_overrides_are_toml_values_and_bare_words_are_texts(load):
    study = load(
        "name = 'x'",
        "seed=11",
        "name=other",
        "generation.top_p=0.5",
        "generation.logprobs=true",
        "cross.models=['scripted', 'smollm2']",
        "cross.temperatures={from=0, to=1, step=0.5}",
        "cross.repeats = 3",
    )
    assert (study.seed, study.name, study.repeats) == (11, "other", 3)
    assert study.generation == {**GENERATION, "top_p": 0.5, "logprobs": True}
    assert study.models == ("scripted", "smollm2")
    assert study.temperatures == (0.0, 0.5, 1.0)


def test_an_override_reaches_the_dataset_and_its_inner_tables(load):
    study = load("name = 'x'", "dataset.name=jsonl", "dataset.path=/data/q.jsonl", "dataset.balance.by=['type']")
    assert study.datasets == (DatasetChoice(name="jsonl", settings={"path": "/data/q.jsonl"}, balance_by=("type",)),)


def test_a_filter_takes_a_value_or_a_list_from_the_file_and_from_an_override(load):
    study = load(
        "name = 'x'\n[dataset]\nwhere = { type = 'bridge', level = ['easy', 'hard'] }", "dataset.where.n=[2, 3]"
    )
    assert study.datasets[0].where == {"type": ("bridge",), "level": ("easy", "hard"), "n": (2, 3)}
    assert study_schema()["$defs"]["DatasetTable"]["properties"]["where"]["additionalProperties"]["anyOf"]


def test_an_override_and_a_limit_reach_every_dataset(load):
    study = load("name = 'x'\n[[dataset]]\n[[dataset]]\nname = 'jsonl'", "dataset.part=facts", limit=3)
    assert [(choice.limit, choice.settings["part"]) for choice in study.datasets] == [(3, "facts"), (3, "facts")]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "--set seed: write KEY=VALUE, such as --set generation.max_tokens=48."),
        ("=3", "--set =3: write KEY=VALUE"),
        ("name.first=3", "--set name.first=3: 'name' is a value, not a table of the study."),
        ("generation.max_tokenz=4", "generation.max_tokenz: unknown key 'max_tokenz'. Did you mean 'max_tokens'?"),
        ("cross.repeats=two", "cross.repeats: found 'two'; input should be a valid integer"),
    ],
)
def test_a_wrong_override_is_named(load, override, message):
    with pytest.raises(StudyError) as caught:
        load("name = 'x'", override)
    assert message in str(caught.value)


def test_a_dataset_that_is_no_table_is_named_even_with_a_limit(load):
    with pytest.raises(StudyError, match="dataset: found 'nq'; write a table"):
        load("name = 'x'\ndataset = 'nq'", "dataset.path=a", limit=2)


# --- paths ------------------------------------------------------------------------------------------


def test_a_dataset_path_is_found_beside_the_study_and_kept_absolute(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "q.jsonl").write_text("")
    (tmp_path / "s.toml").write_text("name = 'x'\n[dataset]\nname = 'jsonl'\npath = 'q.jsonl'")
    assert load_study("../s.toml").datasets[0].settings["path"].endswith("q.jsonl")
    assert load_study(tmp_path / "s.toml").datasets[0].settings == {"path": str(tmp_path / "q.jsonl")}


def test_a_dataset_path_in_the_working_folder_goes_first(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place in (tmp_path, tmp_path / "here"):
        (place / "q.jsonl").write_text("")
    (tmp_path / "s.toml").write_text("name = 'x'\n[dataset]\nname = 'jsonl'\npath = 'q.jsonl'")
    assert load_study(tmp_path / "s.toml").datasets[0].settings == {"path": str(tmp_path / "here" / "q.jsonl")}


# --- frozen studies ---------------------------------------------------------------------------------

words = st.text(string.ascii_letters + " '\"\\äé漢=#\n\t", min_size=1, max_size=12)
lists = st.lists(words, min_size=1, max_size=3, unique=True).map(tuple)
choices = st.builds(
    DatasetChoice,
    name=words,
    settings=st.dictionaries(st.sampled_from(["kind", "part"]), words | st.integers(-9, 9) | st.booleans()),
    where=st.dictionaries(
        words,
        st.lists(words | st.integers(-9, 9) | st.booleans(), min_size=1, max_size=2).map(tuple),
        max_size=2,
    ),
    balance_by=st.lists(words, min_size=1, max_size=2).map(tuple),
    per_cell=st.none() | st.integers(1, 9),
    limit=st.none() | st.integers(1, 9),
)
studies = st.builds(
    Study,
    name=words.map(name_after),
    seed=st.integers(-(2**31), 2**31),
    datasets=st.lists(choices, min_size=1, max_size=2).map(tuple),
    models=lists,
    methods=lists,
    retrievers=lists,
    perturbations=lists,
    variations=lists,
    temperatures=st.lists(st.floats(0, 5).map(abs), min_size=1, max_size=3, unique=True).map(tuple),
    repeats=st.integers(1, 9),
    generation=st.just(GENERATION),
    metrics=lists,
    analyses=lists,
    main_metric=st.none() | words,
    margin=st.none() | st.floats(0.001, 9) | st.just("0.2 sd"),
    gate=st.builds(
        Gate,
        min_accuracy=st.none() | st.floats(0, 1),
        max_drop=st.none() | st.floats(0, 1),
        max_failures=st.none() | st.floats(0, 1),
        undecided=st.sampled_from([None, "pass", "fail"]),
    ),
)


@given(studies)
def test_a_frozen_study_reads_back_as_the_same_study(study):
    assert parse_study(tomllib.loads(format_study(study)), "frozen") == study


def test_a_run_folder_stands_for_its_frozen_study(tmp_path, load):
    study = load("name = 'x'")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "study.toml").write_text(format_study(dataclasses.replace(study, name="frozen")))
    assert load_study(tmp_path / "run").name == "frozen"


def test_the_systems_of_query_variation_differ_in_when_they_search_and_not_in_how_they_are_asked():
    """No retrieval, one retrieval and search by logits: the same worked examples; sampling as in Search-o1."""
    study = load_study("query_variation")
    *alike, generation_based = [catalog.build("method", text) for text in study.methods]
    assert [catalog.name_of(method) for method in alike] == ["closed_book", "single_retrieval", "flare", "dragin"]
    assert [method.n_examples for method in alike] == [6] * 4
    assert not generation_based.reason_in_documents
    assert (study.temperatures, study.generation["top_p"], study.generation["top_k"]) == ((0.7,), 0.8, 20)


def test_shipped_studies_judge_by_the_answer_chosen_and_the_published_one_on_facts_by_its_own_rule() -> None:
    judged = {
        name: judging_metric(numbers_of(load_study(name).metrics))
        for name in ("demo", "context_temperature", "joint", "query_variation", "factual_robustness")
    }
    assert judged.pop("factual_robustness") == "contains"
    assert set(judged.values()) == {"correct"}


def test_a_shake_comes_back_as_it_was_frozen():
    study = parse_study({"name": "x", "shake": {"screened": 5}, "limits": {"max_calls": 9}}, "mine.toml")
    assert study.shake is not None and study.shake.screened == 5
    assert parse_study(tomllib.loads(format_study(study)), "study.toml") == study


def test_half_a_character_on_the_command_line_is_refused_wherever_it_stands(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text("name = 'x'")
    for change, place in (
        ("name=a\udc00", ", name"),
        ("a\ud83d=1", ""),
        ("dataset.path=['\udc00']", ", dataset.path[0]"),
    ):
        with pytest.raises(StudyError, match=rf"{re.escape(str(file.name) + place)}: found .*half a character"):
            load_study(file, [change])


@pytest.mark.parametrize("table", ["[dataset]\npath = '{}'", "[cross]\nretrievers = [\"bm25(corpus='{}')\"]"])
@pytest.mark.parametrize(("path", "told"), [("~nobody-here/a", "somebody unknown"), ("9" * 300, "cannot be looked up")])
def test_a_path_that_cannot_be_looked_up_is_told_in_a_sentence(tmp_path, table, path, told):
    file = tmp_path / "study.toml"
    file.write_text("name = 'x'\n" + table.format(path))
    with pytest.raises(StudyError, match=told):
        load_study(file)


# --- what a study may be called -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "../../../../tmp/x/ESCAPED",
        "/tmp/x",
        "a/b",
        "a\\b",
        "..",
        ".",
        " ",
        "a\0b",
        "a\x1b[2J",
        "a\nb",
        "n" * 5000,
    ],
)
def test_a_name_that_is_no_folder_is_refused(name):
    with pytest.raises(StudyError, match=r"name: found .* the name is that of a folder too"):
        parse_study({"name": name}, "s.toml")
    fit = name_after(name)
    assert parse_study({"name": fit}, "s.toml").name == fit and len(fit) <= LONGEST


def test_a_run_of_a_version_that_took_any_name_is_read_and_written_nowhere_else(tmp_path):
    for name in ("study.toml", "study.1.toml", "other.toml"):
        (tmp_path / name).write_text("name = '../x'")
    with pytest.raises(StudyError, match="the name is that of a folder too"):
        load_study(tmp_path / "study.toml")
    (tmp_path / ".lock").touch()
    for own in (tmp_path, tmp_path / "study.toml", tmp_path / "study.1.toml"):
        assert load_study(own).name == "../x"
    for path, overrides in ((tmp_path / "other.toml", []), (tmp_path, ["name=../y"])):
        with pytest.raises(StudyError, match="the name is that of a folder too"):
            load_study(path, overrides)
    assert _default_folder(load_study(tmp_path), "s.toml", True).parent == Path("runs")


@pytest.mark.parametrize("name", ["first", "Über-Fragen 2", "a.b", ".hidden", "漢字", "n" * LONGEST])
def test_other_names_stay_as_they_are(name):
    assert parse_study({"name": name}, "s.toml").name == name == name_after(name)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"cross": {"repeats": True}}, "cross.repeats"),
        ({"cross": {"temperatures": [0.0, True]}}, "cross.temperatures"),
        ({"seed": False}, "seed"),
        ({"dataset": {"limit": True}}, "dataset.limit"),
        ({"generation": {"max_tokens": True}}, "generation.max_tokens"),
        ({"limits": {"max_cost": True}}, "limits.max_cost"),
    ],
)
def test_true_is_no_number(table, key):
    with pytest.raises(StudyError, match=f"{key}: found .*(True|False).*; give a value that is neither true nor false"):
        parse_study({"name": "x", **table}, "s.toml")


def test_true_is_taken_where_it_is_meant():
    assert parse_study({"name": "x", "generation": {"logprobs": True}}, "s.toml").generation["logprobs"] is True


@pytest.mark.parametrize("text", [f"{'a.' * 3000}a = 1", f"[{'a.' * 3000}a]", f"x = {'[' * 90}1{']' * 90}"])
def test_tables_in_tables_without_end_are_told(tmp_path, text):
    (tmp_path / "s.toml").write_text(f"name = 'x'\n{text}\n")
    with pytest.raises(StudyError, match="tables or lists stand in one another") as told:
        load_study(tmp_path / "s.toml")
    assert len(str(told.value)) < 500
