"""The gate works both ways: what readers call good passes, and much of what they call broken or changed does not."""

import pytest
from labelled_wordings import judge, load_own, load_published
from real_questions import needs_data


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
