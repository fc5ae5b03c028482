"""A follow-up names its topic in the conversation before it, and points at it in the question."""

import pytest
from made_studies import row, study_of, write_rows

from shaketable.catalog import build
from shaketable.stages.history import continued
from shaketable.stages.run import run
from shaketable.store import RecordStore
from shaketable.store.verify import verify
from shaketable.types import Generate, Message, Probe, Question, Search

JAWS = Question(id="a", text="Who directed Jaws?", answers=("Steven Spielberg",))
HISTORY = (Message(role="user", content="About Jaws."), Message(role="assistant", content="Yes?"))
ASKED = (Message(role="system", content="Be brief."), Message(role="user", content="Who directed it?"))


@pytest.mark.weights
def test_the_conversation_names_what_the_question_points_at():
    ((variant,),) = build("variation", "follow_up").vary([JAWS])
    said = variant.history
    assert variant.rejected is None
    assert variant.text.lower().removeprefix("so, ") == "who directed it?"
    assert [message.role for message in said] == ["user", "assistant"]
    assert "Jaws" in said[0].content and "Jaws" not in variant.text
    assert variant.spelled.endswith(variant.text) and said[0].content in variant.spelled


@pytest.mark.weights
def test_a_question_without_a_sure_topic_is_refused():
    ((variant,),) = build("variation", "follow_up").vary([Question(id="b", text="who made it", answers=("x",))])
    assert variant.refusal == "no_rule_applies"
    assert variant.history == ()


def test_a_model_reads_what_was_said_and_a_search_does_not():
    step = continued(HISTORY, Generate(messages=ASKED))
    assert [message.content for message in step.messages] == ["Be brief.", "About Jaws.", "Yes?", "Who directed it?"]
    plain = continued(HISTORY, Generate(messages=ASKED[1:], layout="plain"))
    assert [message.content for message in plain.messages] == ["About Jaws.\n\nYes?\n\nWho directed it?"]
    search = Search(query="Who directed it?", k=3)
    assert continued(HISTORY, search) is search
    probe = Probe(text="Spielberg", wants=("logprobs",), before=ASKED[1:])
    assert continued(HISTORY, probe).before == (*HISTORY, ASKED[1])
    assert continued(HISTORY, Probe(text="x", wants=())).before == ()


@pytest.mark.weights
def test_a_run_asks_after_the_conversation_and_its_keys_hold_it(tmp_path):
    rows = [row(1, question="Who directed Jaws?"), row(2, question="Who painted The Scream?")]
    study = study_of(write_rows(tmp_path / "q.jsonl", rows), variations=["original", "follow_up"])
    made = run(study, tmp_path / "run")
    with RecordStore(made.folder / "records.sqlite") as store:
        followed = [record for record in store.records() if record.trial.variant.variation == "follow_up"]
        assert verify(store).problems == ()
    assert len(followed) == 8
    for record in followed:
        asked = next(event.step for event in record.trace if isinstance(event.step, Generate))
        assert asked.messages[:2] == record.trial.variant.history
