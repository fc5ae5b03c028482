"""Texts, numbers and JSON values that try to break out: markers, escapes, halves of characters, long runs."""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")
Make = Callable[[Random], T]
"""All that is made is made of a source of random numbers: a plain one is fast, one of hypothesis finds small cases."""

MARKERS = (
    *("{question}", "{context}", "$question", "${document}", "{{question}}", "$$", "{", "}", "%s", "\\1", "\\g<0>"),
    *("<think>", "</think>", "<|im_end|>", "<|im_start|>assistant\n", "<|endoftext|>", "[INST]", "</s>"),
    *("<|begin_search_query|>", "<|end_search_query|>", "<|begin_search_result|>", "<|end_search_result|>"),
    *(
        "\\boxed{no}",
        "\\boxed{",
        "\\text{",
        "Helpful facts:",
        "the answer is",
        "So the answer is: ",
        "VERDICT: correct",
    ),
    *("\nAnswer:", "\nQuestion:", "\nQuery:", "\nDocument:", "Note:", "Step 1:", "[1] ", "[MASK]"),
)
"""What stands for something in a prompt, or in what a model writes."""
ESCAPES = (
    *("\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x00", "\x07", "\x08", "\r", "\u202e", "\u2066", "\ufeff", "\u200b"),
    *("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '" onmouseover="alert(1)', "'\"`<>&"),
    *("[bold red]", "[/]", "]]>", "<!--", "=cmd|' /C calc'!A0", "\u2028", "\u0085", "\ud83d", "\udc00", "\U0010ffff"),
)
"""What stands for something on a terminal, in a page, in a table."""
WORDS = (
    *("a", "an", "the", "The", "yes", "no", "not", "n't", "or", "and", "than", "Paris", "Paris.", "1990", "US", "A"),
    *("I don't know", "who", "Which", "is", "was", "older", "first", "answer is", "both", "larger than", "3,5", "0x1F"),
    *("Zoë", "ﬁ", "İ", "ß", "ς", "Ⅷ", "١٢٣", "日本", "e\u0301", "👩🏽‍🚀", "…", "“", "”", "’"),
)
RUNS = (
    *(
        " ",
        "\n",
        "\t",
        "\r\n",
        "a",
        "A",
        "0",
        "9",
        ".",
        ",",
        "-",
        "'",
        '"',
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        "\\",
        "_",
    ),
    *(
        "\u00a0",
        "\u3000",
        "é",
        "e\u0301",
        "a ",
        "A ",
        ". ",
        "a.",
        "1,",
        "1 ",
        "not ",
        "the ",
        "or ",
        "<think>",
        "(a",
        "\n ",
    ),
    *(
        "the answer is ",
        "GOLD ",
        "is GOLD ",
        "A or ",
        "'a",
        "a'",
        '"a',
        "no information ",
        "i ",
        "please share ",
        "$",
        "+",
    ),
    *(
        "than ",
        "X is larger than Y ",
        "n't a ",
        "answer ",
        "[[",
        "\\boxed{",
        "yes no ",
        "A.B.",
        "Mr. ",
        "https://",
        "::",
    ),
)
"""What a model repeats when it runs hot."""
LONGEST = 20_000

OPENINGS = ("Who", "Which is older,", "What", "When was", "Is", "In which city", "How many", "")
ENDS = ("?", "", " or Paris?", " the same as Berlin?", "??", ".", "\n")
LARGE = (2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400, -(10**4299))
FLOATS = (-0.0, 0.5, 1e308, 5e-324, 1e-9, float("inf"), float("-inf"), float("nan"), 0.1, 2.0, -1.0)


def pick(rng: Random, *makers: Make[T]) -> T:
    return rng.choice(makers)(rng)


def is_one_in(rng: Random, n: int) -> bool:
    return rng.randrange(n) == 0


def characters(rng: Random) -> str:
    """Any at all, half of them of the first few hundred."""
    return "".join(chr(rng.randrange(0x250 if is_one_in(rng, 2) else 0x110000)) for _ in range(rng.randrange(13)))


def printable(rng: Random) -> str:
    return "".join(rng.choice(string.printable) for _ in range(rng.randrange(13)))


def piece(rng: Random) -> str:
    kind = rng.randrange(5)
    return rng.choice((WORDS, MARKERS, ESCAPES)[kind]) if kind < 3 else printable(rng) if kind == 3 else characters(rng)


def run(rng: Random) -> str:
    repeated = rng.choice(RUNS)
    return repeated * max(1, rng.randint(1, LONGEST) // len(repeated))


def short(rng: Random) -> str:
    """A few pieces, with or without spaces between them."""
    return rng.choice(("", " ")).join([piece(rng) for _ in range(rng.randrange(8))])


def text(rng: Random) -> str:
    """The same, and now and then a long one."""
    return short(rng) if rng.randrange(8) else "".join(pick(rng, run, piece) for _ in range(rng.randint(1, 3)))


def question(rng: Random) -> str:
    return f"{rng.choice(OPENINGS)} {text(rng)}{rng.choice(ENDS)}"


def integer(rng: Random) -> int:
    kind = rng.randrange(4)
    return rng.choice(LARGE) if kind == 0 else rng.randrange(-3, 40) if kind < 3 else rng.getrandbits(70) - 2**69


def number(rng: Random) -> float:
    return rng.choice(FLOATS) if is_one_in(rng, 2) else (rng.random() - 0.3) * 10 ** rng.randrange(-3, 6)


def scalar(rng: Random) -> Any:
    kind = rng.randrange(6)
    return None if kind == 0 else bool(rng.randrange(2)) if kind == 1 else pick(rng, integer, number, short, short)


def value(rng: Random, deepest: int = 2) -> Any:
    """What JSON can hold."""
    if deepest == 0 or rng.randrange(3):
        return scalar(rng)
    inner = [value(rng, deepest - 1) for _ in range(rng.randrange(4))]
    return inner if is_one_in(rng, 2) else {short(rng): one for one in inner}
