"""A reasoning model goes on from what it really wrote, whatever its chat template does with thoughts."""

import pytest
from tiny import write_model

from shaketable.engine.sweep import SweepEngine
from shaketable.methods.search_o1 import BEGIN_QUERY, END_QUERY
from shaketable.types import Message, Prompt, Sampling

# As QwQ's and DeepSeek R1's do: the generation prompt opens a thought, and an assistant's message loses its own.
OPENING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "[a]\n{{ m.content.split('</think>')[-1].lstrip('\n') }}[end]\n"
    "{% else %}[{{ m.role }}]\n{{ m.content }}[end]\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[a]\n<think>\n{% endif %}"
)
# As Qwen3's does: the last message is taken apart and gets a thought, an empty one if need be.
REWRITING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}[a]\n<think>\n"
    "{{ m.content.split('</think>')[0].split('<think>')[-1].strip('\n') if '</think>' in m.content else '' }}\n</think>"
    "\n\n{{ m.content.split('</think>')[-1].lstrip('\n') }}[end]\n"
    "{% else %}[{{ m.role }}]\n{{ m.content }}[end]\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[a]\n{% endif %}"
)
QUESTION = Message(role="user", content="Who painted it?")
SEARCHED = f"I look. {BEGIN_QUERY}painter{END_QUERY}\n\n[result]\n\n"
WRITTEN = {
    "inside a thought": f"<think>\nHm. {SEARCHED}",
    "after a thought": f"<think>\nHm.\n</think>\n\n{SEARCHED}",
    "with spaces": f"<think>\n\n  Hm.  {SEARCHED}  ",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return SweepEngine(write_model("llama", tmp_path_factory.mktemp("tiny") / "llama"))


def text_of(engine, *messages):
    return engine.tokenizer.decode(engine.encode(messages, "chat"))


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("template", [OPENING, REWRITING], ids=["opening", "rewriting"])
def test_what_was_written_follows_the_prompt_word_for_word(engine, template, written):
    engine.tokenizer.chat_template = template
    gone_on = text_of(engine, QUESTION, Message(role="assistant", content=written))
    assert gone_on == f"[user]\n{QUESTION.content}[end]\n[a]\n{written}"
    assert gone_on.count("<think>") == 1


def test_a_beginning_that_is_given_goes_through_the_template(engine):
    """A method that puts words into the model's mouth does not put them among its thoughts."""
    engine.tokenizer.chat_template = OPENING
    given = text_of(engine, QUESTION, Message(role="assistant", content="So the answer is"))
    assert given == f"[user]\n{QUESTION.content}[end]\n[a]\nSo the answer is"


def generated(engine, *messages, **sampling):
    prompt = Prompt(messages=messages, sampling=Sampling(temperature=1.0, **sampling), seed=1)
    [reply] = engine.generate([prompt])
    return reply


def test_a_thought_that_the_template_opened_belongs_to_what_was_written(engine):
    """A random model writes letters and no closing tag; cut off, all of them are thoughts."""
    engine.tokenizer.chat_template = OPENING
    cut = generated(engine, QUESTION, max_tokens=6)
    assert (cut.text, cut.finish_reason) == ("", "length")
    assert cut.written.startswith("<think>\n")
    assert cut.thoughts == cut.written.removeprefix("<think>\n").strip()

    first = cut.thoughts[0]
    stopped = generated(engine, QUESTION, max_tokens=6, stop=(first,))
    assert (stopped.text[-1], stopped.finish_reason) == (first, "stop")
    assert stopped.written == f"<think>\n{stopped.text}"


def test_what_goes_on_opens_no_second_thought(engine):
    engine.tokenizer.chat_template = OPENING
    reply = generated(engine, QUESTION, Message(role="assistant", content="<think>\n"), max_tokens=6)
    assert "<think>" not in reply.written + reply.text


def test_without_thoughts_the_text_is_all_that_was_written(engine):
    engine.tokenizer.chat_template = REWRITING
    reply = generated(engine, QUESTION, max_tokens=6)
    assert (reply.thoughts, reply.written) == ("", "")
    assert reply.text
