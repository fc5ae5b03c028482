"""Text → sentences, tagged words and named entities, with a spaCy pipeline that loads on first use."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import re
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from shaketable import weights
from shaketable.errors import WeightsError, need_packages
from shaketable.text.normalization import without_surrogates

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PIPELINE = "en_core_web_sm"
PACKAGES = ("spacy",)
WITH_TORCH = ("spacy_transformers", "spacy_curated_transformers")
"""Packages whose pipelines compute in PyTorch."""
_UNBROKEN = re.compile(r"\S{500,}+")
_MARK = re.compile(r"[\W_]")
"""In a run without spaces that no word is, marks are read as letters: spaCy takes them off one by one, and a run of ten
thousand commas, which a model that runs hot may write, took it minutes."""
Span = tuple[int, int, str]
"""First character, character after the last, entity label."""


class Word(NamedTuple):
    start: int
    end: int
    """The character after the last."""
    tag: str
    """Of the Penn Treebank: `NN`, `VBD` ..."""
    lemma: str
    """The basic form; empty where the pipeline finds none."""


@functools.cache
def pipeline(name: str = PIPELINE) -> Language:
    """A spaCy pipeline: embedded weights, an installed spaCy package, or the path of a folder."""
    spacy = import_spacy(with_torch=name not in weights.EMBEDDED)
    if name not in weights.EMBEDDED and spacy.util.is_package(name):
        return cast("Language", spacy.load(name))
    folder = weights.locate(name)
    try:
        return cast("Language", spacy.load(folder))
    except (OSError, ValueError) as error:
        raise WeightsError(
            f"{folder} is no spaCy pipeline: {error} Give a folder made by spaCy, or use '{PIPELINE}'."
        ) from error


def import_spacy(*, with_torch: bool = False) -> Any:
    """The package, without what it does on the way in; to be called before whatever else imports it, too."""
    need_packages("Reading English", *PACKAGES)
    with contextlib.nullcontext() if with_torch else _without_torch(), _without_sockets():
        import spacy

    return spacy


@contextlib.contextmanager
def _without_sockets() -> Iterator[None]:
    """spaCy imports a client for its downloads, and that binds a socket to see whether there is IPv6.

    It is told that there is none, and then that there is: whoever uses it later asks for addresses of both kinds.
    """
    client, has_ipv6 = "urllib3.util.connection", socket.has_ipv6
    if client in sys.modules:
        yield
        return
    socket.has_ipv6 = False
    try:
        yield
    finally:
        socket.has_ipv6 = has_ipv6
        if client in sys.modules:
            vars(sys.modules[client])["HAS_IPV6"] = has_ipv6


@contextlib.contextmanager
def _without_torch() -> Iterator[None]:
    """spaCy imports PyTorch where it is installed: seconds and 180 MB that the embedded pipeline never uses.

    None among the modules is Python's way of saying that there is no such module; spaCy goes on without it, and whoever
    imports PyTorch later gets it. It stays where it is loaded already, or where pipelines may compute in it.
    """
    if "torch" in sys.modules or any(map(importlib.util.find_spec, WITH_TORCH)):
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["torch"]


def lacks(name: str) -> str | None:
    """Why a pipeline cannot be used on this machine, without loading it; None: it can, or is an installed package."""
    installed = "/" not in name and importlib.util.find_spec(name.partition(".")[0])
    return None if installed else weights.lacks(name)


def sentences(text: str, name: str = PIPELINE) -> list[str]:
    """The sentences of a text in order, stripped, none empty."""
    if not text.strip():
        return []  # As the pipeline says, without loading it.
    (document,) = _read([text], name, ("tok2vec", "transformer", "parser", "senter", "sentencizer"))
    return [kept for sent in document.sents if (kept := text[sent.start_char : sent.end_char].strip())]


def entities(text: str, name: str = PIPELINE) -> list[Span]:
    """The named entities of a text, from left to right."""
    return entities_of_each([text], name)[0]


def entities_of_each(texts: Sequence[str], name: str = PIPELINE) -> list[list[Span]]:
    """The named entities of each text."""
    documents = _read(texts, name, ("tok2vec", "transformer", "ner"))
    return [[(span.start_char, span.end_char, span.label_) for span in document.ents] for document in documents]


def words_of_each(texts: Sequence[str], name: str = PIPELINE) -> list[list[Word]]:
    """The words of each text with their tags, punctuation among them."""
    needed = ("tok2vec", "transformer", "tagger", "morphologizer", "attribute_ruler", "lemmatizer")
    return [
        [Word(token.idx, token.idx + len(token), token.tag_, token.lemma_) for token in document]
        for document in _read(texts, name, needed)
    ]


@functools.lru_cache(maxsize=2048)
def parsed(text: str, name: str = PIPELINE) -> Doc:
    """A text as a spaCy document with tags and dependencies; kept, because several parts read one question.

    Documents are shared: read them, never change them.
    """
    nlp = pipeline(name)
    nlp.max_length = max(nlp.max_length, len(text))
    return nlp(_readable(text), disable=["ner"])


@functools.cache
def stop_words() -> frozenset[str]:
    """Return the English words too common to mean anything, in small letters: spaCy's list, which ships."""
    lines = (files("shaketable") / "resources" / "lexicon" / "stop_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _read(texts: Iterable[str], name: str, needed: Sequence[str]) -> list[Doc]:
    nlp = pipeline(name)
    texts = list(texts)
    # spaCy refuses more than a million characters for the sake of memory; a model that runs hot, or a book, has more.
    nlp.max_length = max(nlp.max_length, *map(len, texts), 0)
    unneeded = [component for component in nlp.pipe_names if component not in needed]
    # One text at a time: sums over a larger batch round differently, and a text's neighbours
    # must not change what is found in it. It costs a third more time. spaCy refuses lone surrogates;
    # what stands for them is as long, so places in the text stay true.
    return list(nlp.pipe(map(_readable, texts), batch_size=1, disable=unneeded))


def _readable(text: str) -> str:
    """The text as spaCy can read it, as long as it was."""
    return _UNBROKEN.sub(lambda run: _MARK.sub("x", run[0]), without_surrogates(text))
