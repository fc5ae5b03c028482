"""Search-o1: hand-written turns, and the parsing of boxes and steps."""

import pytest
from by_hand import completion, drive, hit

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.methods.search_o1 import (
    BEGIN_QUERY,
    BEGIN_RESULT,
    END_QUERY,
    END_RESULT,
    HEADING,
    LIMIT,
    NOTHING,
    REPEATED,
    SearchO1,
    boxed,
    facts,
    shortened,
)
from shaketable.types import Generate, Message

WORDING = "Who painted it?"
HITS = [hit("It was painted by Ann Lee.", title="The mill"), hit("It is blue.", title="Color")]
FACTS = f"Let me see.\n{HEADING}\nAnn Lee\npainted it."
BOXED = "So it is \\boxed{Ann Lee}."


def asking(query):
    return completion(f"I search.\n{BEGIN_QUERY}{query}{END_QUERY}", finish="stop")


def test_a_query_is_searched_and_its_facts_go_back_into_the_reasoning():
    driven = drive(SearchO1(), WORDING, [asking("painter"), FACTS, BOXED], hits=HITS)
    first, reason, last = driven.of(Generate)
    assert driven.queries == ["painter"]
    assert first.stop == (END_QUERY,)
    assert reason.purpose == "reason_in_documents"
    assert "The mill\nIt was painted by Ann Lee." in reason.messages[0].content
    assert last.messages[-1] == Message(
        role="assistant",
        content=f"I search.\n{BEGIN_QUERY}painter{END_QUERY}\n\n{BEGIN_RESULT}Ann Lee painted it.{END_RESULT}",
    )
    assert driven.answer.text == "Ann Lee"
    assert driven.answer.hits == tuple(HITS)
    assert [note["decision"] for note in driven.notes("search_o1")] == ["search", "finished"]


def test_a_prompt_that_goes_on_does_not_end_in_white_space():
    """SmolLM2's tokenizer makes one token of two line breaks at the end of a prompt, and two of those before a word."""
    driven = drive(SearchO1(), WORDING, [asking("a"), FACTS, asking("b"), FACTS, BOXED], hits=HITS)
    later = [step.messages[-1].content for step in driven.of(Generate) if step.messages[-1].role == "assistant"]
    assert len(later) == 2
    assert all(text == text.rstrip() for text in later)


def test_calls_of_the_method_itself_can_be_told_from_reading_documents():
    driven = drive(SearchO1(), WORDING, [asking("a"), FACTS, asking("b"), FACTS, BOXED], hits=HITS)
    assert [purpose for purpose in driven.purposes if not purpose] == [""] * 3
    assert driven.purposes.count("reason_in_documents") == len(driven.queries) == 2


def test_a_repeated_query_takes_a_turn_and_no_search():
    driven = drive(SearchO1(), WORDING, [asking("a"), FACTS, asking("a"), BOXED], hits=HITS)
    assert driven.queries == ["a"]
    assert REPEATED in driven.of(Generate)[-1].messages[-1].content
    assert [note["decision"] for note in driven.notes("search_o1")] == ["search", "repeated", "finished"]


def test_beyond_the_limit_nothing_is_searched():
    driven = drive(SearchO1(max_searches=1), WORDING, [asking("a"), FACTS, asking("b"), BOXED], hits=HITS)
    assert driven.queries == ["a"]
    assert LIMIT in driven.of(Generate)[-1].messages[-1].content
    assert driven.answer.text == "Ann Lee"


@pytest.mark.parametrize(("task", "limit"), [("multi_hop", 15), ("single_hop", 5)])
def test_a_model_that_always_searches_runs_out_of_turns(task, limit):
    """15 turns; a new query each time, until only refusals are left for single-hop questions."""
    turns = [reply for i in range(20) for reply in ([asking(f"q{i}"), FACTS] if i < limit else [asking(f"q{i}")])]
    driven = drive(SearchO1(task=task), WORDING, turns, hits=HITS)
    assert len(driven.queries) == limit
    assert driven.purposes.count("") == 15
    assert driven.answer.text == ""
    assert str(limit) in driven.of(Generate)[0].messages[0].content


def test_only_a_query_at_the_very_end_is_searched():
    said = f"{BEGIN_QUERY}a{END_QUERY} and then I stop. \\boxed{{b}}"
    driven = drive(SearchO1(), WORDING, [said], hits=HITS)
    assert driven.queries == []
    assert driven.answer.text == "b"


def test_the_last_query_of_a_turn_counts():
    said = completion(f"{BEGIN_QUERY}a{END_QUERY} no: {BEGIN_QUERY} b {END_QUERY}", finish="stop")
    assert drive(SearchO1(), WORDING, [said, FACTS, BOXED], hits=HITS).queries == ["b"]


def test_an_endpoint_that_hides_its_stop_string_is_believed():
    said = completion(f"I search.\n{BEGIN_QUERY}painter", notes=("stop_unknown",))
    driven = drive(SearchO1(), WORDING, [said, FACTS, BOXED], hits=HITS)
    assert driven.queries == ["painter"]
    assert drive(SearchO1(), WORDING, [completion(f"{BEGIN_QUERY}painter")], hits=HITS).queries == []


def test_queries_among_thoughts_are_found():
    query = f"{BEGIN_QUERY}painter{END_QUERY}"
    said = completion("", finish="stop", thoughts=f"Hm. {query}", written=f"<think>\nHm. {query}")
    assert drive(SearchO1(), WORDING, [said, FACTS, BOXED], hits=HITS).queries == ["painter"]


def test_the_heading_may_be_written_otherwise_and_the_last_one_counts():
    assert facts("Helpful facts: none yet. The helpful Facts:\n1. Ann\n2. Lee") == "1. Ann 2. Lee"


@pytest.mark.parametrize("reply", ["nothing of note", f"{HEADING}\n \n", ""])
def test_documents_without_facts_say_so(reply):
    driven = drive(SearchO1(), WORDING, [asking("a"), reply, BOXED], hits=HITS)
    assert f"{BEGIN_RESULT}{NOTHING}{END_RESULT}" in driven.answer.working


def test_a_search_without_hits_is_not_read():
    driven = drive(SearchO1(), WORDING, [asking("a"), BOXED])
    assert driven.purposes == ["", ""]
    assert f"{BEGIN_RESULT}{NOTHING}{END_RESULT}" in driven.answer.working


def test_documents_can_go_in_as_they_are():
    driven = drive(SearchO1(reason_in_documents=False, document_characters=6), WORDING, [asking("a"), BOXED], hits=HITS)
    assert driven.purposes == ["", ""]
    assert "[1] The mill\nIt was\n" in driven.answer.working


def test_the_temperature_is_the_study_s_unless_the_authors_values_are_asked_for():
    turns = [asking("a"), FACTS, BOXED]
    assert [dict(step.sampling) for step in drive(SearchO1(), WORDING, turns, hits=HITS).of(Generate)] == [{}, {}, {}]
    theirs = drive(SearchO1(reason_sampling="authors", repetition_penalty=1.05), WORDING, turns, hits=HITS)
    assert [dict(step.sampling) for step in theirs.of(Generate)] == [
        {"repetition_penalty": 1.05},
        {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.05},
        {"repetition_penalty": 1.05},
    ]


def test_a_task_that_follows_the_dataset_is_not_guessed_from_the_wording():
    method = SearchO1(task="by_dataset")
    with pytest.raises(ValueError, match="which a plan settles"):
        drive(method, WORDING, [BOXED])
    assert (method.suited_to("single_hop"), SearchO1().follows_dataset) == (SearchO1(task="single_hop"), False)


CUT = completion("I think of", finish="length")


@pytest.mark.parametrize(
    ("settings", "replies", "reason"),
    [
        ({}, ["Ann Lee."], "no_box"),
        ({}, ["It is \\boxed{}."], "empty_box"),
        ({}, ["It is \\boxed{Ann\nLee}."], "unclosed_box"),
        ({}, [CUT], "out_of_tokens"),
        ({}, [asking("a"), FACTS, CUT], "out_of_tokens"),
        ({"max_turns": 1}, [asking("a"), FACTS], "out_of_turns"),
        ({"max_turns": 2}, [asking("a"), FACTS, asking("a")], "out_of_turns"),
        ({"max_turns": 2, "max_searches": 1}, [asking("a"), FACTS, asking("b")], "search_limit"),
    ],
)
def test_an_empty_answer_says_why(settings, replies, reason):
    driven = drive(SearchO1(**settings), WORDING, replies, hits=HITS)
    assert (driven.answer.text, driven.answer.reason) == ("", reason)
    assert driven.notes("search_o1")[-1] == {"decision": "missing", "reason": reason, "on_missing": "empty"}


def test_an_answer_that_is_there_has_no_reason_to_be_empty():
    assert drive(SearchO1(), WORDING, [BOXED]).answer.reason is None


def test_a_missing_box_is_completed_after_what_was_written():
    """As DRAGIN completes its answer: the opening is appended, a few tokens follow, and the call is not counted."""
    replies = [asking("a"), FACTS, "I know now. ", " Ann Lee}. And so on"]
    driven = drive(SearchO1(on_missing="complete"), WORDING, replies, hits=HITS)
    assert driven.answer.text == "Ann Lee"
    assert driven.answer.reason is None
    assert driven.purposes == ["", "reason_in_documents", "", "answer_completion"]
    last = driven.of(Generate)[-1]
    assert last.max_tokens == 20
    assert last.messages[-1].content.endswith("I know now.\n\nThe final answer is \\boxed{")
    assert driven.answer.working.endswith("I know now.\n\nThe final answer is \\boxed{ Ann Lee}. And so on")
    assert driven.notes("search_o1")[-1] == {"decision": "missing", "reason": "no_box", "on_missing": "complete"}


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Ann Lee", "Ann Lee"),
        ("\\text{Ann Lee}} is it", "Ann Lee"),
        ("(B)}", "B"),
        ("Ann Lee\nand more}", "Ann Lee"),
        ("the set {1, 2}} of", "the set {1, 2}"),
        ("} Ann", ""),
        ("", ""),
    ],
)
def test_a_completed_box_ends_with_its_brace_or_its_line(reply, answer):
    assert drive(SearchO1(on_missing="complete"), WORDING, ["Ann Lee.", reply]).answer.text == answer


def test_a_completion_without_an_answer_leaves_the_reason_of_the_missing_box():
    answer = drive(SearchO1(on_missing="complete", max_turns=1), WORDING, [asking("a"), FACTS, "}"], hits=HITS).answer
    assert (answer.text, answer.reason) == ("", "out_of_turns")


def test_a_thought_that_is_still_open_is_closed_before_the_answer_is_completed():
    cut = completion("", finish="length", thoughts="Hm", written="<think>\nHm")
    driven = drive(SearchO1(on_missing="complete"), WORDING, [cut, "Ann Lee}"])
    assert driven.of(Generate)[-1].messages[-1].content == "<think>\nHm\n</think>\n\nThe final answer is \\boxed{"


def test_a_missing_box_can_be_asked_for_without_search():
    driven = drive(SearchO1(on_missing="direct"), WORDING, ["Ann Lee.", "It was Ann Lee."])
    assert driven.purposes == ["", "direct_answer"]
    assert driven.answer.text == "It was Ann Lee."
    assert driven.of(Generate)[-1].messages == (
        Message(role="user", content=f"Answer the query from what you know.\n\nQuery: {WORDING}\n\nAnswer:"),
    )


def test_the_old_name_of_the_fallback_says_the_new_one():
    with pytest.raises(PartError, match=r"'direct_fallback'.*on_missing='direct'"):
        catalog.build("method", "search_o1(direct_fallback=True)")


def test_later_turns_append_to_what_the_model_really_wrote():
    written = f"<think>\nI search. {BEGIN_QUERY}painter{END_QUERY}"
    said = completion(f"I search. {BEGIN_QUERY}painter{END_QUERY}", finish="stop", written=written)
    driven = drive(SearchO1(), WORDING, [said, FACTS, BOXED], hits=HITS)
    assert driven.queries == ["painter"]
    assert driven.of(Generate)[-1].messages[-1].content == (
        f"{written}\n\n{BEGIN_RESULT}Ann Lee painted it.{END_RESULT}"
    )
    assert driven.answer.working.startswith("<think>\nI search.")


def test_examples_are_finished_turns_before_the_question():
    [step] = drive(SearchO1(n_examples=2), WORDING, [BOXED]).of(Generate)
    assert [message.role for message in step.messages] == ["user", "assistant"] * 2 + ["user"]
    assert step.messages[-1].content == f"Question: {WORDING}"
    for message in step.messages[1::2]:
        assert BEGIN_QUERY in message.content
        assert boxed(message.content)
    with pytest.raises(ValueError, match="n_examples is 4; give 0 to 3"):
        SearchO1(n_examples=4)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (r"\boxed{a}", "a"),
        (r"\boxed{a} and \boxed{b}", r"a} and \boxed{b"),
        ("\\boxed{a}\nno: \\boxed{b}", "b"),
        (r"\boxed{\text{Ann Lee}}", "Ann Lee"),
        (r"\boxed{(B)}", "B"),
        ("\\boxed{a\nb}", ""),
        (r"boxed{a}", ""),
        ("", ""),
    ],
)
def test_boxes(output, answer):
    """The first four are the specification's; `\\text{}` is unwrapped, outer parentheses go, a box has one line."""
    assert boxed(output) == answer


def test_previous_reasoning_keeps_what_the_authors_code_keeps():
    """Worked by hand from run_search_o1.py: two line breaks count as one, every line gets a number, and a blank step
    stands after the last one, so that of "the last four" three are lines; the first and those with markers stay."""
    lines = [f"line {i}" for i in range(1, 13)]
    lines[4] = f"{BEGIN_QUERY}q{END_QUERY}"
    lines[6] = f"{BEGIN_RESULT}r{END_RESULT}"
    shown = shortened("\n\n".join(lines)).split("\n\n")
    kept = [f"Step 5: {lines[4]}", "...", f"Step 7: {lines[6]}", "..."]
    assert shown == ["Step 1: line 1", "...", *kept, *(f"Step {i}: line {i}" for i in range(10, 13))]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("a", "Step 1: a"),
        ("a\nb\nc\nd", "Step 1: a|Step 2: b|Step 3: c|Step 4: d"),
        ("a\nb\nc\nd\ne", "Step 1: a|...|Step 3: c|Step 4: d|Step 5: e"),
        ("a\n\n\nb", "Step 1: a|Step 2: |Step 3: b"),
    ],
)
def test_short_reasoning_stays_whole(output, shown):
    """Four lines and the blank step are five, which the authors' code leaves alone; five lines are too many."""
    assert shortened(output).split("\n\n") == shown.split("|")
