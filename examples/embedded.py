"""The embedded model and the built-in corpus, for the chains beside this file: swap in your own."""

import functools

import shaketable
from shaketable.types import Message, Prompt, Query, Question, Sampling


@functools.cache
def part(kind: str, text: str):
    return shaketable.build(kind, text)


def complete(prompt: str, temperature: float = 0.0, seed: int = 0, max_tokens: int = 24) -> str:
    """What SmolLM2 says."""
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    asked = Prompt(messages=(Message(role="user", content=prompt),), sampling=sampling, seed=seed)
    [reply] = part("model", "smollm2(batching='free')").generate([asked])
    return reply.text.strip()


def find(query: str, k: int = 3) -> list[tuple[str, str]]:
    """Title and text of the best passages, by BM25."""
    nobody = Question(id="", text=query, answers=())
    [hits] = part("retriever", "bm25").search([Query(text=query, question=nobody)], k)
    return [(hit.passage.title, hit.passage.text) for hit in hits]
