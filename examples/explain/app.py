"""A reader with two hops: who wrote the book, and where was that person born? It guesses where it does not know."""

import re


def answer(question, contexts):
    text = " ".join(contexts)
    title = re.search(r"of (The [\w ]+?) born", question)
    writer = re.search(rf"{title[1]} (?:was written by|is a novel by) (\w+ \w+)", text) if title else None
    place = re.search(rf"{writer[1]} was born in (\w+)", text) if writer and "author" in question else None
    guess = re.search(r"born in (\w+)", text)
    return place[1] if place else guess[1] if guess else "I do not know."
