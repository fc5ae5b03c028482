"""Frozen sets: what was written comes back, and nothing else does."""

import dataclasses
import json

import pytest

from shaketable import catalog
from shaketable.errors import DataError
from shaketable.stages.plan import plan
from shaketable.study import load_study
from shaketable.types import HISTORY, STRENGTH, Message, Question, Strength, Variant
from shaketable.variations.frozen import Frozen
from shaketable.variations.variant_set import WordingCounts, count_wordings, load_variant_set, write_variant_set

ASKED = [Question(id=f"q{i}", text=f"Who wrote book {i}?", answers=("x",)) for i in range(3)]
MADE = {
    "original": [[Variant(question_id=q.id, text=q.text, variation="original")] for q in ASKED],
    "formality(seed=1)": [
        [
            Variant(
                question_id=q.id,
                text=f"yo, {q.text} é",
                variation="formality(seed=1)",
                provenance={"by": "rules", "n_attempts": 1} | ({"refusal": "too_far"} if q.id == "q2" else {}),
                rejected=None if q.id != "q2" else "similarity 0.4: too far",
            )
        ]
        for q in ASKED
    ],
}


@pytest.fixture
def file(tmp_path):
    write_variant_set(tmp_path / "set.jsonl", ASKED, MADE, [])
    return tmp_path / "set.jsonl"


def test_the_wordings_come_back_with_their_makers(file):
    made = Frozen(path=str(file)).vary(ASKED)
    assert made == [[*of_one, *of_other] for of_one, of_other in zip(*MADE.values(), strict=True)]


def test_only_some_makers(file):
    assert Frozen(path=str(file), only=("formality",)).vary(ASKED) == MADE["formality(seed=1)"]
    assert Frozen(path=str(file), only=("original",)).vary(ASKED) == MADE["original"]
    with pytest.raises(
        DataError, match=r"has no wordings by 'spelling'. It has those by: original, formality\(seed=1\)"
    ):
        Frozen(path=str(file), only=("spelling",)).vary(ASKED)


def test_one_kind_by_two_makers_is_told_apart(tmp_path):
    by_model = "formality(by='smollm2')"
    made = {
        label: [[Variant(question_id=q.id, text=f"{label}: {q.text}", variation=label)] for q in ASKED]
        for label in ("formality", by_model)
    }
    path = str(tmp_path / "set.jsonl")
    write_variant_set(tmp_path / "set.jsonl", ASKED, made, [])
    assert Frozen(path=path, only=("formality",)).vary(ASKED) == made["formality"]
    assert Frozen(path=path, only=(by_model,)).vary(ASKED) == made[by_model]
    assert Frozen(path=path).vary(ASKED)[0] == [made["formality"][0][0], made[by_model][0][0]]


def test_strength_history_and_refused_attempts_come_back(tmp_path):
    strength = Strength(terms_kept=0.5, edit_distance=0.25)
    provenance = {
        "by": "smollm2",
        STRENGTH: dataclasses.asdict(strength),
        HISTORY: [{"role": "user", "content": "I was just reading about book 0."}],
        "rejected_attempts": [{"text": "Me.", "reason": "it does not ask: 'Me.'"}],
    }
    variant = Variant(question_id="q0", text="Who wrote it?", variation="follow_up", provenance=provenance)
    write_variant_set(tmp_path / "set.jsonl", ASKED[:1], {"follow_up": [[variant]]}, [])
    [[back]] = Frozen(path=str(tmp_path / "set.jsonl")).vary(ASKED[:1])
    assert back == variant
    assert back.strength == strength
    assert back.history == (Message(role="user", content="I was just reading about book 0."),)


def test_the_same_wordings_make_the_same_bytes(file, tmp_path):
    again = write_variant_set(tmp_path / "again.jsonl", ASKED, MADE, [])
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert json.loads(file.read_text().split("\n")[0])["digest"] == again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("yo, Who", "ey, Who", 1), r"line 3: the wording was changed after it was frozen"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", r"found 5 wordings, expected the 6 that the first line seals"),
        (lambda text: text.replace('"version":1', '"version":2', 1), r"the set has version 2, expected 1"),
        (lambda text: text.split("\n", 1)[1], r"line 1: this is no frozen set of variants"),
        (lambda text: "", r"line 1: this is no frozen set of variants"),
        (lambda text: text.replace('"text"', '"txt"', 1), r"line 2: 'text': field required"),
    ],
)
def test_a_set_that_was_touched_is_refused(file, change, message):
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    with pytest.raises(DataError, match=message):
        load_variant_set(file)


def test_a_question_with_another_text_is_an_error(file):
    changed = [Question(id="q0", text="Who wrote it?", answers=("x",))]
    with pytest.raises(DataError, match=r"question q0 was 'Who wrote book 0\?' when the set was frozen"):
        Frozen(path=str(file)).vary(changed)


def test_questions_without_wordings_are_reported(file):
    with pytest.warns(UserWarning, match=r"has no wording for 1 of 2 questions, such as new"):
        made = Frozen(path=str(file)).vary([ASKED[0], Question(id="new", text="Who?", answers=("x",))])
    assert [len(of_question) for of_question in made] == [2, 0]


def test_rejections_are_counted():
    assert count_wordings(MADE["formality(seed=1)"]) == WordingCounts(
        made=3, accepted=2, rejected=1, reasons={"too_far": 1}
    )


def test_a_plan_asks_the_accepted_ones_under_the_makers_name(file, tmp_path):
    rows = [{"id": q.id, "question": q.text, "answers": ["x"]} for q in ASKED]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text(
        f'name = "s"\n[dataset]\nname = "jsonl"\npath = {str(tmp_path / "q.jsonl")!r}\n'
        f'[cross]\nmodels = ["scripted"]\nmethods = ["closed_book"]\nvariations = ["frozen(path={str(file)!r})"]\n'
    )
    planned = plan(load_study(str(tmp_path / "study.toml")))
    assert len(planned.variants) == 6
    assert len(planned.asked) == 5
    assert {catalog.parse(variant.variation)[0] for variant in planned.asked} == {"original", "formality"}
