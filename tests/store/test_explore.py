from dataclasses import replace

import made_run
import polars as pl
import pytest
from disagreeing import disagreeing_run
from hypothesis import given
from hypothesis import strategies as st
from made_studies import row, study_of, write_rows

from shaketable.errors import RunError, StudyError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import RecordStore, Run, explore, record_index
from shaketable.store.explore import Explorer
from shaketable.store.explored import Neighbours
from shaketable.store.selection import Selection


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_run.made_run(tmp_path_factory.mktemp("explored") / "run")


@pytest.fixture(scope="module")
def explorer(run):
    explorer = Explorer(run)
    yield explorer
    explorer.close()


@pytest.fixture(scope="module")
def table(run):
    """The same records and scores, read the long way."""
    scores = run.scores().pivot("metric", index="key", values="value")
    return run.records().join(scores, on="key")


VALUES = {
    "model": made_run.MODELS,
    "perturbation": made_run.PERTURBATIONS,
    "type": ("bridge", "comparison"),
    "temperature": ("0", "0.6", "1.2"),
    "repeat": ("0", "1"),
}


@given(
    factors=st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()}),
    outcome=st.sampled_from((None, "answered", "failed")),
    n_few=st.sampled_from((0, 10_000)),
    sort=st.sampled_from((None, "length", "n_tokens", "temperature")),
)
def test_filters_find_what_reading_every_record_finds(explorer, table, factors, outcome, n_few, sort):
    wanted = table
    for name, value in factors.items():
        is_number = name in ("temperature", "repeat")
        wanted = wanted.filter(pl.col(name) == float(value)) if is_number else wanted.filter(pl.col(name) == value)
    if outcome is not None:
        wanted = wanted.filter(pl.col("failure").is_null() == (outcome == "answered"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explore, "N_FEW", n_few)  # both ways to the rows
        found = explorer.find(Selection(factors=factors, outcome=outcome, sort=sort, limit=10_000))
    assert found.n == wanted.height
    assert {row.key for row in found.rows} == set(wanted["key"])


@pytest.mark.parametrize("n_few", [0, 10_000])
@pytest.mark.parametrize("is_descending", [False, True])
def test_sorting_by_a_score_puts_what_has_none_last(explorer, table, monkeypatch, n_few, is_descending):
    monkeypatch.setattr(explore, "N_FEW", n_few)
    found = explorer.find(Selection(sort="length", is_descending=is_descending, limit=10_000))
    values = [row.scores["length"] for row in found.rows]
    assert values == table["length"].sort(descending=is_descending, nulls_last=True).to_list()
    assert values[-1] is None


def test_pages_follow_one_another_without_gap_or_overlap(explorer):
    whole = [row.key for row in explorer.find(Selection(sort="contains", limit=10_000)).rows]
    pages = [explorer.find(Selection(sort="contains", offset=at, limit=50)).rows for at in range(0, len(whole), 50)]
    assert [row.key for page in pages for row in page] == whole


def test_words_are_found_in_questions_and_answers_and_stand_for_themselves(explorer, table):
    said = table.filter(pl.col("answer").str.slice(0, record_index.N_SHOWN).str.contains("Nobody knows"))
    assert explorer.find(Selection(words="nobody KNOWS")).n == said.height > 0
    assert explorer.find(Selection(words="book 3?")).n == made_run.N_RECORDS // made_run.N_QUESTIONS
    assert explorer.find(Selection(words="%")).n == explorer.find(Selection(words="book_3")).n == 0


def test_quotes_in_a_filter_are_values_and_no_statements(explorer):
    assert explorer.find(Selection(factors={"model": "'; DROP TABLE looked; --"})).n == 0
    assert explorer.find(Selection()).n == made_run.N_RECORDS


def test_unknown_names_are_told_apart(explorer):
    with pytest.raises(StudyError, match=r"no factor 'modell'. Did you mean 'model'"):
        explorer.find(Selection(factors={"modell": "x"}))
    with pytest.raises(StudyError, match=r"Nothing is called 'contain' here. Did you mean 'contains'"):
        explorer.find(Selection(sort="contain"))
    with pytest.raises(StudyError, match="Outcomes: answered, failed"):
        explorer.find(Selection(outcome="lost"))


# --- outcomes, repeats, flags ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def disagreeing(tmp_path_factory):
    explorer = Explorer(disagreeing_run(tmp_path_factory.mktemp("disagreeing") / "run"))
    yield explorer
    explorer.close()


def questions_found(explorer, **asked):
    found = explorer.find(Selection(judged_by="contains", **asked))
    assert found.n == len(found.rows)
    return [(row.question_id, row.repeat) for row in found.rows]


def test_records_are_found_by_what_came_of_them(disagreeing):
    both = (0, 1)
    assert questions_found(disagreeing, outcome="right") == [
        *(("q0", repeat) for repeat in both), ("q1", 0), *(("q5", repeat) for repeat in both),
    ]  # fmt: skip
    wrong = [("q1", 1), *((f"q{n}", repeat) for n in (2, 3) for repeat in both)]
    assert questions_found(disagreeing, outcome="wrong") == wrong
    assert questions_found(disagreeing, outcome="empty") == [("q3", 0), ("q3", 1)]
    assert questions_found(disagreeing, outcome="failed") == [("q4", 0), ("q4", 1)]


def test_repeats_that_disagree_are_found_by_their_words_or_by_being_right(disagreeing):
    assert questions_found(disagreeing, repeats="differ") == [("q1", 0), ("q1", 1), ("q2", 0), ("q2", 1)]
    assert questions_found(disagreeing, repeats="flip") == [("q1", 0), ("q1", 1)]
    with pytest.raises(StudyError, match="expected differ or flip"):
        disagreeing.find(Selection(repeats="twist", judged_by="contains"))
    with pytest.raises(StudyError, match="Outcomes: answered, failed, empty"):
        disagreeing.find(Selection(outcome="right"))


def test_repeats_are_compared_anew_when_more_of_them_come(tmp_path, monkeypatch):
    monkeypatch.setattr(record_index, "LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(record_index, "REST", 0)
    run = made_run.made_run(tmp_path / "run", n_answered=1, with_scores=False)
    explorer = Explorer(run)
    assert explorer.find(Selection(repeats="differ")).n == 0
    later = list(made_run.records_of(made_run.question(1)))
    odd, condition = later[0]
    later[0] = replace(odd, answer=replace(odd.answer, text="Something else")), condition
    with run.writing() as store:
        store.append(later, {})
    assert {row.key for row in explorer.find(Selection(repeats="differ")).rows} == {
        odd.trial.key, later[1][0].trial.key,
    }  # fmt: skip
    explorer.close()


def test_records_are_found_by_the_flags_of_their_evidence(tmp_path, monkeypatch):
    # Half of one supporting sentence, rounded down, is none: nothing is removed.
    study = study_of(
        write_rows(tmp_path / "q.jsonl", [row(n, facts=[[f"Book {n}", 0]]) for n in range(2)]),
        models=["scripted(replies=('a book',))"],
        methods=["single_retrieval"],
        perturbations=["unchanged", "sentence_removal(mode='last_half')"],
        temperatures=[0.0],
        repeats=1,
    )
    run = Run.prepare(tmp_path / "run", study)
    with run.writing() as store:
        answer(plan(study), store)
    explorer = Explorer(run)
    monkeypatch.setattr(explore, "N_MARKED_AT_ONCE", 3)
    assert explorer.flags() is None  # a large run is not read through unasked
    flagged = explorer.find(Selection(flag="too_few_sentences"))
    assert flagged.n == 2 and {one.perturbation for one in flagged.rows} == {"sentence_removal(mode='last_half')"}
    assert explorer.find(Selection(flag="any")).rows == flagged.rows
    assert explorer.find(Selection(flag="unheard_of")).n == 0
    assert explorer.flags() == {"nothing_changed": 2, "too_few_sentences": 2}
    explorer.close()


def test_a_look_that_takes_too_long_is_given_up(explorer):
    counting = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9000000)"
    with explorer._index.reading() as (connection, _):
        told = pytest.raises(RunError, match="took longer than 0 s, and was given up")
        with told, record_index.patience(connection, 0):
            connection.execute(f"{counting} SELECT MAX(n) FROM c").fetchall()


# --- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_few", [0, 10_000])
@pytest.mark.parametrize("sort", ["question", "answer", "model", "retriever", "variation", "dataset", "type", "repeat"])
def test_every_column_sorts_both_ways(explorer, monkeypatch, sort, n_few):
    monkeypatch.setattr(explore, "N_FEW", n_few)
    rows = explorer.find(Selection(sort=sort, limit=10_000)).rows
    values = [getattr(row, "wording" if sort == "question" else sort) for row in rows]
    known = [value.lower() if sort in ("question", "answer") else value for value in values if value is not None]
    assert known == sorted(known) and values[len(known) :] == [None] * (len(values) - len(known))
    turned = explorer.find(Selection(sort=sort, is_descending=True, limit=10_000)).rows
    assert [row.key for row in turned if not row.failed] == [row.key for row in rows[::-1] if not row.failed]


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(sort="length", is_descending=True),
        Selection(factors={"perturbation": "unchanged"}, sort="answer"),
        Selection(words="nobody", outcome="wrong", judged_by="contains"),
    ],
)
def test_neighbours_are_those_of_the_list(explorer, selection):
    keys = [row.key for row in explorer.find(replace(selection, limit=10_000)).rows]
    for place in (0, 1, len(keys) // 2, len(keys) - 1):
        for told in (place, 0, 7_000):  # the place that an address tells may be out of date
            found = explorer.neighbours(replace(selection, offset=told), keys[place])
            before, after = keys[place - 1] if place else None, (*keys, None)[place + 1]
            assert found == Neighbours(n=len(keys), place=place, before=before, after=after)
    assert explorer.neighbours(selection, "no such key") is None


def test_a_record_outside_the_list_has_no_neighbours_in_it(explorer):
    failed = explorer.find(Selection(outcome="failed", limit=1)).rows[0].key
    assert explorer.neighbours(Selection(outcome="answered"), failed) is None


def test_a_question_has_a_cell_for_each_condition_and_temperature(explorer):
    cells = explorer.cells("q/0?&", "contains")
    assert len(cells) == len(made_run.MODELS) * len(made_run.PERTURBATIONS) * len(made_run.TEMPERATURES)
    at = {(cell.model, cell.perturbation, cell.temperature): cell for cell in cells}
    # By the rule of `made_run.record`: right below temperature 1, wrong above.
    assert at["plain", "unchanged", 0.6].value == 1
    assert at["plain", "unchanged", 1.2].value == 0
    assert {cell.n for cell in cells} == {made_run.N_REPEATS}


def test_the_worst_questions_come_first(explorer):
    rows = explorer.questions("contains").rows
    assert [row.value for row in rows] == sorted(row.value for row in rows)
    assert {row.question_id[2] for row in rows[:3]} == {"1", "3", "5"}


def test_only_factors_that_differ_are_offered(explorer):
    assert explorer.facets().keys() == VALUES.keys()


def test_records_are_found_by_the_tags_of_their_questions(tmp_path, monkeypatch):
    untagged = made_run.question

    def question(n):
        own = {"continent": ("Europe", 'Asia\'s "east"')[n % 2], "name": f"no {n}", "level": n // 4}
        return replace(untagged(n), tags={**untagged(n).tags, **own, **({"hard": True} if n < 3 else {})})

    monkeypatch.setattr(made_run, "question", question)
    monkeypatch.setattr(explore, "MOST_TAGGED", made_run.N_QUESTIONS - 1)
    explorer = Explorer(made_run.made_run(tmp_path / "run"))
    own = made_run.N_RECORDS // made_run.N_QUESTIONS
    assert explorer.tags() == {
        "continent": ('Asia\'s "east"', "Europe"),
        "hard": ("true", "(none)"),
        "level": ("0", "1"),
    }

    def n_found(**tags):
        return explorer.find(Selection(tags=tags)).n

    assert n_found(continent="Europe") == n_found(continent='Asia\'s "east"') == 4 * own
    assert n_found(hard="true") == 3 * own and n_found(hard="(none)") == 5 * own
    assert n_found(level="1", continent="Europe") == 2 * own and n_found(level="7") == n_found(nothing="x") == 0
    explorer.close()


def test_records_that_come_later_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(record_index, "LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(record_index, "REST", 0)
    run = made_run.made_run(tmp_path / "run", n_trials=made_run.N_RECORDS + 9, with_scores=False)
    explorer = Explorer(run)
    assert explorer.find(Selection()).n == made_run.N_RECORDS
    extra = made_run.question(0)
    records = [(replace(one, trial=replace(one.trial, key=f"{one.trial.key[:-1]}!")), condition)
               for one, condition in made_run.records_of(extra)]  # fmt: skip
    with run.writing() as store:
        store.append(records[:5], {"engine": "later"})
    assert explorer.find(Selection()).n == made_run.N_RECORDS + 5
    with run.writing() as store:  # a trial that is done again takes the place of the old record
        store.append(records[:1], {"engine": "later"})
    assert explorer.find(Selection()).n == made_run.N_RECORDS + 5
    run.write_scores([score for one, _ in records for score in made_run.scores_of(one)])
    assert explorer.metrics == ("contains", "length")
    explorer.close()


def test_looking_writes_nothing_into_the_folder(tmp_path):
    run = made_run.made_run(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    explorer = Explorer(Run(run.folder))
    explorer.find(Selection(sort="contains"))
    explorer.close()
    after = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    # SQLite keeps two small files beside a database that is being read.
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() <= {"records.sqlite-shm", "records.sqlite-wal"}


def test_a_folder_without_write_access_is_read_as_it_is(tmp_path, monkeypatch):
    run = made_run.made_run(tmp_path / "run", with_scores=False)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with RecordStore(run.records_path, read_only=True) as store:
        assert len(store.keys()) == made_run.N_RECORDS
    assert not (run.folder / "records.sqlite-wal").exists()


def test_a_record_has_all_its_repeats_and_its_untouched_case(explorer, table):
    key = table.filter(perturbation="sentence_removal", temperature=0.6, repeat=0)["key"][0]
    record = explorer.record(key)
    repeats = explorer.repeats(record)
    assert [(one.temperature, one.repeat) for one in repeats] == [
        (temperature, repeat) for temperature in made_run.TEMPERATURES for repeat in range(made_run.N_REPEATS)
    ]
    untouched = explorer.untouched(record)
    assert untouched.trial.perturbation == "unchanged"
    assert untouched.trial.question_id == record.trial.question_id
    assert explorer.record("nothing") is None


def test_a_failure_is_told_with_its_kind(explorer, table):
    key = table.filter(pl.col("failure").is_not_null())["key"][0]
    [hot] = [one for one in explorer.repeats(explorer.record(key)) if one.key == key]
    assert hot.failure.kind == "timeout"
    assert hot.scores == {"contains": None, "length": None}
