import json

import pytest

from shaketable.datasets.triviaqa import load_triviaqa
from shaketable.errors import DataError

ANSWER = {
    "Value": "York",
    "Aliases": ["Eoforwic", "York", "YORK"],
    "NormalizedAliases": ["york"],
    "Type": "WikipediaEntity",
}
RECORD = {"QuestionId": "tc_3", "Question": "Where was Judi Dench born?", "Answer": ANSWER}


def write(tmp_path, text, name="trivia.json"):
    path = tmp_path / name
    path.write_bytes((text if isinstance(text, str) else json.dumps(text)).encode())
    return str(path)


def official(*records):
    return {"Data": list(records), "Domain": "Web", "Split": "dev", "VerifiedEval": False, "Version": 1.0}


@pytest.mark.parametrize("indent", [None, 4])
def test_the_value_comes_before_the_aliases(tmp_path, indent):
    (question,) = load_triviaqa(write(tmp_path, json.dumps(official(RECORD), indent=indent))).questions
    assert (question.id, question.text) == ("tc_3", "Where was Judi Dench born?")
    assert question.answers == ("York", "Eoforwic", "YORK")
    assert question.tags == {"answer_type": "WikipediaEntity", "domain": "Web", "split": "dev", "n_facts": 0}


def test_rows_of_the_hub_and_plain_rows_and_tab_separated_lines_are_read(tmp_path):
    hub = {"question_id": "tc_3", "question": "Where?", "answer": {"value": "York", "aliases": ["Eoforwic"]}}
    (question,) = load_triviaqa(write(tmp_path, hub)).questions
    assert (question.id, question.answers) == ("tc_3", ("York", "Eoforwic"))
    (question,) = load_triviaqa(write(tmp_path, {"id": 0, "question": "Where?", "answers": ["York"]})).questions
    assert (question.id, question.answers) == ("0", ("York",))
    lines = 'Where?\t"[\'York\', ""St. Peter\'s""]"\r\nWho?\t[\'Judi\']\r\n'
    first, second = load_triviaqa(write(tmp_path, lines, "dpr.csv")).questions
    assert first.answers == ("York", "St. Peter's")
    assert (second.text, second.answers) == ("Who?", ("Judi",))
    assert first.id != second.id


def test_files_that_list_aliases_in_no_order_name_no_canonical_answer(tmp_path):
    plain = {"id": 6, "question": "Which film?", "answers": ["Kamal kahn", "Octopussy"]}
    lines = "Which film?\t['Kamal kahn', 'Octopussy']\r\n"
    for text, name in ((plain, "trivia.json"), (lines, "dpr.csv")):
        (question,) = load_triviaqa(write(tmp_path, text, name)).questions
        assert question.tags["canonical"] is False
    (question,) = load_triviaqa(write(tmp_path, official(RECORD))).questions
    assert "canonical" not in question.tags


def test_verified_files_keep_the_answers_of_people(tmp_path):
    answer = {**ANSWER, "HumanAnswers": ["the city of York"]}
    (question,) = load_triviaqa(write(tmp_path, official({**RECORD, "Answer": answer}))).questions
    assert question.answers[-1] == "the city of York"


def test_broken_records_are_listed(tmp_path):
    unknown = {**RECORD, "QuestionId": "t", "Answer": {"Value": "<unk>", "Aliases": []}}
    unanswered = {key: value for key, value in RECORD.items() if key != "Answer"}
    loaded = load_triviaqa(write(tmp_path, official(RECORD, unknown, {**unanswered, "QuestionId": "u"}, 5)))
    assert len(loaded.questions) == 1
    assert [rejected.reason.partition(",")[0] for rejected in loaded.rejected] == [
        "it has no accepted answer.",
        "'Answer' is missing.",
        "found 5",
    ]
    loaded = load_triviaqa(write(tmp_path, "Where?\t['York']\nWho?\tJudi\nWhen?\n", "dpr.tsv"))
    assert [rejected.where for rejected in loaded.rejected] == ["dpr.tsv line 2", "dpr.tsv line 3"]


def test_another_file_or_none_is_said_with_the_layouts(tmp_path):
    for text in ("Once upon a time, there was no table.\n", official(), {"Data": 3}):
        with pytest.raises(DataError, match=r"trivia.json: no question is left .*Known layouts: .*'Data'"):
            load_triviaqa(write(tmp_path, text))
    with pytest.raises(DataError, match=r"'triviaqa' needs a path.*University of Washington"):
        load_triviaqa()
