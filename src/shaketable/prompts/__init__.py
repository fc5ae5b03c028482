"""Each prompt once, as a text file with named slots."""

from __future__ import annotations

import functools
import importlib.resources
import string
from dataclasses import dataclass

from shaketable.identity import digest_text


@dataclass(frozen=True)
class Template:
    name: str

    @functools.cached_property
    def text(self) -> str:
        return importlib.resources.files(__package__).joinpath(f"{self.name}.txt").read_text("utf-8").rstrip("\n")

    @functools.cached_property
    def identity(self) -> str:
        """Name and digest: a changed prompt makes new trial keys."""
        return f"{self.name}:{digest_text(self.text)[:8]}"

    def fill(self, **slots: str) -> str:
        return self._pattern.substitute(slots)

    @functools.cached_property
    def _pattern(self) -> string.Template:
        return string.Template(self.text)


ANSWER_FROM_CONTEXT = Template("answer_from_context")
ANSWER_CLOSED_BOOK = Template("answer_closed_book")
CHAIN_EXAMPLES = Template("chain_examples")
CHAIN_QUESTION = Template("chain_question")
CHAIN_QUESTION_FROM_CONTEXT = Template("chain_question_from_context")
REFERENCE_ANSWER = Template("reference_answer")
REFERENCE_TEMPLATE = Template("reference_template")
RECALL_QUESTION = Template("recall_question")
REWRITE_QUERY = Template("rewrite_query")
SEARCH_O1_EXAMPLES = Template("search_o1_examples")
SEARCH_O1_MULTI_HOP = Template("search_o1_multi_hop")
SEARCH_O1_REASON = Template("search_o1_reason")
SEARCH_O1_SINGLE_HOP = Template("search_o1_single_hop")
REWORD_DECLARATIVE = Template("reword_declarative")
REWORD_FORMALITY = Template("reword_formality")
REWORD_GRAMMAR = Template("reword_grammar")
REWORD_IMPERATIVE = Template("reword_imperative")
REWORD_READABILITY = Template("reword_readability")
