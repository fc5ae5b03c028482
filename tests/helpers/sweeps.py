"""Prompts for local engines at several temperatures, and the library's own answers."""

from transformers import AutoModelForCausalLM, AutoTokenizer

from shaketable.types import Completion, Message, Prompt, Sampling

LONG = "a tiny model reads letter by letter here"
SHORT = "w5 !"
TURNS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[a]{% endif %}"


def prompt(text, temperature, seed, *, layout="plain", max_tokens=12, wants=(), **more):
    return Prompt(
        messages=(Message(role="user", content=text),),
        sampling=Sampling(temperature=temperature, max_tokens=max_tokens, **more),
        seed=seed,
        layout=layout,
        wants=wants,
    )


def sweep(texts=(LONG, SHORT), temperatures=(0.0, 0.7, 1.0, 2.0), repeats=3, **more):
    return [
        prompt(text, temperature, seed=1000 * i + 10 * j + repeat, **more)
        for i, text in enumerate(texts)
        for j, temperature in enumerate(temperatures)
        for repeat in range(repeats)
    ]


def after_an_example(question, temperature=1.5):
    example = (Message(role="user", content="two and two?"), Message(role="assistant", content="four"))
    messages = (*example, Message(role="user", content=question))
    sampling = Sampling(temperature=temperature, max_tokens=12)
    return [Prompt(messages=messages, sampling=sampling, seed=i) for i in range(4)]


def in_turns(kind, path, **more):
    """An engine of this kind whose prompts have openings, however short."""
    engine = kind(path, **more)
    engine.tokenizer.chat_template = TURNS
    return engine


def texts(replies):
    assert all(isinstance(reply, Completion) for reply in replies), replies
    return [reply.text for reply in replies]


def library_text(path, text):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    made = model.generate(ids, do_sample=False, max_new_tokens=12)[0, ids.shape[1] :]
    return tokenizer.decode(made, skip_special_tokens=True)
