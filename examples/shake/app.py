"""A help desk that looks a question up in its handbook by the words that they share."""

import re
from pathlib import Path

HANDBOOK = Path(__file__).with_name("handbook.txt").read_text("utf-8").splitlines()


def words(text):
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def answer(question):
    best = max(HANDBOOK, key=lambda line: len(words(line) & words(question)))
    return best if len(words(best) & words(question)) >= 3 else "I do not know."
