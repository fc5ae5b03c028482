from collections import Counter

import pytest

from shaketable.perturbations.sentence_replacement import SentenceReplacement


def ids(evidence):
    return [sentence.id for hit in evidence.hits for sentence in hit.passage.sentences]


def test_idle_sentences_of_the_same_title_take_the_place(example, shake):
    evidence = shake(SentenceReplacement(), example())
    assert ids(evidence)[:2] == ["Alpha#0", "Alpha#2"]
    assert sorted(ids(evidence)[2:]) == ["Beta#2", "Beta#3"]
    assert evidence.flags == ()


def test_the_edit_names_the_donor(example, shake):
    evidence = shake(SentenceReplacement(), example(3))
    (edit,) = evidence.edits
    assert (edit.kind, edit.sentence_id) == ("replace", "Beta#0")
    assert edit.note == f"same_title: {ids(evidence)[2]}"
    assert edit.after == evidence.hits[2].passage.text


@pytest.mark.parametrize("draw", [lambda n: (n, "q1"), lambda n: (0, f"q{n}")], ids=["seed", "question id"])
def test_the_seed_and_the_question_decide_and_every_donor_is_as_likely(example, shake, draw):
    drawn = Counter()
    for n in range(600):
        seed, id = draw(n)
        drawn[ids(shake(SentenceReplacement(seed=seed), example(3, id=id)))[2]] += 1
    # Three donors (Beta#1 is no fact here), 600 draws: 200 ± 5 standard deviations (11.5).
    assert set(drawn) == {"Beta#1", "Beta#2", "Beta#3"}
    assert all(abs(n - 200) < 58 for n in drawn.values())


@pytest.mark.parametrize(
    ("alpha", "others", "donor", "flag"),
    [
        (["Fact a.", "Idle a."], [("Gamma", ["Idle g."])], "Alpha#1", "fallback_other_gold_title"),
        (["Fact a."], [("Gamma", ["Idle g."])], "Gamma#0", "fallback_other_document"),
        (["Fact a."], [], "Beta#0", "fallback_unchanged"),
        # A second copy of a supporting sentence is no donor.
        (["Fact a.", "Fact b."], [("Gamma", ["Fact a."])], "Beta#0", "fallback_unchanged"),
    ],
)
def test_a_title_with_no_idle_sentence_falls_back_and_says_so(example, shake, alpha, others, donor, flag):
    question = example(facts=[("Alpha", 0), ("Beta", 0)], alpha=alpha, beta=["Fact b."], others=others)
    evidence = shake(SentenceReplacement(), question)
    assert ids(evidence) == ["Alpha#0", donor]
    assert evidence.flags == (flag,)
    assert [edit.note for edit in evidence.edits] == (
        [] if flag == "fallback_unchanged" else [f"{flag.removeprefix('fallback_')}: {donor}"]
    )


def test_donors_are_not_drawn_twice(example, shake):
    question = example(beta=["B0.", "B1.", "B2."])
    evidence = shake(SentenceReplacement(), question)
    assert evidence.flags == ("fallback_other_gold_title",)
    first, second = ids(evidence)[2:]
    assert first == "Beta#2"
    assert second in ("Alpha#1", "Alpha#3")
