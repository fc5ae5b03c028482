"""A word in another form, by a table of English inflections."""

from __future__ import annotations

from shaketable.errors import need_packages
from shaketable.text.language import import_spacy

PACKAGES = ("spacy", "lemminflect")


def form(lemma: str, tag: str) -> str:
    """A verb or a noun in the form of a tag (`VBD`, `NNS`); the lemma where the table has none."""
    if tag == "VBP":
        return lemma
    need_packages("English inflection", *PACKAGES)
    import_spacy()  # Which the table's package imports as well.
    import lemminflect

    forms = lemminflect.getInflection(lemma, tag)
    return str(forms[0]) if forms else lemma


def is_verb(word: str) -> bool:
    """Whether it is the basic form of some verb."""
    need_packages("English inflection", *PACKAGES)
    import_spacy()  # Which the table's package imports as well.
    import lemminflect

    return bool(lemminflect.getAllInflections(word, upos="VERB"))
