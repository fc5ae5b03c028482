"""What a page says of its run as a whole: what it took."""

from shaketable.report.about import list_costs
from shaketable.store.summary import RunSummary
from shaketable.store.wordings import WordingEffort
from shaketable.types import Making


def told(*efforts):
    return dict(list_costs(RunSummary(run="r", study="s", state="finished", rewordings=efforts), seed=7))


def test_what_a_rewording_model_took_stands_beside_what_answering_took():
    making = Making(n_attempts=40, n_calls=40, n_failures=3, n_prompt_tokens=4000, n_tokens=900, seconds=62.0)
    said = told(WordingEffort(part="formality(by='m')", n_questions=30, making=making))
    assert said["Rewording by formality(by='m')"] == (
        "40 calls for 30 questions, 3 of them failed; 4,000 tokens read, 900 written; 1 min 2 s"
    )


def test_without_a_rewording_model_nothing_is_said_of_one():
    assert not [name for name in told() if name.startswith("Rewording")]
