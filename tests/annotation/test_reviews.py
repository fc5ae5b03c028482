"""How many wordings people accept, and how far two of them agree."""

from __future__ import annotations

from shaketable.annotation.reviews import measure_agreement


def rows(both: int, first: int, second: int, neither: int, per_question: int = 1) -> list[dict]:
    """Verdicts of Ada and Bo: wordings that both accept, Ada alone, Bo alone, neither."""
    verdicts = [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither
    return [
        {
            "id": f"w{i}", "question_id": f"q{i // per_question}", "question": "Who?", "wording": f"Yo {i}?",
            "variation": "formality" if i % 2 else "spelling", "annotator": name, "accepted": accepted,
        }
        for i, pair in enumerate(verdicts)
        for name, accepted in zip(("Ada", "Bo"), pair, strict=True)
    ]  # fmt: skip


def test_the_published_check_has_an_interval():
    # 96 and 98 of 100 accepted: some resamples draw no rejection at all, and kappa is undefined there.
    (found,) = measure_agreement(rows(95, 1, 3, 1)).agreements
    assert found.share.value == 0.96
    assert found.kappa.low is not None
    shares = {(one.reviewer, one.variation): one.share for one in measure_agreement(rows(95, 1, 3, 1)).accepted}
    assert (shares["Ada", None].value, shares["Bo", None].value) == (0.96, 0.98)
    assert shares["Ada", "formality"].n == shares["Ada", "spelling"].n == 50


def test_a_second_verdict_by_the_same_person_is_told_and_left_out():
    given_ = rows(3, 1, 1, 0)
    again = {**given_[0], "annotator": "ADA", "accepted": False}
    found = measure_agreement([*given_, again])
    assert found.left_out == ("A second verdict by ADA on 'Yo 0?'.",)
    assert found.agreements == measure_agreement(given_).agreements


def test_order_changes_nothing():
    given_ = rows(6, 2, 3, 4)
    turned = measure_agreement([row for i in reversed(range(15)) for row in given_[2 * i : 2 * i + 2]])
    assert turned == measure_agreement(given_)


def test_without_verdicts_there_is_nothing_to_tell():
    found = measure_agreement([])
    assert (found.accepted, found.agreements) == ((), ())
