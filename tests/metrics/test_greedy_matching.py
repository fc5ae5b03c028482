from __future__ import annotations

import pytest
from texts import pairs

from shaketable import weights
from shaketable.metrics import greedy_matching
from shaketable.metrics.greedy_matching import best_matches, match
from shaketable.text.encoder import TokenStates, encoder

NAME = "all-MiniLM-L6-v2"


def test_greedy_matching_worked_by_hand() -> None:
    import torch

    # Candidate words (1,0), (0,1); gold words (1,0), (.6,.8), (.8,-.6); no marks.
    # Precision: (1 + .8) / 2 = .9; recall: (1 + .8 + .8) / 3 = .866667; F1 = .883019.
    candidate = TokenStates(states=torch.tensor([[1.0, 0.0], [0.0, 1.0]]), is_word=torch.tensor([True, True]))
    gold = TokenStates(
        states=torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.8, -0.6]]), is_word=torch.tensor([True, True, True])
    )
    assert match([candidate], [gold]) == pytest.approx([0.883019], abs=1e-6)
    # With the first token of each a mark: precision .8 (to the second gold word), recall of (.6,.8)
    # and (.8,-.6) stays .8, since words may match a mark; F1 = .8.
    marked_candidate = TokenStates(states=candidate.states, is_word=torch.tensor([False, True]))
    marked_gold = TokenStates(states=gold.states, is_word=torch.tensor([False, True, True]))
    assert match([marked_candidate, candidate], [marked_gold, gold]) == pytest.approx([0.8, 0.883019], abs=1e-6)


@pytest.mark.weights
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_values_equal_those_of_the_bert_score_package(n: int) -> None:
    from bert_score import BERTScorer  # the authors' implementation

    texts = pairs(n, 4)
    oracle = BERTScorer(model_type=str(weights.locate(NAME)), num_layers=5, device="cpu")
    # One pair at a time: in larger batches bert-score lets a word match another pair's padding.
    expected = oracle.score([text for text, _ in texts], [gold for _, gold in texts], batch_size=1)[2].tolist()
    found = best_matches(encoder(NAME), 5, [(text, (gold,)) for text, gold in texts])
    assert [found[text, (gold,)] for text, gold in texts] == pytest.approx(expected, abs=1e-5)


@pytest.mark.weights
def test_the_best_reference_counts_and_an_answer_may_have_several_lists_of_them() -> None:
    one = encoder(NAME)
    alone = {
        gold: best_matches(one, 5, [("It is Paris.", (gold,))])["It is Paris.", (gold,)] for gold in ("Paris", "Rome")
    }
    asked = [("It is Paris.", ("Rome", "Paris")), ("It is Paris.", ("Rome",)), ("Paris", ("Rome", "Paris"))]
    found = best_matches(one, 5, asked)
    assert [found[key] for key in asked] == pytest.approx([alone["Paris"], alone["Rome"], 1.0], abs=1e-6)


@pytest.mark.weights
def test_what_is_held_at_once_changes_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pairs(60, 5)
    asked = [(text, (gold, texts[i - 1][1])) for i, (text, gold) in enumerate(texts)]
    whole = best_matches(encoder(NAME), 5, asked)
    monkeypatch.setattr(greedy_matching, "GOLD_CHARACTERS", 200)
    monkeypatch.setattr(greedy_matching, "ANSWER_CHARACTERS", 100)
    monkeypatch.setattr(greedy_matching, "PAIRS_AT_ONCE", 3)
    assert best_matches(encoder(NAME), 5, asked) == pytest.approx(whole, abs=1e-6)


@pytest.mark.weights
def test_the_order_in_which_answers_come_changes_no_bit() -> None:
    asked = [(text, (gold,)) for text, gold in pairs(60, 6)]
    assert best_matches(encoder(NAME), 5, asked) == best_matches(encoder(NAME), 5, asked[::-1])
