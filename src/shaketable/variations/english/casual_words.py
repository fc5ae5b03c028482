"""Words that people use among friends: everyday nouns and verbs, short forms, openings."""

from __future__ import annotations

from shaketable.variations.english.substitution import parse_table

OPENERS = (
    "hey, ", "hey, ", "hey, quick question: ", "quick question: ", "ok so ", "so ", "hi, ", "random question: ",
    "just curious, ", "yo, ", "hmm, ", "", "", "", "", "",
)  # fmt: skip
"""As often as they stand here; nearly a third of the wordings have none."""
NAME_OPENERS = ("so ", "ok so ", "quick question: ", "hey, quick question: ", "", "")
"""Before a name: `hi, Ann or Bob, who …` would greet them."""
FRAMES = ("any idea {}?", "any idea {}?", "do you know {}?", "can you tell me {}?")
"""Around a clause with its question word, or with `if`."""
NOUN_FRAMES = ("do you know {}?", "can you tell me {}?")
EVERYDAY = parse_table("""
N film: movie
N child: kid
N photograph: photo
N individual: person
N automobile: car
N physician: doctor
N attorney: lawyer
N infant: baby
N laboratory: lab
N advertisement: ad
N mathematics: math
N influenza: flu
N telephone: phone
N airplane: plane
N bicycle: bike
N beverage: drink
V commence: start
V begin: start
V purchase: buy
V reside: live
V defeat: beat
V construct: build
V manufacture: make
V originate: come
V occur: happen
V utilize: use
V select: pick
V cease: stop
V perish: die
V assist: help
V participate: take part
* frequently: often
* primarily: mainly
* typically: usually
* large: big
* wealthy: rich
* renowned: famous
* difficult: hard
* subsequently: later
* largest: biggest
* larger: bigger
* wealthiest: richest
* whom: who
""")
"""Of the same sense wherever they stand, in the active and in the passive."""
ACTIVE = parse_table("""
V receive: get
V obtain: get
V attend: go to
V possess: have
V request: ask for
""")
"""Not in the passive: nobody says `was gone to`."""
PLACES = "(?:in|on|at|near|within|between|inside|outside)"
PHRASES = (
    (r"(?<= )in (?:which|what) year$", "what year"),
    (r"^(?:what|which) (?:person|individual)\b", "who"),
    (r"\bwhat percentage of\b", "what percent of"),
    (r"^(what|which) types? of\b", r"\1 kind of"),
    (r"\bmotion picture\b", "movie"),
    (r"\btelevision (?=(?:series|show|sitcom|drama|program|movie|network|channel|station)\b)", "TV "),
    (r"\b(is|are|was|were)( \w+ly| also| often| sometimes)? referred to as\b", r"\1\2 called"),
    (r"(?<=, )also known as\b", "aka"),
    (r"\bprior to\b", "before"),
    (r"\bin addition to\b", "besides"),
    (r"\bin order to\b", "to"),
    (r"\bimmediately (?=before|after)\b", "right "),
    (r"\ba large number of\b", "a lot of"),
    (r"\bapproximately (?=\d|how\b)", "about "),
    (r"\b(film|movie|album|song|single|video game|novel|book) released (?=in (?:\w+ )?\d{4}\b)", r"\1 that came out "),
    (r"^(which|what) (film|movie|album|song|single|game|book|novel) was released\b", r"\1 \2 came out"),
    (r"\bof director of\b", "of the director of"),
    (r"\b(of|by|for|in) (films?|songs?) (?=[\"“A-Z\d])", r"\1 the \2 "),
    (rf"^((?:(?!\bwhere\b).)*)(?<!ly )\blocated (?={PLACES}\b(?! which| what| where))", r"\1"),
    (r"\b(where [^,?]{3,60}? (?:is|are|was|were)) located$", r"\1"),
    (r"^(?:in|during|on) (?:which|what) (year|month|decade|century|season|date|day)\b", r"what \1"),
    (r"^[Ii]n (1\d{3}|200\d)(?=,? (?:how|who|what|which|where)\b)(?!.*\d{4})", r"back in \1"),
    (r"^([\"“A-Z\d][^,]* or [^,]*), which (?=(?:is|was|has|had)\b)", r"\1, which one "),
    (r"\bthe most number of\b", "the most"),
    (r"\bhave (?:the )?directors (?:who are |that are )?from\b", "have directors from"),
    (r", (?=originate from the same\b)", " "),
)
"""Whole phrases, names and quotations left out. The place of `located` is in the preposition behind it."""
NOT_BEFORE_S = "not|the case|at|in|on|for|to|from|of|between|that"
"""What `is` does not lean on."""
CONTRACTIONS = (
    (rf"^(who|what|where|how|when) is (?!(?:{NOT_BEFORE_S})\b)(?=\S)", r"\1's "),
    (r"(?<=, )who is (?=older|younger)", "who's "),
    (rf"\b(that|there|he|she|it) is (?!(?:{NOT_BEFORE_S})\b)(?=\S)", r"\1's "),
    (r"^(where|how|why|when) did\b", r"\1'd"),
    (r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should) not\b", r"\1n't"),
    (r"\bcan ?not\b", "can't"),
    (r"\bwill not\b", "won't"),
)
