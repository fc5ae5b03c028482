"""What the words of a report mean, for its reader: told on the page itself and in the documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    word: str
    meaning: str


def _terms(*pairs: tuple[str, str]) -> tuple[Term, ...]:
    return tuple(Term(word=word, meaning=meaning) for word, meaning in pairs)


VERDICTS = _terms(
    (
        "costs, lowers, loses, adds, helps, is better",
        "A plain statement is a claim: it passed a test that is adjusted for everything else that this report "
        "might have said. If in truth nothing differed, at most 5 of 100 such reports would hold any such sentence.",
    ),
    (
        "not shown",
        "The effect may be there or not; these data cannot tell. Where there are "
        "enough questions, the sentence gives the smallest effect that would likely have been seen, and about how many "
        "questions would settle one as small as this. It does not mean that there is no effect.",
    ),
    (
        "equivalent, as good as",
        "As good as: shown to lose less than the margin, at the unfavorable end of the confidence interval too (5 "
        "points of a share, unless the study names another margin). Equivalent: nor is more than the margin gained.",
    ),
    ("undecided", "Neither a difference nor equivalence is shown. More questions might decide it."),
    (
        "at chance level",
        "Even the baseline is no better than answers to other questions, or than answers without evidence. What is at "
        "the bottom cannot drop; that is not robustness. 'Too few questions to tell': it may be better, and the "
        "interval is too wide to confirm it.",
    ),
    (
        "too few to claim anything",
        "With fewer than 8 questions the report draws no conclusions; some 20 are needed before large effects are "
        "likely to be confirmed. Numbers are shown as measured.",
    ),
    (
        "holds facts more firmly",
        "Facts that the model knows survive a higher sampling temperature. It says nothing of how many facts it knows.",
    ),
    (
        "ceiling, keep it at or below",
        "The highest sampling temperature up to which every kind of evidence and type of question is shown to lose "
        "less than the margin. 'Cannot be ruled out' beyond it: a larger loss is possible there, and not shown.",
    ),
    (
        "may run at every temperature tried",
        "Shown to lose less than the margin at every sampling temperature tried. Nothing is said of higher ones.",
    ),
    (
        "does not apply the temperature",
        "The system gave the same answers at every sampling temperature, or takes none. A flat line is then no sign of "
        "robustness.",
    ),
    (
        "breaks, weakness",
        "In a shaken run: this way to ask was shown to cost answers. 'No weakness is shown' is not 'there is none': "
        "read beside it which loss would have been found.",
    ),
    (
        "known fact, breaking temperature",
        "A fact is known if the answer at temperature 0 is right. It breaks at the first temperature at which fewer "
        "than half of the sampled answers are right.",
    ),
)
"""Words that a sentence, card or banner says something with."""

NUMBERS = _terms(
    (
        "19 points [8, 30]",
        "19 were measured on these questions; for all questions of this kind, values from 8 to 30 are compatible with "
        "the data. The brackets are a confidence interval, of 95 % unless the study says otherwise.",
    ),
    (
        "a loss of 4 points [−8, 16], a gain of 11 points [−6, 26], 3 points better [−5, 11]",
        "The word says which way it went, and the brackets count in the direction of that word: a negative end lies on "
        "the other side. So a gain of 11 points [−6, 26] may be anything from a loss of 6 to a gain of 26. A number of "
        "which more is not better falls or rises. Charts, and tables with a column of what is lost, have losses above "
        "0 and gains below.",
    ),
    ("points", "The difference of two percentages: from 60 % to 41 % are 19 points."),
    (
        "n = 24 questions",
        "The sample size: different questions. Repeats of a question are averaged first and add no n.",
    ),
    (
        "an effect of 12 points or more would likely have been seen",
        "Four of five such studies would have shown an effect of that size.",
    ),
    (
        "the most of six",
        "The largest of several numbers is too large, because luck helped to make it the largest. It is drawn towards "
        "the others, and its interval holds for all six at once.",
    ),
    (
        "had those of one side all been wrong and those of the other all right, or the reverse",
        "More than 5 % of the answers are missing. Whatever they would have been, the difference lies between these "
        "two ends, and nothing is claimed that would not stand at both.",
    ),
    (
        "noise floor, runs of the same wording alone",
        "Two runs of one and the same question differ, too. Only what lies beyond that is an effect.",
    ),
    (
        "unadjusted",
        "A number to look at, which claims nothing: of twenty such intervals one misses the true value, on average.",
    ),
    (
        "partial",
        "The run is not done. The numbers are of the answers that there are.",
    ),
)
"""How numbers are written."""

CARDS = {
    "shaken": "which way to ask costs the system most answers, in a shaken run",
    "ceiling": "how high the sampling temperature may be before more than the margin is lost",
    "heat": "what the highest sampling temperature costs, in the baseline",
    "factual_robustness": "the Factual Robustness Score: how far a known fact holds when the temperature rises",
    "wording": "what the worst rewording of the question costs",
    "decision": "how often a rewording flips the system's decision to search",
    "confidence": "how often the system answers without a search that it would have needed",
    "evidence": "what the worst disturbance of the evidence costs at the lowest temperature",
    "outcome": "whether searching mends more answers than it spoils",
    "variance_shares": "which setting explains most of the variation in correctness",
    "context_reliance": "how much of what evidence brings a disturbance takes away",
    "choice": "which system is the best at a temperature, and by how much",
    "ranking": "whether the order of the disturbances changes with temperature",
    "dominance": "whether temperature or evidence explains more",
    "degradation": "at how many temperatures a disturbance costs answers",
    "onset": "the temperature at which answers begin to get worse",
    "amplification": "whether a higher temperature makes disturbed evidence worse",
    "variability": "how much repeated answers to one question differ",
    "level": "how good the answers are where nothing is disturbed; a level claims nothing",
}
"""By the kind of its headline: what a card of the verdict tells."""
