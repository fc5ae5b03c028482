"""Another model says which answers are correct; only what it says in so many words counts."""

from __future__ import annotations

import pytest
from made_records import QUESTION, record

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.metrics.judge import CUT_OFF, NO_VERDICT, Judge
from shaketable.models.scripted import Scripted
from shaketable.types import Question

OWN = "{question}|{gold}|{answer}|{other}"


def judge(*replies, **settings):
    return Judge(model=catalog.label(Scripted(replies=replies)), **settings)


def judged(metric, *texts, question=QUESTION):
    records = [record(text, question, key=str(i)) for i, text in enumerate(texts)]
    return [(one.value, one.reason) for (one,) in metric.score(records, {question.id: question})]


@pytest.fixture
def heard(monkeypatch):
    """Every prompt that the judge is asked."""
    prompts, generate = [], Scripted.generate
    monkeypatch.setattr(Scripted, "generate", lambda self, asked: prompts.extend(asked) or generate(self, asked))
    return prompts


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("VERDICT: correct", (1.0, None)),
        ("It names her.\nVERDICT: incorrect", (0.0, None)),
        ("VERDICT: correct\nNo, wait.\n\nVERDICT: incorrect  \n\n", (0.0, None)),
        # Whatever is not the line itself is no verdict: neither right nor wrong.
        ("VERDICT: correct, I think", (None, NO_VERDICT)),
        ("I say VERDICT: correct", (None, NO_VERDICT)),
        ("VERDICT: correct\nHope this helps!", (None, NO_VERDICT)),
        ("**VERDICT: correct**", (None, NO_VERDICT)),
        ("verdict: correct", (None, NO_VERDICT)),
        ("VERDICT: correct or incorrect", (None, NO_VERDICT)),
        ("correct", (None, NO_VERDICT)),
        ("", (None, NO_VERDICT)),
        ("ERROR", (None, "the judge failed: scripted")),
    ],
)
def test_a_verdict_is_the_last_line_and_nothing_else(reply, expected):
    assert judged(judge(reply), "Ann Lee did it.") == [expected]


def test_a_reply_that_was_cut_off_says_so():
    assert judged(judge("one two three VERDICT: correct", max_tokens=3), "Ann Lee") == [(None, CUT_OFF)]


def test_what_cannot_be_judged_is_not_asked(heard):
    metric = judge("VERDICT: correct")
    assert judged(metric, None, "", "  ") == [(None, "failed: timeout"), (0.0, None), (0.0, None)]
    nobody = Question(id="n", text="Who?", answers=())
    assert judged(metric, "Ann", question=nobody) == [(None, "no accepted answer")]
    assert heard == []


def test_the_judge_sees_question_golds_and_answer_at_temperature_0(heard):
    question = Question(id="q", text="Who did it?", answers=("Ann Lee", "A. Lee"))
    judged(judge("VERDICT: correct"), "It was Ann.", question=question)
    [prompt] = heard
    content = prompt.messages[0].content
    assert "Question: Who did it?\n" in content
    assert "right: Ann Lee; A. Lee\n" in content
    assert "Answer to grade: It was Ann.\n" in content
    assert content.endswith("VERDICT: correct\nor\nVERDICT: incorrect")
    assert (prompt.sampling.temperature, prompt.sampling.max_tokens) == (0.0, 512)


def test_the_same_answer_is_judged_once(heard):
    metric = judge("VERDICT: correct")
    assert judged(metric, "Ann", "Bo", "Ann", " Ann ") == [(1.0, None)] * 4
    assert len(heard) == 2
    judged(metric, "Bo", "Cy")
    assert len(heard) == 3


def test_a_call_that_failed_is_asked_again(heard):
    metric = judge("ERROR")
    judged(metric, "Ann")
    judged(metric, "Ann")
    assert len(heard) == 2
    assert metric.verdicts == {}


def test_a_rubric_of_one_s_own_is_a_text_or_a_file(heard, tmp_path):
    judged(judge("VERDICT: correct", rubric=OWN), "{gold}")
    assert heard[-1].messages[0].content == "Who did it?|Ann Lee|{gold}|{other}"
    path = tmp_path / "rubric.txt"
    path.write_text(OWN + "\n")
    from_file = judge("VERDICT: correct", rubric=str(path))
    judged(from_file, "Bo")
    assert heard[-1].messages[0].content == "Who did it?|Ann Lee|Bo|{other}"
    before = catalog.spelled(from_file)
    path.write_text("Be strict. " + OWN)
    assert catalog.spelled(judge("VERDICT: correct", rubric=str(path))) != before


def test_a_wrong_model_or_rubric_is_refused_when_the_study_is_planned():
    with pytest.raises(PartError, match=r"judge\.model: Unknown model 'smolm2'\. Did you mean 'smollm2'\?"):
        catalog.build("metric", "judge(model='smolm2')")
    with pytest.raises(
        PartError, match=r"rubric: found 'none\.txt'; expected a text with \{question\} and \{gold\} and"
    ):
        catalog.build("metric", "judge(model='smollm2', rubric='none.txt')")
    with pytest.raises(PartError, match=r"judge needs the setting model"):
        catalog.build("metric", "judge")


@pytest.mark.weights
def test_a_real_small_model_gives_verdicts_or_none_with_the_reason():
    """SmolLM2-135M hardly follows the rubric: what it says otherwise is no verdict, and never a 0."""
    metric = Judge(model="smollm2", max_tokens=48)
    texts = ("Ann Lee did it.", "Bo did it.", "Nobody knows.")
    found = judged(metric, *texts)
    for (value, reason), verdict in zip(found, metric.verdicts.values(), strict=True):
        assert verdict.n_tokens > 0 and verdict.n_prompt_tokens > 0
        last = ([line.strip() for line in verdict.text.splitlines() if line.strip()] or [""])[-1]
        if last in ("VERDICT: correct", "VERDICT: incorrect"):
            assert (value, reason) == (float(last == "VERDICT: correct"), None)
        else:
            assert value is None
            assert reason in (NO_VERDICT, CUT_OFF)
