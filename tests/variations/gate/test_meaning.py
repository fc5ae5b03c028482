"""The meaning gate: what it keeps, what it refuses, and in which words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.variations.gate.meaning import Gate
from shaketable.variations.gate.names import lost_names
from shaketable.variations.gate.numbers import numbers

WORDLESS = Gate(min_similarity=0, max_span_rise=0, keep_names=False)


def refused(original, wording, gate=WORDLESS):
    (judgement,) = gate.judge([original], [wording])
    return judgement.refused and judgement.refused.text


@pytest.mark.parametrize(
    ("original", "wording", "reason"),
    [
        ("Who won in 1990?", "who won in 1990", None),
        ("Who won in 1990?", "Who won in 1991?", "numbers lost: 1990"),
        ("Who won?", "Who won in 1991?", "numbers added: 1991"),
        ("Who won 2,000 games?", "Who won 2000 games?", None),
        ("Which two teams won?", "Which 2 teams won?", None),
        ("Which two teams won?", "Which teams won?", "numbers lost: 2"),
        ("Who won 3 of 3?", "Who won 3?", "numbers lost: 3"),
        ("Who is 8.95 metres?", "Who is 8. 95 metres?", None),
        ("Who was first of them?", "Who was 1st 0f them?", None),
        ("Who won?", "Who won?", "the same as the original"),
        ("Who won?", " Who won? ", "the same as the original"),
        ("Who won?", " ", "empty"),
        ("What is the capital?", "Paris is the capital.", "it does not ask: 'Paris is the capital.'"),
        ("Who won?", "Sorry, I can't. What else?", "it declines instead of asking: 'Sorry, I can't. What else?'"),
        ("Who won?", "I would like to know who won.", None),
        ("Who won?", "Tell me the winner.", None),
        ("Who won?", "The United States won.", "it does not ask: 'The United States won.'"),
        ("Who won?", "Please state the winner.", None),
        ("What Doctor Who actress won?", "A Doctor Who actress won.", "it does not ask: 'A Doctor Who actress won.'"),
        ("Who won?", "No, she won. Who else?", "it answers instead of asking: 'No, she won. Who else?'"),
        ("When did it end?", "Why did it end?", "it asks 'why' where the original asks 'when'"),
        ("Where did it end?", "When did it end?", "it asks 'when' where the original asks 'where'"),
        ("When did it end?", "In what year did it end?", None),
        ("Whose idea was it?", "Who had the idea?", None),
        ("Who won when it ended?", "Tell me who won when it ended.", None),
        ("Who won when it ended?", "Say when it ended, and who won.", "it asks 'when' where the original asks 'who'"),
        ("Is it 30,000km wide?", "So is it 30,000km wide?", None),
        ("Is it 30,000 wide?", "Is 1t 30, 000 wide?", None),
        ("Who won in 1999?", "Who won in '99?", None),
        ("Which hit of the 80s won?", "Which hit of the 1980s won?", None),
        ("Who won, she or he?", "Which of the two won, she or he?", None),
        ("Who won?", "Is it feasible to establish who won?", "'yes' would be an answer to it: 'Is it feasible …'"),
        ("Who won?", "In this case, can one tell who won?", "'yes' would be an answer to it: 'can one …'"),
        ("Who won?", "Could you tell me who won?", None),
        ("Who won?", "Does anybody know who won?", None),
        ("Which of them won?", "In what contest can one find the winner?", None),
        ("Is it possible to win?", "So is it possible to win?", None),
        ("In 1990, did the man win?", "Back in 1990, did the man win it?", None),
        ("Its date?", "Could an answer be given: its date?", "'yes' would be an answer to it: 'Could an …'"),
        ("In which year did it end?", "Where did it end?", "the original asks for a year, the wording not"),
        ("In which year did it end?", "When did it end?", None),
        ("In which year did it end?", "In which decade did it end?", "the original asks for a year, the wording not"),
        ("In which city is it?", "Where is it?", "the original asks for a city, the wording not"),
        ("In which city is it?", "Where is it, I mean the city?", None),
    ],
)  # fmt: skip
def test_numbers_stay_and_a_question_asks(original, wording, reason):
    assert refused(original, wording) == reason


@pytest.mark.parametrize(
    ("original", "wording", "kind"),
    [
        ("Who wrote Emma?", "Did Jane write Emma?", "invites_yes_or_no"),
        ("Who wrote Emma?", "Didn't Jane write Emma?", "invites_yes_or_no"),
        ("Who wrote Emma?", "So has Emma's author been named?", "invites_yes_or_no"),
        ("Barton explored which part of the sea?", "Was Otis Barton a pioneer?", "invites_yes_or_no"),
        ("What was Matthau's first movie?", "Is Walter Matthau's first movie known?", "invites_yes_or_no"),
        ("Who wrote Emma?", "Do you know who wrote Emma?", None),
        ("Who wrote Emma?", "Can anyone tell me who wrote Emma?", None),
        ("Who wrote Emma?", "Is there anybody who knows who wrote Emma?", None),
        ("Which is taller, Orrin or Valla?", "Is Orrin or Valla taller?", None),
        ("Which is taller, Orrin or Valla?", "Is Orrin taller than Valla?", "invites_yes_or_no"),
        ("Is Orrin taller than Valla?", "Has Orrin more height than Valla?", None),
        ("When the war ended, who ruled?", "Who ruled when the war ended?", None),
        ("Which highway is in the song?", "Who is in the song?", "asks_for_another_kind_of_answer"),
        ("Which highway is in the song?", "Tell me who is in the song.", "asks_for_another_kind_of_answer"),
        ("How many people who voted were men?", "Who voted, the men?", "asks_for_another_kind_of_answer"),
        ("How did Tomas die?", "When did Tomas die?", "asks_for_another_kind_of_answer"),
        ("How did Tomas die?", "What did Tomas die of?", None),
        ("How long ago did it end?", "When did it end?", None),
        ("Which band sang it?", "Who sang it?", None),
        ("Which actor sang it?", "Who sang it?", None),
        ("What is the name of the man?", "Who is the man?", None),
        ("Which river flows by Rome?", "Where does the river by Rome flow?", None),
        ("Which film whose director is old won?", "Any idea which movie whose director is old won?", None),
    ],
)
def test_frames_with_names_and_exchanged_question_words_are_refused(original, wording, kind):
    (judgement,) = Gate(min_similarity=0, max_span_rise=0, keep_names=False, keep_numbers=False).judge(
        [original], [wording]
    )
    assert (judgement.refused and judgement.refused.kind) == kind


def test_a_speaker_may_take_back_a_question_word():
    gate = Gate(min_similarity=0, max_span_rise=0, keep_names=False, corrects_itself=True)
    (judgement,) = gate.judge(["Which highway is it?"], ["Who is, no wait, which highway is it?"])
    assert judgement.refused is None


@pytest.mark.weights
@pytest.mark.parametrize(
    ("original", "wording", "reason"),
    [
        ("Who did not win?", "Who won?", "a negation is lost: 'not'"),
        ("Who won?", "Who has never won?", "a negation is added: 'never'"),
        ("Who won?", "No idea who won, do you know?", None),
        ("Who would be forbidden to win?", "Who wouldn't be allowed to win?", None),
        ("Who won first?", "Who won?", "the original says 'first', and the wording nothing like it"),
        ("Who won first?", "Who was the earliest to win?", None),
        ("Which is longer?", "Which is shorter?", "the original says 'longer', and the wording 'shorter'"),
        ("Who directed the film Jaws?", "Who made Jaws?", None),
        ("How many live in the United States?", "How many live in the US?", None),
        ("What is the capital of City of Joondalup?", "What is the capital of Joondalup?", None),
        ("Who founded Newsweb Corporation?", "Who started Newsweb Corp.?", None),
        ("Who is José Batlle?", "Who is that Jose Batlle?", None),
    ],
)  # fmt: skip
def test_names_and_constraints_stay(original, wording, reason):
    assert refused(original, wording, Gate(min_similarity=0, max_span_rise=0)) == reason


def test_every_check_can_be_turned_off():
    assert (
        refused(
            "Who won in 1990?",
            "He won.",
            Gate(min_similarity=0, max_span_rise=0, keep_names=False, keep_numbers=False, asks=False),
        )
        is None
    )


def test_numbers_are_counted_in_digits():
    assert numbers("In 1990, two of 12 men and twelve women") == {"1990": 1, "2": 1, "12": 2}


@pytest.mark.weights
def test_names_stay_in_any_letter_case():
    original = "Who directed Big Stone Gap with Ashley Judd?"
    assert lost_names(original, "who's behind big stone gap with ashley judd") == []
    assert lost_names(original, "Who directed Big Stone Gap with the actress?") == ["Ashley", "Judd"]


@pytest.mark.weights
def test_a_new_name_is_a_new_fact():
    gate = Gate(min_similarity=0, max_span_rise=0)
    assert (
        refused("Who directed Jaws?", "Who of Steven Spielberg and others directed Jaws?", gate)
        == "names added: Steven, Spielberg"
    )
    assert refused("who directed jaws", "So tell me, who directed Jaws?", gate) is None


@pytest.mark.slow
@pytest.mark.weights
def test_similarity_has_a_threshold():
    pair = (
        ["Who directed the film Jaws?"],
        ["Tell me the director of the film Jaws.", "How tall is the Eiffel Tower?"],
    )
    near, far = (Gate().judge(pair[0], [wording])[0] for wording in pair[1])
    assert near.refused is None
    assert near.similarity > 0.8
    assert (far.refused.kind, far.refused.text) == ("names_lost", "names lost: Jaws")
    assert Gate(keep_names=False).judge(pair[0], pair[1][1:])[0].refused.text.startswith("similarity 0.")


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_judgement_never_fails(original, wording):
    reason = refused(original, wording)
    assert reason is not None or wording.strip() != original.strip()


STRANGE = (
    "",
    "?",
    "Jaws",
    "谁导演了大白鲨",
    "Wer hat das gemacht?",
    "\ud800 who",
    "who " * 500,
    "\x00\u202e 42",
    "'\"“",
)


@pytest.mark.weights
@pytest.mark.parametrize("original", STRANGE)
def test_strange_texts_get_a_judgement(original):
    judged = Gate().judge([original] * len(STRANGE), STRANGE)
    assert len(judged) == len(STRANGE)
    assert judged[STRANGE.index(original)].refused is not None


@pytest.mark.weights
@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_breaks_the_checks_of_names_and_sentences(original, wording):
    gate = Gate(min_similarity=0, max_span_rise=100, max_mean_rise=100)
    (judgement,) = gate.judge([original], [wording])
    assert judgement.refused is not None or wording.strip() != original.strip()
