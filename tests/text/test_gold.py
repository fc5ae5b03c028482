from __future__ import annotations

from shaketable.text.gold import gold_among
from shaketable.types import Passage, Question, Sentence


def question(*titles):
    return Question(id="q", text="?", answers=("a",), gold_titles=titles)


def test_gold_documents_are_told_by_their_titles_letter_case_aside():
    assert gold_among(question("Ann Lee", "Bob"), ["ANN LEE", "Carl", "ann lee."]) == {"ann lee"}
    assert gold_among(question("Ann Lee"), ["Carl"]) == set()
    assert gold_among(question("Ann Lee"), []) == set()


def test_a_question_without_supporting_documents_cannot_tell():
    assert gold_among(question(), ["Ann Lee"]) is None


def test_where_no_titles_are_given_supporting_sentences_name_their_documents():
    documents = tuple(
        Passage(id=title, title=title, sentences=(Sentence(id=f"{title}#0", text="It is."),))
        for title in ("Ann", "Bob")
    )
    asked = Question(id="q", text="?", answers=("a",), documents=documents, supporting=("Bob#0",))
    assert gold_among(asked, ["Ann", "BOB"]) == {"bob"}
