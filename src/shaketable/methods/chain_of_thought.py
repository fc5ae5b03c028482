"""Sentence after sentence from worked examples, up to the words "the answer is": the frame of the DRAGIN family."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from shaketable.methods.asking import Layout, converse, gathered, laid_out, numbered, search
from shaketable.methods.prompted import OWN, Prompted
from shaketable.prompts import CHAIN_EXAMPLES, CHAIN_QUESTION, CHAIN_QUESTION_FROM_CONTEXT, Template
from shaketable.prompts.own import Replaceable
from shaketable.text.language import PACKAGES, sentences
from shaketable.types import Answer, Completion, Effort, Hit, Message, Reply, Step

PHRASE = "the answer is"
CLOSING = f"So {PHRASE}"
CLOSING_TOKENS = 20
NO_ANSWER = "nothing_after_the_answer_phrase"

# The model has finished and invents the next example.
NEXT_BLOCK = re.compile(r"(?:^|\s)(?:Question|Note):")

PROMPTS = (CHAIN_EXAMPLES, CHAIN_QUESTION, CHAIN_QUESTION_FROM_CONTEXT)
WITH_EVIDENCE = Replaceable(
    template=CHAIN_QUESTION_FROM_CONTEXT,
    slots={"context": "documents", "question": "question"},
    use="the question after the worked examples, with evidence",
)
WITHOUT_EVIDENCE = Replaceable(
    template=CHAIN_QUESTION, slots={"question": "question"}, use="the question after the worked examples"
)

Distribution = Literal["raw", "processed"]
"""Of each token: the model's own distribution at temperature 1, or the one really sampled, after temperature, top-p and
top-k. Raw doubt means the same at every temperature. Processed doubt shrinks with the temperature, to none at 0."""


@dataclass(frozen=True, kw_only=True)
class ChainOfThought(Prompted):
    """What such methods share. The examples are our own; the DRAGIN code has other ones for each dataset.

    Special tokens never reach the text, and the examples are turns of a conversation unless the layout is
    `plain`; the DRAGIN code keeps the former and knows only the latter.
    """

    question_prompt: str | None = field(default=None, metadata=OWN)
    """As `prompt`, for a question that is asked without evidence."""
    max_length: int = 64
    """G: new tokens of one generation at most, and the length beyond which the text does not grow."""
    n_examples: int = 6
    """Worked examples before the question, 1 to 8."""
    layout: Layout = "chat"
    """`plain` shows examples and question as raw text: for models without a chat template, and for reasoning models,
    which in a chat spend `max_length` thinking."""

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = PACKAGES
    """By which text is cut into sentences."""
    usual_calls: ClassVar[float] = 4.0
    """As of the embedded model: two or three rounds, some of them written twice, and a closing."""
    prompts: ClassVar[tuple[Template, ...]] = PROMPTS

    @property
    def turn_tokens(self) -> int:
        return self.max_length

    def __post_init__(self) -> None:
        super().__post_init__()
        check_examples(self.n_examples)
        if self.max_length < 1:
            raise ValueError(f"max_length is {self.max_length}; it must be above 0.")

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": WITH_EVIDENCE, "question_prompt": WITHOUT_EVIDENCE}

    def asked(self, wording: str, text: str = "", hits: tuple[Hit, ...] = ()) -> tuple[Message, ...]:
        """Examples, evidence, the question, and the text to go on from."""
        if hits:
            question = self.fill("prompt", context=numbered(hits), question=wording)
        else:
            question = self.fill("question_prompt", question=wording)
        return chain(question, text, self.n_examples, self.layout)

    def ask(
        self,
        wording: str,
        text: str = "",
        hits: tuple[Hit, ...] = (),
        *,
        n_tokens: int | None = None,
        wants: tuple[str, ...] = (),
    ) -> Generator[Step, Reply, Completion]:
        """What follows the text so far."""
        messages = self.asked(wording, text, hits)
        n_tokens = n_tokens or self.max_length
        reply = yield from converse(messages, layout=self.layout, max_tokens=n_tokens, wants=wants)
        if reply.thoughts and not reply.text.strip() and reply.finish_reason == "length":
            # Nothing was said that could be wrong: a failure, not an empty answer.
            raise ValueError(
                f"The model spent all {n_tokens} tokens of a step thinking and said nothing. Give the method "
                "layout='plain', in which no thought is opened, or a max_length with room for thoughts and sentences."
            )
        return reply

    def rounds(self, n: int, *, n_calls: int = 1, n_passages: int) -> Effort:
        """Rounds of as many calls of full length, and the one that completes the answer."""
        n_tokens = n * n_calls * self.max_length + CLOSING_TOKENS
        return Effort(n_calls=n * n_calls + 1, n_tokens=n_tokens, n_passages=n_passages)

    def search_as_it_writes(
        self, wording: str, k: int, piece_of: Callable[[Completion], tuple[str, float]], n_tokens: int | None = None
    ) -> Generator[Step, Reply, Answer]:
        """A search before every piece of text, with the piece before it; a piece comes with its number of tokens."""
        text, query, n_written = "", wording, 0.0
        gathered_hits: tuple[Hit, ...] = ()
        while True:
            hits = yield from search(query, k)
            gathered_hits = gathered(gathered_hits, hits)
            reply = yield from self.ask(wording, text, hits, n_tokens=n_tokens)
            query, n_new = piece_of(reply)
            text = join(text, query)
            n_written += n_new
            if not query or PHRASE in text or n_written > self.max_length:
                return (yield from self.conclude(wording, text, gathered_hits))

    def conclude(
        self, wording: str, text: str, hits: tuple[Hit, ...] = (), shown: tuple[Hit, ...] = ()
    ) -> Generator[Step, Reply, Answer]:
        """The answer that the text ends in."""
        return (yield from conclude(lambda text: self.asked(wording, text, shown), text, hits, self.layout))


def answering(max_tokens: int, n_examples: int, n_passages: int = 0) -> Effort:
    """One generation; after worked examples a second one may have to complete the answer."""
    if not n_examples:
        return Effort(n_calls=1, n_tokens=max_tokens, n_passages=n_passages)
    return Effort(n_calls=2, n_tokens=max_tokens + CLOSING_TOKENS, n_passages=n_passages)


class WithExamples(Prompted):
    """What methods share that may reason after worked examples, or ask the bare question."""

    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    n_examples: int
    layout: Layout

    def __post_init__(self) -> None:
        super().__post_init__()
        check_examples(self.n_examples, least=0)

    def reason(self, question: str, hits: tuple[Hit, ...] = ()) -> Generator[Step, Reply, Answer]:
        """The answer that a chain of thought after the examples ends in."""

        def asked(text: str) -> tuple[Message, ...]:
            return chain(question, text, self.n_examples, self.layout)

        reply = yield from converse(asked(""), layout=self.layout)
        return (yield from conclude(asked, reply.text, hits, self.layout))


def check_examples(n: int, least: int = 1) -> None:
    if not least <= n <= len(_examples()):
        raise ValueError(f"n_examples is {n}; give {least} to {len(_examples())}.")


def conclude(
    asked: Callable[[str], tuple[Message, ...]], text: str, hits: tuple[Hit, ...], layout: Layout
) -> Generator[Step, Reply, Answer]:
    """The answer that the text ends in. If it has none, the model is `asked` once more, to go on from the text."""
    text = NEXT_BLOCK.split(text, maxsplit=1)[0].strip()
    if PHRASE not in text:
        text = join(text, CLOSING)
        reply = yield from converse(asked(text), layout=layout, max_tokens=CLOSING_TOKENS, purpose="answer_completion")
        text = join(text, NEXT_BLOCK.split(reply.text, maxsplit=1)[0])
    answer = text.partition(PHRASE)[2].strip(" :\n").removesuffix(".").strip()
    return Answer(text=answer, working=text, hits=hits, reason=None if answer else NO_ANSWER)


def chain(question: str, text: str, n_examples: int, layout: Layout) -> tuple[Message, ...]:
    """Examples, the question, and the text to go on from."""
    examples = [(CHAIN_QUESTION.fill(question=asked), answer) for asked, answer in _examples()[:n_examples]]
    turns = [Message(role="user", content=question)]
    if text:
        turns.append(Message(role="assistant", content=text))
    for asked, answer in reversed(examples):
        turns[:0] = [Message(role="user", content=asked), Message(role="assistant", content=answer)]
    return laid_out(tuple(turns), layout)


def join(*texts: str) -> str:
    """The texts one after another, one space between them."""
    return " ".join(stripped for text in texts if (stripped := text.strip()))


def first_sentence(text: str) -> str:
    return next(iter(sentences(text)), "")


def of_distribution(extra: str, distribution: Distribution) -> str:
    """The name of what to ask a model for."""
    return extra if distribution == "raw" else f"processed_{extra}"


def share_of_tokens(reply: Completion, kept: str) -> float:
    """About how many of a reply's tokens the kept part has, one at least; an endpoint cannot be asked to count."""
    return max(1.0, reply.n_tokens * min(len(kept) / max(len(reply.text.strip()), 1), 1.0)) if kept else 0.0


def _examples() -> list[tuple[str, str]]:
    blocks = [block.split("\nAnswer: ") for block in CHAIN_EXAMPLES.text.split("\n\n")]
    return [(asked.removeprefix("Question: "), answer) for asked, answer in blocks]
