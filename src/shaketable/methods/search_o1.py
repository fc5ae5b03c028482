"""Search-o1 (GB): the model reasons, writes its own queries, and gets what documents say about them."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from shaketable.methods.asking import (
    NEXT_BLOCKS,
    Layout,
    converse,
    gathered,
    generate,
    laid_out,
    note,
    own_words,
    search,
)
from shaketable.methods.prompted import OWN, Prompted
from shaketable.prompts import (
    ANSWER_CLOSED_BOOK,
    CHAIN_QUESTION,
    SEARCH_O1_EXAMPLES,
    SEARCH_O1_MULTI_HOP,
    SEARCH_O1_REASON,
    SEARCH_O1_SINGLE_HOP,
    Template,
)
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Steps
from shaketable.text.thoughts import CLOSE, OPEN
from shaketable.types import Answer, Completion, Effort, Hit, Message, Reply, Step

BEGIN_QUERY, END_QUERY = "<|begin_search_query|>", "<|end_search_query|>"
BEGIN_RESULT, END_RESULT = "<|begin_search_result|>", "<|end_search_result|>"
MARKERS = {
    "begin_query": BEGIN_QUERY,
    "end_query": END_QUERY,
    "begin_result": BEGIN_RESULT,
    "end_result": END_RESULT,
}
MULTI_HOP, SINGLE_HOP = (
    Replaceable(
        template=template,
        slots={slot: slot for slot in ("question", *MARKERS, "limit")},
        optional=frozenset({"begin_result", "end_result", "limit"}),
        use="how to search, and the question",
    )
    for template in (SEARCH_O1_MULTI_HOP, SEARCH_O1_SINGLE_HOP)
)
READING = Replaceable(
    template=SEARCH_O1_REASON,
    slots={"query": "query", "context": "documents", "heading": "heading"}
    | {slot: slot for slot in ("nothing", "reasoning")},
    optional=frozenset({"nothing", "reasoning"}),
    use="what the documents say about a query",
)
HEADING = "Helpful facts:"
NOTHING = "No helpful information found."
LIMIT = "The search limit is reached. No further search is possible."
REPEATED = "This query was searched before. Its result stands above."

BOX = "\\boxed{"
OPENING = "The final answer is \\boxed{"
OPENING_TOKENS = 20

AUTHORS = {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.05}
N_LAST = 3
"""Lines of the reasoning that are always shown, beside the first and those with markers. The authors write four, and
count the blank one after the last."""


@dataclass(frozen=True, kw_only=True)
class SearchO1(Prompted):
    """Li et al., arXiv 2501.05366, with the study's retriever in place of web search.

    The temperature is the study's, for both calls; the authors use 0.7, top-p 0.8 and top-k 20, and a
    repetition penalty of 1.05 with QwQ. A search that finds nothing is not read: it says so. An
    endpoint that hides which stop string it met is believed when a query is open.
    """

    reading_prompt: str | None = field(default=None, metadata=OWN)
    """As `prompt`, which gives the instruction and asks, for reading the documents that were found."""
    task: Literal["multi_hop", "single_hop", "by_dataset"] = "multi_hop"
    """The instruction, its example and the limit of searches. `by_dataset`: that of the question's dataset, single_hop
    for SQuAD, NQ and TriviaQA, settled when planning; keys hold what was settled."""
    max_searches: int | None = None
    """S; None: 15, or 5 for single_hop. Further queries are refused and still take a turn."""
    max_turns: int = 15
    """M: with as many searches allowed, a model that always searches never comes to answer."""
    k: int = 10
    document_characters: int = 3000
    """Of each document, title not counted."""
    max_tokens: int | None = None
    """Of one turn; None: the study's value. The authors have 8192, and 20480 for QwQ."""
    repetition_penalty: float | None = None
    """None: the study's value."""
    reason_in_documents: bool = True
    """False: the documents go into the reasoning as they are."""
    reason_sampling: Literal["study", "authors"] = "study"
    """How facts are drawn from documents: as everything else, or with the authors' values."""
    n_examples: int = 0
    """Worked examples as turns of the conversation, 3 at most, beside the one in the instruction. The authors have
    none; very small models search only after them."""
    on_missing: Literal["empty", "complete", "direct"] = "empty"
    """What becomes of a trial without a boxed answer. `complete` opens the box after what was written and lets the
    model fill it, as DRAGIN completes its answer; `direct` asks once more without search, as the authors' evaluation
    backs off at times. Neither call counts as the method's own."""
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    version: ClassVar[int] = 3
    renamed: ClassVar[Mapping[str, str]] = {"direct_fallback": "on_missing='direct'"}
    name: ClassVar[str] = "search_o1"
    searches: ClassVar[bool] = True
    usual_calls: ClassVar[float] = 2.5
    """As of the embedded model; larger ones search more often."""
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (
        SEARCH_O1_MULTI_HOP,
        SEARCH_O1_SINGLE_HOP,
        SEARCH_O1_REASON,
        SEARCH_O1_EXAMPLES,
        CHAIN_QUESTION,
        ANSWER_CLOSED_BOOK,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.n_examples <= len(_examples()):
            raise ValueError(f"n_examples is {self.n_examples}; give 0 to {len(_examples())}.")
        if self.max_turns < 1:
            raise ValueError(f"max_turns is {self.max_turns}; it must be above 0.")

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": SINGLE_HOP if self.task == "single_hop" else MULTI_HOP, "reading_prompt": READING}

    @property
    def turn_tokens(self) -> int | None:
        return self.max_tokens

    @property
    def follows_dataset(self) -> bool:
        return self.task == "by_dataset"

    def suited_to(self, hops: Literal["multi_hop", "single_hop"]) -> SearchO1:
        return replace(self, task=hops)

    def answer(self, wording: str) -> Steps:
        if self.follows_dataset:
            raise ValueError("task is 'by_dataset', which a plan settles. Outside a plan give multi_hop or single_hop.")
        limit = (15 if self.task == "multi_hop" else 5) if self.max_searches is None else self.max_searches
        asked = self._task(wording, limit)
        output = ""
        queries: list[str] = []
        gathered_hits: tuple[Hit, ...] = ()
        end = "out_of_turns"
        for turn in range(1, self.max_turns + 1):
            reply = yield from self._turn(asked, output)
            written = _written_text(reply)
            output += written
            query = _last_query(written)
            if not query or not output.rstrip().endswith(END_QUERY):
                end = "out_of_tokens" if reply.finish_reason == "length" else "no_box"
                yield from note("search_o1", turn=turn, query=query, decision="finished")
                break
            if len(queries) >= limit:
                decision, result, end = "limit", LIMIT, "search_limit"
            elif query in queries:
                decision, result = "repeated", REPEATED
            else:
                decision = "search"
                hits = yield from search(query, self.k)
                gathered_hits = gathered(gathered_hits, hits)
                result = yield from self._helpful(output, query, hits)
                queries.append(query)
            yield from note("search_o1", turn=turn, query=query, decision=decision)
            # The authors append line breaks here too. Some tokenizers cut white space at the end of a prompt otherwise
            # than before a word, into tokens that the model seldom saw there; so it writes its own.
            output += f"\n\n{BEGIN_RESULT}{as_data(result)}{END_RESULT}"
        text, reason = boxed(output), None
        if not text:
            reason = _why_empty(output, end)
            yield from note("search_o1", decision="missing", reason=reason, on_missing=self.on_missing)
            text, output = yield from self._mended(wording, asked, output)
        return Answer(text=text, working=output.strip(), hits=gathered_hits, reason=None if text else reason)

    def at_most(self, max_tokens: int) -> Effort:
        per_turn = max_tokens if self.max_tokens is None else self.max_tokens
        n_searches = min(self.max_turns, 15 if self.max_searches is None else self.max_searches)
        n_turns = self.max_turns + (n_searches if self.reason_in_documents else 0)
        mending = {"empty": 0, "complete": OPENING_TOKENS, "direct": max_tokens}[self.on_missing]
        return Effort(
            n_calls=n_turns + (mending > 0),
            n_tokens=n_turns * per_turn + mending,
            n_passages=self.k if self.reason_in_documents else self.k * n_searches,
        )

    def _mended(self, wording: str, asked: tuple[Message, ...], output: str) -> Generator[Step, Reply, tuple[str, str]]:
        """The answer where the output has none, and the output it stands in."""
        if self.on_missing == "direct":
            reply = yield from generate(ANSWER_CLOSED_BOOK.fill(question=wording), self.layout, purpose="direct_answer")
            return reply.text.strip(), output
        if self.on_missing == "empty":
            return "", output
        if OPEN in output and CLOSE not in output:
            output = f"{output.rstrip()}\n{CLOSE}"
        output = f"{output.rstrip()}\n\n{OPENING}".lstrip()
        messages = (*asked, Message(role="assistant", content=output))
        reply = yield from converse(
            laid_out(messages, self.layout), layout=self.layout, max_tokens=OPENING_TOKENS, purpose="answer_completion"
        )
        return _unboxed(_inside(reply.text)), output + reply.text

    def _task(self, wording: str, limit: int) -> tuple[Message, ...]:
        """The instruction, the examples as turns after it, and the question."""
        examples = _examples()[: self.n_examples]
        questions = [*(question for question, _ in examples), wording]
        asked = [CHAIN_QUESTION.fill(question=question) for question in questions]
        asked[0] = self.fill("prompt", question=questions[0], limit=str(limit), **MARKERS)
        turns = [Message(role="user", content=asked[0])]
        for (_, worked), question in zip(examples, asked[1:], strict=True):
            turns += [Message(role="assistant", content=worked), Message(role="user", content=question)]
        return tuple(turns)

    def _turn(self, asked: tuple[Message, ...], output: str) -> Generator[Step, Reply, Completion]:
        """The reasoning up to the next query, or to its end."""
        messages = (*asked, Message(role="assistant", content=output)) if output.strip() else asked
        sampling = {} if self.repetition_penalty is None else {"repetition_penalty": self.repetition_penalty}
        is_plain = self.layout == "plain"
        reply = yield from converse(
            laid_out(messages, self.layout),
            layout=self.layout,
            max_tokens=self.max_tokens,
            stop=(END_QUERY, *NEXT_BLOCKS) if is_plain else (END_QUERY,),
            sampling=sampling,
        )
        return own_words(reply) if is_plain else reply

    def _helpful(self, output: str, query: str, hits: tuple[Hit, ...]) -> Generator[Step, Reply, str]:
        """Reason in documents: what they say about the query, as the model reads them."""
        if not hits:
            return NOTHING
        documents = "\n\n".join(
            f"[{number}] {hit.passage.title}\n{hit.passage.text[: self.document_characters]}"
            for number, hit in enumerate(hits, 1)
        )
        if not self.reason_in_documents:
            return documents
        asked = self.fill(
            "reading_prompt",
            heading=HEADING,
            nothing=NOTHING,
            reasoning=shortened(output),
            query=query,
            context=documents,
        )
        reply = yield from generate(
            asked,
            self.layout,
            max_tokens=self.max_tokens,
            sampling=AUTHORS if self.reason_sampling == "authors" else {},
            purpose="reason_in_documents",
            opening=HEADING,
        )
        return facts(f"{HEADING} {reply.text}" if self.layout == "plain" else reply.text)


def _examples() -> list[tuple[str, str]]:
    blocks = (block.split("\n", 1) for block in SEARCH_O1_EXAMPLES.fill(**MARKERS).split("\n---\n"))
    return [(question.removeprefix("Question: "), worked) for question, worked in blocks]


def as_data(result: str) -> str:
    """What a search brought, which is data: a marker, a tag or a box in it is broken by a space, and means nothing."""
    for marker in (*MARKERS.values(), OPEN, CLOSE, BOX):
        result = result.replace(marker, f"{marker[0]} {marker[1:]}")
    return result


def facts(reading: str) -> str:
    """What stands after the last heading, in one line."""
    _, *after = re.split(re.escape(HEADING), reading, flags=re.IGNORECASE)
    return (" ".join(after[-1].split()) if after else "") or NOTHING


def boxed(output: str) -> str:
    r"""The last `\boxed{...}`; two on one line are taken for one, as in the authors' code. Empty: there is none."""
    boxes = _braced(output, BOX)
    return _unboxed(boxes[-1]) if boxes else ""


def _braced(text: str, opening: str) -> list[str]:
    """What stands in braces in each line that has some: from the first that are opened to the last that is closed."""
    spans = ((line, line.find(opening) + len(opening), line.rfind("}")) for line in text.split("\n") if opening in line)
    return [line[start:end] for line, start, end in spans if start <= end]


def _unboxed(content: str) -> str:
    inner = _braced(content, "\\text{")
    return str(inner[-1] if inner else content).strip("()").strip()


def _inside(written: str) -> str:
    """What stands in a box that was opened before: up to its brace, or to the end of the line."""
    line = next(iter(written.strip().splitlines()), "")
    depth = 0
    for i, character in enumerate(line):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return line[:i].strip()
    return line


def _why_empty(output: str, end: str) -> str:
    """How the reasoning ended, unless the box itself tells."""
    if _braced(output, BOX):
        return "empty_box"
    return "unclosed_box" if BOX in output and end == "no_box" else end


def shortened(output: str) -> str:
    """The reasoning by numbered lines: the first, the last few and those with markers; dots for the rest.

    As in the authors' code, two line breaks count as one and a blank line that is left has a number too.
    """
    lines = output.replace("\n\n", "\n").split("\n")
    shown: list[str] = []
    for i, line in enumerate(lines):
        marked = BEGIN_QUERY in line or BEGIN_RESULT in line
        if len(lines) <= N_LAST + 1 or i == 0 or i >= len(lines) - N_LAST or marked:
            shown.append(f"Step {i + 1}: {line}")
        elif shown[-1] != "...":
            shown.append("...")
    return "\n\n".join(shown)


def _written_text(reply: Completion) -> str:
    """All that the model wrote, thoughts and their tags included: queries stand among them."""
    text = reply.written or reply.text
    if "stop_unknown" in reply.notes and text.rfind(BEGIN_QUERY) > text.rfind(END_QUERY):
        text += END_QUERY
    return text


def _last_query(written: str) -> str:
    """The last text between query markers; empty: there is none."""
    queries = re.findall(rf"{re.escape(BEGIN_QUERY)}(.*?){re.escape(END_QUERY)}", written, re.DOTALL)
    return str(queries[-1]).strip() if queries else ""
