from dataclasses import replace

from made_records import record

from shaketable.metrics.given import Given
from shaketable.metrics.scoring import GIVEN_SCORES
from shaketable.types import Event, Note


def record_with(**scores):
    note = Event(step=Note(name=GIVEN_SCORES, values=scores), reply=None)
    return replace(record("Ann"), trace=(note,) if scores else ())


def test_the_number_that_came_with_an_answer_is_its_score():
    [[score]] = Given(number="includes").score([record_with(includes=1.0, match=0.5)], {})
    assert (score.metric, score.value, score.reason) == ("given@includes", 1.0, None)


def test_an_answer_without_it_has_none_and_says_so():
    [[score]] = Given(number="match").score([record_with()], {})
    assert (score.value, score.reason) == (None, "no match was given")


def test_a_failed_trial_has_none_whatever_was_given():
    failed = replace(record(None), trace=record_with(includes=1.0).trace)
    [[score]] = Given(number="includes").score([failed], {})
    assert score.value is None and score.reason.startswith("failed")
