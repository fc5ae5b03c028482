import sqlite3

import pytest
from made_studies import answered, small_study

from shaketable.errors import ShaketableError
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.store.sealing.rows import checksum
from shaketable.store.verify import verify
from shaketable.store.wordings import WordedQuestion
from shaketable.types import Answer, Curve, Record, Rewording, Variant, Verdict

KEY = "(SELECT key FROM records ORDER BY id LIMIT 1)"


@pytest.fixture
def path(tmp_path):
    answered(small_study(tmp_path), tmp_path / "r.sqlite")
    return tmp_path / "r.sqlite"


def verdict_after(path, *statements):
    with RecordStore(path) as store:
        with store._connection as connection:
            for statement in statements:
                connection.execute(statement)
        return verify(store)


def test_a_finished_run_is_sound(path):
    verdict = verdict_after(path)
    assert (verdict.problems, verdict.n_records, verdict.n_planned, verdict.missing) == ((), 12, 12, 0)


def test_a_record_that_is_gone_is_found_and_counted_as_missing(path):
    verdict = verdict_after(path, f"DELETE FROM records WHERE key = {KEY}")
    assert verdict.problems == ("records: 11 rows, and 12 were stored",)
    assert (verdict.n_records, verdict.missing) == (11, 1)


def test_that_all_records_are_gone_is_found(path):
    verdict = verdict_after(path, "DELETE FROM records")
    assert verdict.problems == ("records: 0 rows, and 12 were stored",)


def test_a_run_that_is_not_answered_yet_is_sound(tmp_path):
    planned = plan(small_study(tmp_path))
    some = [trial for trial, _ in planned.trials()][:5]
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.set_meta(n_trials=12)
        store.add_questions([(question, planned.items[question.id]) for question in planned.questions])
        condition = planned.conditions[0]
        store.append([(Record(trial=trial, answer=Answer(text="x")), condition) for trial in some], {})
        assert verify(store).problems == ()
        # A record that takes the place of another goes out of the seal.
        store.append([(Record(trial=some[0], answer=Answer(text="y")), condition)] * 2, {})
        verdict = verify(store)
    assert (verdict.problems, verdict.n_records, verdict.missing) == ((), 5, 7)


def test_nothing_and_a_word_for_it_have_other_checksums(path):
    for before, after in (("NULL", "'None'"), ("1", "'1'"), ("1", "1.0"), ("0.0", "-0.0")):
        first, second = (sqlite3.connect(":memory:").execute(f"SELECT {value}").fetchone() for value in (before, after))
        assert (checksum(first) == checksum(second)) == (first == second and str(first) == str(second))
    problems = verdict_after(
        path, f"UPDATE records SET failure = 'None' WHERE key = {KEY} AND failure IS NULL"
    ).problems
    assert any("its content does not match its checksum" in problem for problem in problems)


def test_of_many_altered_records_a_few_are_named_and_the_others_counted(path):
    verdict = verdict_after(path, "UPDATE records SET answer = 'Better'")
    altered = [problem for problem in verdict.problems if "checksum" in problem]
    assert len(altered) == 4
    assert altered[-1] == "9 more: its content does not match its checksum"
    assert verdict.n_problems == 12


def test_commits_that_are_lost_are_told(tmp_path, path):
    """A copy of the file without its log is whole, and older."""
    study = small_study(tmp_path, 3, temperatures=[0.0, 1.0, 2.0])
    before = path.read_bytes()
    with RecordStore(path) as store:
        answer(plan(study), store)
    after = path.with_suffix(".seal").read_bytes()
    for file in tmp_path.glob("r.sqlite*"):
        file.unlink()
    path.write_bytes(before)
    with RecordStore(path, read_only=True) as store:
        [problem] = verify(store).problems
    assert "has lost its last" in problem and "and 6 records with them" in problem
    with pytest.warns(UserWarning, match=r"and 6 records with them.*What is missing is asked again"):
        RecordStore(path).close()
    path.with_suffix(".seal").write_bytes(after[:20] + b"9" + after[21:])
    with RecordStore(path, read_only=True) as store:
        assert any("r.seal" in problem for problem in verify(store).problems)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ('UPDATE variants SET provenance = \'{"by":"x"}\' WHERE id = 1', "variants: rows do not match their seal"),
        ("UPDATE wordings SET rejected = 'no' WHERE place = 0", "wordings: rows do not match their seal"),
        ("DELETE FROM rewordings", "rewordings: 0 rows, and 3 were stored"),
        ("UPDATE reference_answers SET text = 'Other.'", "reference_answers: rows do not match their seal"),
        ("UPDATE verdicts SET body = replace(body, 'yes', 'no')", "verdicts: rows do not match their seal"),
        ("DELETE FROM curves", "curves: 0 rows, and 1 were stored"),
        ("UPDATE meta SET value = '7' WHERE name = 'lost_calls'", "meta: rows do not match their seal"),
        ("UPDATE seals SET n = 11 WHERE name = 'records'", "records: 12 rows, and 11 were stored"),
        ("UPDATE seals SET name = 'record' WHERE name = 'records'", "records: 12 rows, and 0 were stored"),
        ("DROP TABLE seals", "seals: the table is missing"),
        ("PRAGMA user_version = 6", "the number of the format was altered"),
        ("UPDATE variants SET provenance = '{' WHERE id = 1", "cannot be read"),
        ("UPDATE records SET trace = '[' WHERE id = 1", "cannot be read"),
        ("UPDATE records SET trace = CAST(x'ff' AS TEXT) WHERE id = 1", "its content does not match its checksum"),
    ],
)
def test_everything_that_is_stored_is_sealed(path, statement, problem):
    with RecordStore(path) as store:
        [(key,)] = store.rows(f"SELECT {KEY}")
        rewording = Rewording(variants=(Variant(question_id="q0", text="Which?", variation="original"),))
        worded = [
            WordedQuestion(question_id=f"q{n}", part="original", made_by="o", original="Who?", rewording=rewording)
            for n in range(3)
        ]
        store.add_worded(worded)
        store.add_references("template", [("q0", "It is so.", "", [])])
        verdict = Verdict(text="yes", value=1.0, reason=None, n_prompt_tokens=1, n_tokens=1, seconds=0.5)
        store.add_verdicts("judge", {"prompt": verdict})
        store.add_curves("settings", [Curve(key=key, reason="not known")])
        store.set_meta(lost_calls=3)
        # Written again, the older goes out of the seal.
        store.add_worded(worded)
        store.add_verdicts("judge", {"prompt": verdict})
        store.set_meta(lost_calls=4)
        assert verify(store).problems == ()
    problems = verdict_after(path, statement).problems
    assert any(problem in found for found in problems), problems


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (f"UPDATE records SET answer = 'Better' WHERE key = {KEY}", "its content does not match its checksum"),
        (f"UPDATE records SET answer = answer || ' ' WHERE key = {KEY}", "its content does not match its checksum"),
        (f"UPDATE records SET temperature = 0.7 WHERE key = {KEY}", "its key does not belong to its trial"),
        (f"UPDATE records SET repeat = 9 WHERE key = {KEY}", "its key does not belong to its trial"),
        (f"UPDATE records SET failure = NULL, answer = 'x', may_retry = 1 WHERE key = {KEY}", "checksum"),
        (f"UPDATE records SET n_tokens = n_tokens + 1 WHERE key = {KEY}", "checksum"),
        (f"UPDATE records SET trace = replace(trace, 'Paris', 'Rome') WHERE key = {KEY}", "checksum"),
        (f"UPDATE records SET key = 'feed' WHERE key = {KEY}", "record feed: its key does not belong to its trial"),
        ("UPDATE variants SET wording = 'What else?' WHERE id = 1", "its key does not belong to its trial"),
        ("UPDATE conditions SET identity = 'other'", "its key does not belong to its trial"),
        ("DELETE FROM conditions", "its condition, question or environment is missing"),
        ("DELETE FROM environments", "its condition, question or environment is missing"),
        ("DELETE FROM questions WHERE place = 0", "its condition, question or environment is missing"),
        ("UPDATE questions SET answers = '[\"Easy\"]'", "questions: their texts, accepted answers or evidence were"),
        ("UPDATE questions SET body = replace(body, 'Author', 'Writer')", "questions: their texts, accepted answers"),
        ("UPDATE conditions SET model = 'gpt-9'", "conditions: their labels, settings or versions were altered"),
        ("UPDATE conditions SET parts = '[]'", "conditions: their labels, settings or versions were altered"),
        ("UPDATE environments SET body = '{}'", "environments: what is said of engines and machines was altered"),
        ("UPDATE texts SET body = body || ' ' WHERE digest = (SELECT MIN(digest) FROM texts)", "was altered"),
        ("DELETE FROM texts WHERE digest = (SELECT MIN(digest) FROM texts)", "is missing"),
    ],
)
def test_what_was_altered_is_named(path, statement, problem):
    problems = verdict_after(path, statement).problems
    assert any(problem in found for found in problems), problems


def test_the_altered_record_alone_is_named(path):
    with RecordStore(path) as store:
        [(key,)] = store.rows(f"SELECT {KEY}")
    assert verdict_after(path, f"UPDATE records SET seed = 1 WHERE key = {KEY}").problems == (
        f"record {key}: its content does not match its checksum",
    )


def test_more_records_than_were_planned_are_named(path):
    problems = verdict_after(path, "UPDATE meta SET value = '11' WHERE name = 'n_trials'").problems
    assert "12 records for 11 planned trials" in problems


def test_a_damaged_page_is_named(path):
    content = bytearray(path.read_bytes())
    content[-4000:] = b"\xff" * 4000
    path.write_bytes(content)
    with RecordStore(path, read_only=True) as store:
        try:
            problems = verify(store).problems
        except ShaketableError as error:
            problems = (str(error),)
    assert problems
