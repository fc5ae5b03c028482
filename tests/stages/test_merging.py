"""Runs of parts of a study, joined, are the run of all of it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_studies import REPLIES, row, small_study, write_rows
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import RunError, StoreError, StudyError
from shaketable.factors import System
from shaketable.stages.analyze import analyze
from shaketable.stages.merge import merge
from shaketable.stages.plan import plan
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.store import RecordStore, Run
from shaketable.store.explanation_file import load_explanations, write_explanations
from shaketable.store.explanations import Explanation, GivenAnswer
from shaketable.store.lock import hold_lock
from shaketable.store.money import Lost, lost
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import checksum
from shaketable.store.underway import KeptReply
from shaketable.store.verify import verify
from shaketable.study import format_study, parse_study
from shaketable.types import Completion, Curve, Study, Verdict

TABLES = {
    "questions": "SELECT * FROM questions ORDER BY place",
    "variants": "SELECT * FROM variants ORDER BY id",
    "conditions": "SELECT * FROM conditions ORDER BY id",
    "environments": "SELECT * FROM environments ORDER BY id",
    "texts": "SELECT * FROM texts ORDER BY digest",
    "wordings": "SELECT * FROM wordings ORDER BY part, question_id, place",
}
RECORDS = """
SELECT id, key, variant, condition, temperature, repeat, seed, answer, failure, may_retry, n_searches, n_generations,
       n_prompt_tokens, n_tokens, environment, trace, dollars, reused FROM records ORDER BY id
"""
"""All but the seconds, and with them the checksum."""
OTHER = "scripted(replies=('Vienna',))"


@pytest.fixture(autouse=True)
def no_strength(monkeypatch):
    """How strong a rewording is takes a model to tell; each wording is measured alone."""
    monkeypatch.setattr("shaketable.stages.vary.with_strength", lambda batch: batch)


def study_of(
    folder: Path, *, shard: str | None = None, limit: int | None = None, seed: int = 3, **more: object
) -> Study:
    if not (folder / "questions.jsonl").exists():
        write_rows(folder / "questions.jsonl", [row(n, answers=[("Paris", "Rome")[n % 2]]) for n in range(7)])
    dataset = {"name": "jsonl", "path": str(folder / "questions.jsonl")}
    dataset |= {name: value for name, value in (("shard", shard), ("limit", limit)) if value is not None}
    cross = {
        "models": [REPLIES],
        "perturbations": ["unchanged", "sentence_removal"],
        "variations": ["original", "prefix_injection"],
        "temperatures": [0.0, 1.0],
        "repeats": 2,
    }
    tables: dict[str, object] = {"name": "small", "seed": seed, "dataset": dataset, "generation": {"max_tokens": 8}}
    tables |= {
        "score": {"metrics": ["contains", "token_f1"]},
        "analyze": {"analyses": ["correctness"], "n_resamples": 50},
    }
    return parse_study(tables | {"cross": {**cross, **more.pop("cross", {})}} | more, "test")  # type: ignore[dict-item]


def tables_of(run: Run) -> dict[str, list[tuple[object, ...]]]:
    with RecordStore(run.records_path, read_only=True) as store:
        assert verify(store).problems == ()
        return {name: store.rows(sql) for name, sql in {**TABLES, "records": RECORDS}.items()}


def asked(study: Study, folder: Path) -> Run:
    return ask(study, folder)


def test_parts_of_the_questions_are_the_questions(tmp_path):
    whole = [question.id for question in plan(study_of(tmp_path)).questions]
    parts = [[q.id for q in plan(study_of(tmp_path, shard=f"{n}/3")).questions] for n in (1, 2, 3)]
    assert sorted(id for part in parts for id in part) == sorted(whole)
    assert [len(part) for part in parts] == [3, 2, 2]


def test_joined_parts_are_the_whole_run_with_its_scores_and_findings(tmp_path):
    whole = asked(study_of(tmp_path), tmp_path / "whole")
    parts = [asked(study_of(tmp_path, shard=f"{n}/3"), tmp_path / f"part{n}") for n in (3, 1, 2)]
    joined = merge(parts, tmp_path / "joined").run
    assert tables_of(joined) == tables_of(whole)
    assert joined.study == whole.study
    assert (joined.folder / "study.toml").read_text() == (whole.folder / "study.toml").read_text()
    assert joined.summary().state == "finished_with_failures"
    for run in (whole, joined):
        score(run)
        analyze(run)
    assert joined.scores().equals(whole.scores())
    assert joined.baselines().equals(whole.baselines())
    contents = [json.loads((run.folder / "findings.json").read_text()) for run in (whole, joined)]
    for content in contents:
        content.pop("made_from")  # The seconds of the records are among it.
    assert contents[0] == contents[1]


def test_a_joined_run_asks_nothing_more(tmp_path, with_fake_parts):
    counting = {"cross": {"models": ["counting"]}}
    parts = [asked(study_of(tmp_path, shard=f"{n}/2", **counting), tmp_path / f"part{n}") for n in (1, 2)]
    joined = merge(parts, tmp_path / "joined").run
    with_fake_parts.forget()
    ask(joined.study, joined.folder)
    assert with_fake_parts.prompts == []
    assert joined.summary().missing == 0


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    of=st.integers(1, 3),
    temperatures=st.lists(st.sampled_from([[0.0], [1.0], [0.0, 1.0]]), min_size=1, max_size=2),
    models=st.sampled_from([[[REPLIES], [OTHER]], [[REPLIES, OTHER]]]),
    order=st.randoms(use_true_random=False),
)
def test_any_partition_joins_to_the_whole(tmp_path_factory, of, temperatures, models, order):
    folder = tmp_path_factory.mktemp("partition")
    temperatures = [*temperatures, [0.0, 1.0]]  # Together they are all of it.
    crosses = [
        {"shard": f"{n}/{of}", "cross": {"temperatures": own, "models": listed}}
        for n in range(1, of + 1)
        for own in temperatures
        for listed in models
    ]
    order.shuffle(crosses)
    parts = [asked(study_of(folder, **cross), folder / f"part{n}") for n, cross in enumerate(crosses)]
    whole = asked(study_of(folder, cross={"models": [REPLIES, OTHER]}), folder / "whole")
    joined = merge(parts, folder / "joined").run
    by_key = [sorted(row[1:2] + row[4:14] for row in tables_of(run)["records"]) for run in (joined, whole)]
    assert by_key[0] == by_key[1]
    assert joined.summary().missing == 0


# --- runs that hold the same trials -----------------------------------------------------------------


def altered(run: Run, *statements: str) -> None:
    """What another answer, or another failure, would have stored."""
    with RecordStore(run.records_path) as store:
        keys = store.keys()
        with store._connection as connection:
            for statement in statements:
                connection.execute(statement)
            for key in keys:
                [values] = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM records WHERE key = ?", (key,))
                connection.execute("UPDATE records SET checksum = ? WHERE key = ?", (checksum(values), key))


def test_what_two_runs_answer_alike_is_taken_once(tmp_path):
    parts = [asked(study_of(tmp_path, limit=limit), tmp_path / f"part{limit}") for limit in (4, 6)]
    merged = merge(parts, tmp_path / "joined")
    assert (merged.overlap.n_same, merged.overlap.n_differing) == (4 * 16, 0)
    assert tables_of(merged.run) == tables_of(asked(study_of(tmp_path, limit=6), tmp_path / "whole"))
    # What was asked twice was spent twice.
    assert merged.run.summary().lost.n_calls == parts[0].summary().n_generations


def test_differing_answers_are_refused_unless_the_first_are_preferred(tmp_path):
    parts = [asked(study_of(tmp_path, limit=limit), tmp_path / f"part{limit}") for limit in (2, 3)]
    altered(parts[1], "UPDATE records SET answer = 'Another' WHERE id = 1")
    with pytest.raises(
        RunError, match=r"part2 and .*part3 answer 1 trials otherwise, such as \w+\. Nothing was written"
    ):
        merge(parts, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
    merged = merge(parts, tmp_path / "joined", prefer_first=True)
    assert merged.overlap.n_differing == 1
    assert "Another" not in {record.answer.text for record in merged.run.store.records() if record.answer}
    other = merge(parts[::-1], tmp_path / "other", prefer_first=True)
    assert "Another" in {record.answer.text for record in other.run.store.records() if record.answer}


def test_a_failure_that_may_be_retried_gives_way_to_an_answer(tmp_path):
    parts = [asked(study_of(tmp_path, limit=limit), tmp_path / f"part{limit}") for limit in (3, 2)]
    failure = '{"kind":"timeout","may_retry":true,"message":"","step":"generate"}'
    altered(
        parts[0], f"UPDATE records SET answer = NULL, failure = '{failure}', may_retry = 1 WHERE answer IS NOT NULL"
    )
    joined = merge(parts, tmp_path / "joined").run
    whole = asked(study_of(tmp_path, limit=2), tmp_path / "whole")
    answers = {record.trial.key: record.answer for record in joined.store.records()}
    assert all(answers[record.trial.key] == record.answer for record in whole.store.records())
    assert joined.store.rows("SELECT COUNT(*) FROM records WHERE may_retry")[0][0] > 0


def explanation_of(key: str, question_id: str) -> Explanation:
    system = System(model=REPLIES, method="single_retrieval", retriever="gold")
    return Explanation(
        question_id=question_id, question="Who?", gold=("Paris",), system=system, name="system", wording="Who?",
        variation="original", perturbation=None, temperature=0.0, repeats=1, is_sampled=False, judged_by=None, key=key,
        made_from="", answer=GivenAnswer(text="Paris", is_right=True),
    )  # fmt: skip


def test_what_was_made_beside_the_records_is_carried(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/2"), tmp_path / f"part{n}") for n in (1, 2)]
    for n, part in enumerate(parts):
        [(key, question_id)] = part.store.rows(
            "SELECT r.key, v.question_id FROM records r JOIN variants v ON v.id = r.variant ORDER BY r.id LIMIT 1"
        )
        verdict = Verdict(text="yes", value=1.0, reason=None, n_prompt_tokens=1, n_tokens=1, seconds=0.1)
        with part.writing() as store:
            store.add_references("smollm2", [(question_id, f"Reference {n}.", "", ["odd"])])
            store.add_verdicts("judge", {f"prompt {n}": verdict})
            store.add_curves("settings", [Curve(key=key, reason="not known")])
            store.set_meta(seconds=10.0 + n, lost_calls=3, lost_dollars=0.25)
        write_explanations(part.folder, [explanation_of(key, question_id)])
    joined = merge(parts, tmp_path / "joined").run
    assert [text for (text,) in joined.store.rows("SELECT text FROM reference_answers ORDER BY 1")] == [
        "Reference 0.",
        "Reference 1.",
    ]
    assert sorted(joined.store.verdicts("judge")) == ["prompt 0", "prompt 1"]
    assert len(joined.curves()) == 2
    assert len(load_explanations(joined.folder)) == 2
    summary = joined.summary()
    assert (summary.seconds, summary.lost.n_calls, summary.lost.dollars) == (21.0, 6, 0.5)
    assert summary.created == min(part.summary().created or "" for part in parts)


def test_references_that_differ_are_refused(tmp_path):
    parts = [asked(study_of(tmp_path, limit=limit), tmp_path / f"part{limit}") for limit in (1, 2)]
    for n, part in enumerate(parts):
        question_id = plan(part.study).questions[0].id
        with part.writing() as store:
            store.add_references("smollm2", [(question_id, f"Reference {n}.", "", [])])
    with pytest.raises(RunError, match="1 reference answers differ"):
        merge(parts, tmp_path / "joined")
    joined = merge(parts, tmp_path / "joined", prefer_first=True).run
    assert joined.store.rows("SELECT text FROM reference_answers") == [("Reference 0.",)]


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 4}, "seed was 4, now 3"),
        ({"generation": {"max_tokens": 9}}, "generation.max_tokens was 9, now 8"),
        ({"score": {"metrics": ["contains"]}}, "metrics is"),
        ({"scan": {"strategy": "full", "known": ""}}, "scan was"),
    ],
)
def test_runs_that_no_study_could_have_asked_are_refused(tmp_path, changes, words):
    parts = [asked(study_of(tmp_path, limit=1, **own), tmp_path / f"part{n}") for n, own in enumerate(({}, changes))]
    with pytest.raises(RunError, match=words):
        merge(parts, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


def test_records_of_another_version_of_a_part_are_refused(tmp_path, monkeypatch):
    first = asked(study_of(tmp_path, shard="1/2"), tmp_path / "part1")
    with monkeypatch.context() as patch:
        patch.setattr("shaketable.perturbations.sentence_removal.SentenceRemoval.version", 99)
        second = asked(study_of(tmp_path, shard="2/2"), tmp_path / "part2")
    with pytest.raises(RunError, match="part2 holds 24 records that the joined study does not plan"):
        merge([first, second], tmp_path / "joined")


def test_questions_that_were_worded_otherwise_are_refused(tmp_path):
    parts = [asked(study_of(tmp_path, limit=limit), tmp_path / f"part{limit}") for limit in (1, 2)]
    with RecordStore(parts[1].records_path) as store, store._connection as connection:
        connection.execute("UPDATE wordings SET wording = 'Else?' WHERE part = 'prefix_injection'")
    with pytest.raises(RunError, match="1 questions are worded otherwise"):
        merge(parts, tmp_path / "joined")


def test_an_altered_record_is_not_carried_over(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/2", limit=2), tmp_path / f"part{n}") for n in (1, 2)]
    with RecordStore(parts[1].records_path) as store, store._connection as connection:
        connection.execute("UPDATE records SET answer = 'Better' WHERE id = 1")
    with pytest.raises(StoreError, match="1 records do not match their checksums"):
        merge(parts, tmp_path / "joined")


def test_a_run_that_is_being_written_is_refused(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/2", limit=2), tmp_path / f"part{n}") for n in (1, 2)]
    with hold_lock(parts[0].folder), pytest.raises(RunError, match="Another process is writing to"):
        merge(parts, tmp_path / "joined")
    with pytest.raises(RunError, match="Give two runs or more, each once"):
        merge([parts[0], parts[0]], tmp_path / "joined")
    with pytest.raises(RunError, match="part2 is not empty"):
        merge(parts, tmp_path / "part2")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"shake": {}}, "shake"),
        ({"scan": {"limit": 3}}, "scan.limit"),
        ({"cross": {"repeats": {"until": 0.2}}}, "stops by the mean over all its questions"),
    ],
)
def test_shards_of_what_is_asked_by_all_answers_are_refused(tmp_path, more, words):
    with pytest.raises(StudyError, match=words):
        plan(study_of(tmp_path, shard="1/2", **more))


@pytest.mark.parametrize("shard", ["0/3", "4/3", "2", "1/0", "x/2"])
def test_a_shard_that_there_is_not_is_refused(tmp_path, shard):
    with pytest.raises(StudyError, match=r"dataset\.shard"):
        study_of(tmp_path, shard=shard)


# --- scans, missing parts, interruptions, the command -----------------------------------------------


def test_repeats_that_ended_of_themselves_are_joined_with_what_was_saved(tmp_path):
    """Each temperature was asked alone: conditions stop on their own."""
    repeats = {"until": 0.2, "max": 30}
    runs = {
        name: asked(study_of(tmp_path, cross={"temperatures": own, "repeats": repeats}), tmp_path / name)
        for name, own in (("whole", [0.0, 1.0]), ("cool", [0.0]), ("hot", [1.0]))
    }
    joined = merge([runs["cool"], runs["hot"]], tmp_path / "joined").run
    assert {row[1] for row in tables_of(joined)["records"]} == {row[1] for row in tables_of(runs["whole"])["records"]}
    assert joined.summary().repeats == runs["whole"].summary().repeats
    assert joined.summary().missing == 0


def test_repeats_that_end_of_themselves_are_not_joined_with_a_few(tmp_path):
    runs = [
        asked(study_of(tmp_path, cross={"temperatures": [t], "repeats": repeats}), tmp_path / name)
        for name, t, repeats in (("until", 0.0, {"until": 0.2, "max": 30}), ("few", 1.0, 4))
    ]
    for first, other in (runs, runs[::-1]):
        with pytest.raises(RunError, match=r"repeats are .*as an interval of ±0.2 takes, 30 at most"):
            merge([first, other], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


def test_of_two_widths_the_joined_run_has_the_narrower_and_lacks_what_that_takes(tmp_path):
    cool, wide = (
        asked(study_of(tmp_path, cross={"temperatures": [t], "repeats": {"until": until}}), tmp_path / f"until{until}")
        for t, until in ((0.0, 0.2), (1.0, 0.4))
    )
    joined = merge([wide, cool], tmp_path / "joined").run
    assert joined.study.precision.until == 0.2
    assert joined.summary().missing > 0
    assert not joined.summary().repeats.is_over
    assert ask(joined.study, joined.folder).summary().repeats.is_over


def test_scans_of_parts_are_the_scan_of_the_whole(tmp_path):
    scan = {"scan": {"strategy": "curtailed_bisection", "known": "contains"}}
    cross = {"cross": {"temperatures": [0.0, 0.5, 1.0, 1.5], "repeats": 3}}
    parts = [asked(study_of(tmp_path, shard=f"{n}/2", **scan, **cross), tmp_path / f"part{n}") for n in (1, 2)]
    joined = merge(parts, tmp_path / "joined").run
    whole = asked(study_of(tmp_path, **scan, **cross), tmp_path / "whole")
    by_key = [sorted(row[1:2] + row[4:14] for row in tables_of(run)["records"]) for run in (joined, whole)]
    assert by_key[0] == by_key[1]
    assert joined.summary().missing == whole.summary().missing == 0


def test_a_run_of_an_older_format_is_joined_and_left_as_it_is(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/2"), tmp_path / f"part{n}") for n in (1, 2)]
    with sqlite3.connect(parts[0].records_path) as connection:
        connection.executescript(
            "DROP TABLE seals; DROP TABLE underway; PRAGMA user_version = 6; PRAGMA wal_checkpoint(TRUNCATE);"
        )
    parts[0].records_path.with_suffix(".seal").unlink()
    before = parts[0].records_path.read_bytes()
    joined = merge([Run(part.folder) for part in parts], tmp_path / "joined").run
    assert tables_of(joined) == tables_of(asked(study_of(tmp_path), tmp_path / "whole"))
    assert parts[0].records_path.read_bytes() == before
    assert not list(joined.folder.glob("older_*"))


def test_what_is_missing_is_asked_when_the_joined_run_goes_on(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/3"), tmp_path / f"part{n}") for n in (1, 3)]
    joined = merge(parts, tmp_path / "joined").run
    assert joined.summary().missing == 2 * 16
    ask(joined.study, joined.folder)
    whole = asked(study_of(tmp_path), tmp_path / "whole")
    assert {row[1] for row in tables_of(joined)["records"]} == {row[1] for row in tables_of(whole)["records"]}


def test_replies_to_trials_that_no_part_has_ended_are_carried(tmp_path):
    parts = [asked(study_of(tmp_path, shard=f"{n}/3"), tmp_path / f"part{n}") for n in (1, 3)]
    ended = next(iter(parts[1].store.records())).trial.key
    reply = Completion(
        text="Paris", tokens=("Paris",), n_prompt_tokens=9, n_tokens=1, seconds=0.5, finish_reason="stop"
    )
    for part, text, keys in zip(parts, ("first", "second"), (("a", ended), ("a", "b")), strict=True):
        with part.writing() as store:
            store.keep_replies(
                [KeptReply(key=key, place=0, prompt=text, reply=reply, n_calls=2, dollars=0.5) for key in keys]
            )
    joined = merge(parts, tmp_path / "joined").run
    assert verify(joined.store).problems == ()
    assert {key: kept.prompt for key, [kept] in joined.store.kept_replies().items()} == {"a": "first", "b": "second"}
    assert joined.store.spent_underway() == (4, 1.0)
    assert lost(joined.store) == Lost(n_calls=8, dollars=2.0), "What a part spent counts, whether it is of use or not."


def test_a_part_grows_into_the_whole(tmp_path):
    asked(study_of(tmp_path, shard="2/3"), tmp_path / "grown")
    grown = asked(study_of(tmp_path), tmp_path / "grown")
    whole = asked(study_of(tmp_path), tmp_path / "whole")
    assert {row[1] for row in tables_of(grown)["records"]} == {row[1] for row in tables_of(whole)["records"]}
    with pytest.raises(RunError, match="a part can become the whole, and no other part"):
        asked(study_of(tmp_path, shard="1/3"), tmp_path / "grown")


def test_a_merge_that_was_killed_is_done_by_the_next(tmp_path, monkeypatch):
    parts = [asked(study_of(tmp_path, shard=f"{n}/2"), tmp_path / f"part{n}") for n in (1, 2)]
    if (child := os.fork()) == 0:
        monkeypatch.setattr("shaketable.stages.merge.copy_made", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        merge(parts, tmp_path / "joined")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "joined").exists()
    assert (tmp_path / ".joined.joining").is_dir()
    joined = merge(parts, tmp_path / "joined").run
    assert tables_of(joined) == tables_of(asked(study_of(tmp_path), tmp_path / "whole"))
    assert not (tmp_path / ".joined.joining").exists()


def test_the_command_tells_what_it_joined(tmp_path):
    for n in (1, 2):
        asked(study_of(tmp_path, shard=f"{n}/2"), tmp_path / f"part{n}")
    words = ["merge", str(tmp_path / "part1"), str(tmp_path / "part2"), "--out", str(tmp_path / "joined"), "--json"]
    told = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
    assert (told["trials"], told["done"] + told["failed"], told["missing"], told["n_same"]) == (112, 112, 0, 0)
    assert CliRunner().invoke(app, words).exit_code == 1
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "joined")]).exit_code == 0


def test_a_frozen_shard_is_read_back(tmp_path):
    study = study_of(tmp_path, shard="2/8")
    assert 'shard = "2/8"' in format_study(study)
    assert small_study(tmp_path).datasets[0].shard is None
