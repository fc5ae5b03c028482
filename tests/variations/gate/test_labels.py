"""The gate works both ways: what readers call good passes, and much of what they call broken or changed does not."""

import json
from pathlib import Path

import pytest
from labelled_wordings import judge, load_own, load_published
from real_questions import needs_data

from shaketable.variations.gate.asked import asking_trouble
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.imperative import is_command

INVENTED = Path(__file__).parent / "invented_labels.jsonl"
"""Paraphrases written for this test, labelled good, yesno (it invites `yes`), changed or broken. Rules were
written with the first 94 in view; the last 48 were written afterwards."""
LABELS = ("good", "yesno", "changed", "broken")


def share_refused(pairs):
    assert pairs
    return sum(judgement.refused is not None for _, judgement in pairs) / len(pairs)


def told(pairs):
    """What a failing test shows."""
    return [(each.kind, each.wording, judgement.refused and judgement.refused.text) for each, judgement in pairs]


@pytest.mark.weights
def test_good_wordings_of_the_built_in_questions_pass_and_bad_ones_do_not():
    labelled = load_own()
    pairs = list(zip(labelled, judge(labelled), strict=True))
    refused_good = [pair for pair in pairs if pair[0].is_good and pair[1].refused]
    assert refused_good == [], told(refused_good)
    for label, least in (("yesno", 1.0), ("changed", 0.8), ("broken", 0.2)):
        of_label = [pair for pair in pairs if pair[0].label == label]
        assert share_refused(of_label) >= least, told([pair for pair in of_label if not pair[1].refused])


def verdict(each: dict[str, str]) -> Refusal | None:
    """What asking alone has against a wording, or the part's own check of a command."""
    refused = asking_trouble(each["original"], each["wording"])
    if refused is None and each["kind"] == "imperative" and not is_command(each["wording"]):
        return Refusal(kind="no_command", text="it is no command")
    return refused


@pytest.mark.weights
def test_invented_paraphrases_are_told_apart_by_how_they_ask():
    rows = [json.loads(line) for line in INVENTED.read_text("utf-8").splitlines()]
    refused = {label: [verdict(row) is not None for row in rows if row["label"] == label] for label in LABELS}
    assert sum(refused["good"]) == 0, [row for row in rows if row["label"] == "good" and verdict(row)]
    assert len(refused["good"]) == 73 and sum(map(len, refused.values())) == 142
    n_bad = sum(sum(refused[label]) for label in LABELS[1:])
    assert n_bad / (142 - 73) >= 0.9
    assert sum(refused["yesno"]) >= len(refused["yesno"]) - 1


@pytest.mark.weights
@pytest.mark.slow
@needs_data
def test_of_good_rewrites_by_models_at_most_one_in_twenty_is_refused():
    labelled = load_published()
    pairs = list(zip(labelled, judge(labelled), strict=True))
    for held_out in (False, True):
        of_models = [pair for pair in pairs if pair[0].maker == "model" and pair[0].is_held_out == held_out]
        good = [pair for pair in of_models if pair[0].is_good]
        assert share_refused(good) <= 0.05, told([pair for pair in good if pair[1].refused])
    by_rules = [pair for pair in pairs if pair[0].maker.startswith("rules") and pair[0].label == "yesno"]
    assert share_refused(by_rules) == 1
