import pytest
from made_studies import answered, small_study

from shaketable.errors import ShaketableError
from shaketable.store import RecordStore
from shaketable.store.verify import verify

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


def test_a_lost_record_is_counted_as_missing(path):
    verdict = verdict_after(path, f"DELETE FROM records WHERE key = {KEY}")
    assert (verdict.problems, verdict.n_records, verdict.missing) == ((), 11, 1)


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
    assert problems == ("12 records for 11 planned trials",)


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
