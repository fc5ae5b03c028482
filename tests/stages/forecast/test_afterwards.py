import pytest

from shaketable.stages.forecast import afterwards
from shaketable.stages.forecast.afterwards import Afterwards, expected, merged, seconds_afterwards
from shaketable.stages.measured import known_afterwards
from shaketable.study import load_study


@pytest.mark.parametrize(
    ("taken", "n", "seconds"),
    [
        ([], 1000, 0.0),  # It did not run here.
        ([(100, 4.0)], 150, 4.0),  # Loading may be most of it.
        ([(100, 4.0)], 1000, 20.0),  # Five times what a run of twice its size takes.
        ([(100, 4.0), (1100, 9.0)], 2100, 14.0),  # 3.5 seconds, and 5 ms for each answer.
        ([(100, 4.0), (1100, 9.0)], 100, 4.0),
        ([(100, 4.0), (1100, 3.0)], 5000, 4.0),  # A larger run that took less: noise, not a negative time.
    ],
)
def test_a_step_takes_what_it_took_by_the_number_of_answers(taken, n, seconds):
    assert expected(taken, n) == pytest.approx(seconds)


def test_two_runs_are_remembered_whose_sizes_differ():
    assert merged([], 100, 2.0) == [(100, 2.0)]
    assert merged([(100, 2.0)], 150, 3.0) == [(150, 3.0)]
    assert merged([(100, 2.0)], 1000, 6.0) == [(100, 2.0), (1000, 6.0)]
    assert merged([(100, 2.0), (1000, 6.0)], 90, 1.0) == [(90, 1.0), (1000, 6.0)]


def test_steps_are_told_with_their_time_once_it_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path))
    now = iter([0.0, 12.0, 12.0, 13.0, 20.0, 20.0])
    monkeypatch.setattr(afterwards, "perf_counter", lambda: next(now))
    words = []
    first = Afterwards(720, words.append)
    first.begin("scoring bertscore")
    first.begin("scoring rouge")
    first.remember()
    assert words == ["scoring bertscore", "scoring rouge"]
    assert known_afterwards() == {"scoring bertscore": [(720, 12.0)], "scoring rouge": [(720, 1.0)]}
    again = Afterwards(720, words.append)
    again.begin("scoring bertscore")
    assert words[-1] == "scoring bertscore, about 10 s"


def test_the_time_after_answering_is_that_of_the_studys_own_steps(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path))
    demo = load_study("demo")
    assert seconds_afterwards(demo, 720) == 0.0
    afterwards.remember_afterwards(
        {"scoring bertscore": [(720, 12.0)], "writing the report": [(720, 8.0)], "scoring other": [(720, 99.0)]}
    )
    assert seconds_afterwards(demo, 720) == pytest.approx(20.0)
