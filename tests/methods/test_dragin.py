"""DRAGIN: hand-written replies and attention, and the real model against a direct computation."""

import functools
import itertools

import numpy as np
import pytest
import torch
from by_hand import completion, drive, even_attention, hit
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM

from shaketable import catalog, weights
from shaketable.engine.probe import read_each
from shaketable.engine.sweep import SweepEngine
from shaketable.methods.dragin import Dragin
from shaketable.methods.rind_qfs import token_attention
from shaketable.methods.words import spell_bytes
from shaketable.types import Completion, Generate, Message, Note, Probe, Prompt, Sampling

pytestmark = pytest.mark.weights  # spaCy's, for sentences and tags.

WORDING = "Whom did Zeus meet?"
HITS = [hit(f"Passage {i}.") for i in range(5)]
# One token a word; attention and entropy of section 3.4: v = .5, .5, .9, .0375, .625.
SENTENCE, ATTENTION, ENTROPY = "Zeus met Leda near Sparta.", [1, 0.4, 0.2, 0.3, 0.1], [0.2, 0.5, 1.8, 0.05, 2.5]


def attention_of(values):
    """A look at each token from itself alone, with these weights."""
    return np.diag(np.array(values, np.float32))[None]


def reading(n):
    """The sentence alone gets the worked attention; longer texts are for QFS: every token looks at `Zeus`, place 2."""
    if n == len(ATTENTION):
        return attention_of(ATTENTION)
    attention = even_attention(n)
    attention[:, 3:, 2] += 1
    return attention


def replies(*after, entropy=ENTROPY):
    return [completion(SENTENCE, entropy=entropy, processed_entropy=[0.0] * 5), *after]


def test_a_word_above_the_threshold_starts_a_search_and_the_note_says_why():
    driven = drive(Dragin(), WORDING, replies("Zeus met Leda. So the answer is Leda."), hits=HITS, attention=reading)
    [note, *_] = driven.notes("rind")
    assert note["words"] == SENTENCE.split()
    assert note["scores"] == [0.5, 0.5, 0.9, 0.0375, 0.625]
    assert note["hits"] == note["content_hits"] == [2, 4]
    assert note["triggered"]
    assert len(driven.queries) == 1


def test_the_query_has_the_content_words_that_were_looked_at():
    driven = drive(Dragin(keep_top_n=1), WORDING, replies("So the answer is Leda."), hits=HITS, attention=reading)
    assert driven.queries == ["Zeus"]
    assert driven.notes("qfs")[0]["words"] == ["Zeus"]
    everything = drive(Dragin(), WORDING, replies("So the answer is Leda."), hits=HITS, attention=reading)
    # Content words of question and sentence without the hits, in the order of the text.
    assert everything.queries == ["Zeus meet? Zeus met"]


def test_the_query_s_attention_is_read_after_the_beginning_mark_and_the_trigger_s_is_not():
    """The authors' code encodes the query's text as the tokenizer does, and the generated tokens as they are."""
    driven = drive(Dragin(), WORDING, replies("So the answer is Leda."), hits=HITS, attention=reading)
    trigger, query = [step for step in driven.of(Probe) if "attention" in step.wants][:2]
    assert query.text == f"{WORDING} {SENTENCE}"
    assert query.beginning_mark
    assert not trigger.beginning_mark


def test_a_triggered_round_asks_twice_and_keeps_the_first_sentence_of_the_second():
    first = completion("Leda is known. " + SENTENCE, entropy=[0.0] * 3 + ENTROPY)
    look = lambda n: attention_of([0.1] * 3 + ATTENTION) if n == 8 else reading(n)  # noqa: E731
    again = "Zeus met Leda near the Eurotas. It was dark."
    driven = drive(Dragin(), WORDING, [first, again, "So the answer is Leda."], hits=HITS, attention=look)
    first_ask, second_ask, third_ask = driven.of(Generate)
    assert first_ask.messages[-1].role == "user"
    assert second_ask.messages[-1] == Message(role="assistant", content="Leda is known.")
    assert "[1] Passage 0.\n[2] Passage 1.\n[3] Passage 2.\n" in second_ask.messages[-2].content
    assert "Passage 3." not in second_ask.messages[-2].content
    assert third_ask.messages[-1].content == "Leda is known. Zeus met Leda near the Eurotas."
    assert "Passage" not in third_ask.messages[-2].content, "the evidence serves one sentence"
    assert driven.answer.text == "Leda"
    assert len(driven.answer.hits) == 3


def test_evidence_can_be_kept_for_later_sentences():
    driven = drive(
        Dragin(keep_documents=True),
        WORDING,
        replies("It was Leda.", "So the answer is Leda."),
        hits=HITS,
        attention=reading,
    )
    assert "Passage 0." in driven.of(Generate)[2].messages[-2].content


def test_a_calm_text_is_taken_as_it_is():
    driven = drive(Dragin(), WORDING, [completion("Leda. So the answer is Leda.", entropy=0.0)])
    assert driven.queries == []
    assert driven.answer.text == "Leda"
    assert driven.purposes == [""]


def test_a_text_without_the_phrase_is_completed_by_a_call_that_is_marked():
    driven = drive(
        Dragin(), WORDING, [completion("Leda.", entropy=0.0), completion("", entropy=0.0), " Leda of Sparta."]
    )
    assert driven.purposes == ["", "", "answer_completion"]
    last = driven.of(Generate)[-1]
    assert last.max_tokens == 20
    assert last.messages[-1].content == "Leda. So the answer is"
    assert driven.answer.text == "Leda of Sparta"
    assert driven.answer.working == "Leda. So the answer is Leda of Sparta."


def test_the_text_is_cut_where_the_model_invents_the_next_example():
    said = "It was Leda. Question: Who was Leda? Answer: So the answer is a queen."
    driven = drive(Dragin(), WORDING, [completion(said, entropy=0.0), " Leda."])
    assert driven.purposes == ["", "answer_completion"]
    assert driven.answer.text == "Leda"


def test_the_text_grows_no_further_than_the_limit():
    """Each round adds four tokens; with the beginning mark 4, 8, 12 + 1 > 12 ends the third."""
    driven = drive(Dragin(max_length=12), WORDING, [completion("a b c d", entropy=0.0)])
    assert driven.purposes == ["", "", "", "answer_completion"]


# --- every quirk of the authors' code has a switch -------------------------------------------------


def test_processed_entropy_decides_when_asked_for():
    calm = drive(Dragin(distribution="processed"), WORDING, replies("So the answer is Leda."), attention=reading)
    assert calm.queries == []
    assert Dragin(distribution="processed").wants == ("attention", "processed_entropy", "token_ids")


def test_words_without_content_start_a_search_only_where_the_filter_comes_after():
    said = [completion("It was the one.", entropy=[9.0, 0.0, 0.0, 0.0]), "So the answer is Leda."]
    assert drive(Dragin(), WORDING, said).queries == []
    after = drive(Dragin(content_filter="after"), WORDING, said)
    assert after.notes("rind")[0]["content_hits"] == []
    # No hit is left, so no weights are defined: the first content words.
    assert after.queries == ["Zeus meet? one."]
    assert after.notes("qfs")[0]["weights"] is None
    assert drive(Dragin(content_filter="off"), WORDING, said).notes("rind")[0]["content_hits"] == [0]


def test_attention_can_be_read_after_the_prompt_and_without_self():
    said = replies("So the answer is Leda.")
    driven = drive(Dragin(with_prompt=True), WORDING, said, attention=reading)
    assert driven.of(Probe)[0].before == driven.of(Generate)[0].messages
    assert drive(Dragin(), WORDING, said, attention=reading).of(Probe)[0].before == ()
    assert drive(Dragin(exclude_self=True), WORDING, said, attention=reading).notes("rind")[0]["scores"] == [0.0] * 5


def test_long_queries_lose_their_head():
    driven = drive(Dragin(query_tokens=2), WORDING, replies("So the answer is Leda."), attention=reading)
    assert driven.queries == ["Zeus met"]


@pytest.mark.parametrize(
    ("mode", "query"),
    [
        ("current", SENTENCE),
        ("current_without_hits", "Zeus met near"),
        ("everything", WORDING),
        ("last_sentence", WORDING),
        ("last_tokens", "meet?"),
    ],
)
def test_other_queries(mode, query):
    method = Dragin(query=mode, keep_top_n=1)
    assert drive(method, WORDING, replies("So the answer is Leda."), attention=reading).queries == [query]


def test_the_plain_layout_shows_examples_and_text_as_one():
    driven = drive(Dragin(layout="plain", n_examples=1), WORDING, replies("It was Leda."), attention=reading)
    first, second, third, *_ = driven.of(Generate)
    assert first.layout == "plain"
    assert len(first.messages) == 1
    assert first.messages[0].content.count("Question:") == 2
    assert first.messages[0].content.endswith(f"Question: {WORDING}\nAnswer:")
    assert third.messages[0].content.endswith("\nAnswer: It was Leda.")
    assert second.messages[0].content.endswith("Answer:")


def test_settings_out_of_range_are_named():
    with pytest.raises(ValueError, match="n_examples is 9; give 1 to 8"):
        Dragin(n_examples=9)


# --- the real model against a direct computation ----------------------------------------------------


@functools.cache
def library_model():
    return AutoModelForCausalLM.from_pretrained(weights.locate("smollm2"), attn_implementation="eager")


@torch.inference_mode()
def last_attention(ids):
    return library_model()(torch.tensor([ids]), output_attentions=True).attentions[-1][0].numpy()


@torch.inference_mode()
def direct_needs(tokenizer, prompt_ids, own_ids, n_words):
    """RIND of the first words from logits and attention, one token after another."""
    logits = library_model()(torch.tensor([[*prompt_ids, *own_ids]])).logits[0]
    attention = last_attention(own_ids)
    words = []
    for i, token in enumerate(own_ids):
        p = torch.softmax(logits[len(prompt_ids) - 1 + i], -1)
        entropy = float(-(p * torch.log(p + 1e-10)).sum())
        looked = np.mean([head[:, i].max() for head in attention])
        if i == 0 or tokenizer.decode([token])[0] in " \n":
            words.append(([], []))
        words[-1][0].append(looked)
        words[-1][1].append(entropy)
    words = words[:n_words]
    total = sum(sum(looked) for looked, _ in words)
    return [sum(looked) / total * np.mean(entropy) * n_words for looked, entropy in words]


def direct_weights(tokenizer, text, hit_words):
    """QFS weights of every word of a text after the beginning mark, with plain loops."""
    ids = [tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]
    mean = last_attention(ids).mean(0)
    starts = [i for i, token in enumerate(ids) if i == 1 or (i and tokenizer.decode([token])[0] == " ")] + [len(ids)]
    spans = list(itertools.pairwise(starts))
    total = np.zeros(len(ids))
    for word in hit_words:
        start, end = spans[word]
        for token in range(start, end):
            row = mean[token - 1, :start]
            total[:start] += row / row.sum() / (end - start) / len(hit_words)
    return [total[start:end].sum() for start, end in spans]


@pytest.mark.slow
def test_rind_and_qfs_are_those_of_a_direct_computation_alone_and_in_a_batch():
    model = catalog.build("model", "smollm2")
    method = Dragin(n_examples=1, max_length=24, threshold=0.5)
    wordings = ["Who wrote the novel Frankenstein?", "Which river flows through the capital of Hungary?"]
    read = []
    for wording in wordings:
        going, reply, qfs_text, note = method.answer(wording), None, None, None
        while qfs_text is None or note is None or "weights" not in note:
            step = going.send(reply)
            reply = None
            if isinstance(step, Generate):
                sampling = Sampling(temperature=0.0, max_tokens=step.max_tokens)
                [reply] = model.generate([Prompt(messages=step.messages, sampling=sampling, seed=0, wants=step.wants)])
                assert isinstance(reply, Completion)
                generated, messages = reply, step.messages
            elif isinstance(step, Probe):
                [reply] = model.probe([step])
                qfs_text = step.text if step.token_ids is None else None
                read.append(step)
            elif isinstance(step, Note):
                note = dict(step.values)
                if step.name == "rind":
                    own = generated.extras["token_ids"][: -1 if generated.finish_reason == "end" else None]
                    ids = model.engine.encode(messages, "chat")
                    if note["sentence"] == generated.text.strip()[: len(note["sentence"])]:
                        expected = direct_needs(model.engine.tokenizer, ids, own, len(note["words"]))
                        assert note["scores"] == pytest.approx(expected, abs=2e-4)
                        first = note
        words = qfs_text.split()
        hits = [len(words) - len(first["words"]) + place for place in first["content_hits"]]
        expected = direct_weights(model.engine.tokenizer, qfs_text, hits)
        for word, weight in zip(note["words"], note["weights"], strict=True):
            assert any(words[i] == word and abs(expected[i] - weight) < 2e-4 for i in range(len(words)))
    # The scores above are rounded to 1e-4; the numbers below are not. A padded batch, as on a GPU:
    together = SweepEngine(weights.locate("smollm2"), n_rows=8)
    together.device = "cpu:0"
    for step, one in zip(read, read_each(together, read), strict=True):
        marks = [together.tokenizer.bos_token_id] if step.beginning_mark else []
        ids = [*marks, *(step.token_ids or together.tokenizer(step.text)["input_ids"])]
        expected = last_attention(ids)[:, len(marks) :, len(marks) :]
        np.testing.assert_allclose(one.extras["attention"], expected, atol=1e-4)
        np.testing.assert_allclose(token_attention(one.extras["attention"]), expected.max(1).mean(0), atol=1e-4)


# --- tokens as the authors compare them -----------------------------------------------------------------------------

FOREIGN = "Família é boa. " + SENTENCE


@pytest.mark.parametrize("text", ["Família", "Łódź – 12 °C", "起き", "plain words", "a\tb\n"])
def test_words_are_spelled_as_byte_level_vocabularies_spell_them(text):
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert spell_bytes(text) == "".join(piece for piece, _ in whole)


@pytest.mark.parametrize(
    ("tokens", "first", "second"),
    [
        ("text", ["Família", "é", "boa."], SENTENCE.split()),
        ("authors", [], ["FamÃŃlia", "Ã©", "boa.", *SENTENCE.split()]),
    ],
)
def test_sentences_with_other_letters_keep_their_words(tokens, first, second):
    said = completion(FOREIGN, entropy=[0.0] * 8, finish="length")
    driven = drive(Dragin(tokens=tokens), WORDING, [said, "So the answer is Leda."], hits=HITS)
    words = {note["sentence"]: note["words"] for note in driven.notes("rind")}
    assert words["Família é boa."] == first
    assert words[SENTENCE] == second


@pytest.mark.parametrize(("tokens", "n_read"), [("text", 5), ("authors", 6)])
def test_the_end_mark_belongs_to_the_last_word_as_the_authors_have_it(tokens, n_read):
    said = completion(SENTENCE, entropy=[0.0] * 5 + [9.0])
    driven = drive(Dragin(tokens=tokens), WORDING, [said, "So the answer is Leda."], hits=HITS)
    [trigger, *_] = [step for step in driven.of(Probe) if "attention" in step.wants]
    assert len(trigger.token_ids) == n_read
    [note, *_] = driven.notes("rind")
    assert len(note["words"]) == 5
    # Its entropy counts to the last word's: (0 + 9) / 2 of two tokens.
    assert bool(note["hits"]) is (tokens == "authors")
