"""What people are asked to do with questions: guidelines, who gets which, and what is taken from them."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.errors import DataError
from shaketable.identity import digest
from shaketable.text.normalization import YES_NO, contains_words, without_surrogates, words
from shaketable.types import Json, Question
from shaketable.variations.variant_set import FrozenWording, own_id

PEOPLE_PER_TASK = 2
MAX_CHARACTERS = 2000
SAME_LETTERS = 0.9
"""At this similarity a rewrite is a copy. Of questions typed with keyboard noise (NoiseQA) it finds 99.5%, of the
informal rewrites of "Out of Style" 1.2%, of those that are harder to read none (600 each)."""
SAME_WORDS = 0.9
"""At this share of words in common, of all words of both, a rewrite is a copy in another order."""
MIN_TELLING = 4
"""Letters of an answer that a rewrite must not contain; shorter ones occur by chance."""

REWRITING = (
    "Ask in your own words, as you would type it to an AI assistant.",
    "Keep the meaning: the answer shown must still be the right one.",
    "You may leave things out, add to it, or make it simpler.",
    "No near copies: changing a word or two is not enough.",
    "The answer is there for context only. Keep it out of your question.",
)
"""The study's guidelines for rewriting."""
REVIEWING = (
    "Accept a wording that still asks the question, so that the same answer fits.",
    "Tone, sentence form and difficulty may change. Spelling and grammar may break where that is the aim.",
    "Reject what loses, changes or adds something the answer depends on, and what nobody could understand.",
    "Judge alone: compare with the other person after both are done.",
)


class Refused(DataError):  # noqa: N818 (it says what is the matter)
    """An entry that is not taken; the text is a hint for the one who wrote it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A question to reword, or a wording to judge."""

    id: str
    """As files have it: the question's own id, or the digest of the wording to judge."""
    question_id: str
    question: str
    answers: tuple[str, ...] = ()
    """Shown for context; a frozen set of wordings has none."""
    wording: str | None = None
    """What a machine made of the question, to be judged; None: a person shall reword it."""
    variation: str | None = None
    """What made the wording."""


def rewriting_tasks(questions: Sequence[Question]) -> list[Task]:
    return [
        Task(id=own_id(question), question_id=own_id(question), question=question.text, answers=question.answers)
        for question in questions
    ]


def reviewing_tasks(frozen: Sequence[FrozenWording], limit: int | None = None) -> list[Task]:
    """The wordings that the meaning gate accepted, each once. A limit takes the lowest digests, so that chance
    chooses, and chooses the same for everyone."""
    tasks = {}
    for wording in frozen:
        variant = wording.variant
        if variant.rejected is None and variant.variation != "original":
            key = digest([variant.question_id, wording.original, variant.variation, variant.text])
            tasks[key] = Task(
                id=key,
                question_id=variant.question_id,
                question=wording.original,
                wording=variant.text,
                variation=variant.variation,
            )
    taken = set(sorted(tasks)[:limit])
    return [task for task in tasks.values() if task.id in taken]


def person(name: str) -> str:
    """How names are compared: letter case and spaces make nobody another person."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


# --- who gets which -------------------------------------------------------------------------------


class Board:
    """Who has done what, who is at what, and what comes next for whom."""

    def __init__(self, tasks: Sequence[Task], rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.tasks = {task.id: task for task in tasks}
        self.names: dict[str, str] = {}
        """Person → the name as it was first written."""
        self.done: dict[str, set[str]] = {task.id: set() for task in tasks}
        """Task → the people whose entry counts."""
        self.remarks: list[str] = []
        """Entries that do not count, and why."""
        self._held: dict[str, str] = {}
        self._skipped: set[tuple[str, str]] = set()
        for row in rows:
            who = person(row["annotator"])
            trouble = self._trouble(who, row)
            if trouble:
                self.remarks.append(f"'{row['id']}' by {row['annotator']} does not count: {trouble}.")
            else:
                self.names.setdefault(who, row["annotator"])
                self.done[row["id"]].add(who)

    def sign_in(self, name: str) -> str:
        """The person with this name, known or new."""
        clean = " ".join(without_surrogates(name).split())
        if not person(clean) or len(clean) > 60 or not clean.isprintable():
            raise Refused("Give a name of 1 to 60 letters; it stands beside each of your entries.")
        self.names.setdefault(person(clean), clean)
        return person(clean)

    def next_task(self, who: str) -> Task | None:
        """The open task with the fewest people, those who are at it counted; None: nothing is left for this person.

        A task stays with its person until it is done or skipped. What was skipped comes last.
        """
        others = Counter(held for other, held in self._held.items() if other != who)
        left = [task_id for task_id in self.tasks if self.refusal(who, task_id) is None]
        if self._held.get(who) not in left:
            self._held.pop(who, None)
            if left:
                self._held[who] = min(left, key=lambda i: ((who, i) in self._skipped, len(self.done[i]) + others[i]))
        return self.tasks.get(self._held.get(who, ""))

    def refusal(self, who: str, task_id: str) -> str | None:
        """Why this person cannot do this task; None: they can."""
        if task_id not in self.tasks:
            return "There is no such task. Load the page again."
        if who in self.done[task_id]:
            return "You have done this one already. Load the page again for the next."
        if len(self.done[task_id]) >= PEOPLE_PER_TASK:
            return f"{PEOPLE_PER_TASK} others have done this one meanwhile. Load the page again for the next."
        return None

    def skip(self, who: str, task_id: str) -> None:
        """Kept in mind as long as the board lives."""
        self._skipped.add((who, task_id))
        self._held.pop(who, None)

    def add(self, who: str, task_id: str) -> None:
        self.done[task_id].add(who)
        self._held.pop(who, None)

    def progress(self, who: str) -> dict[str, int]:
        return {
            "done": sum(len(people) for people in self.done.values()),
            "wanted": PEOPLE_PER_TASK * len(self.tasks),
            "own": sum(who in people for people in self.done.values()),
            "complete": sum(len(people) == PEOPLE_PER_TASK for people in self.done.values()),
            "n": len(self.tasks),
        }

    def _trouble(self, who: str, row: Mapping[str, Any]) -> str | None:
        task = self.tasks.get(row["id"])
        if not who:
            return "it has no name"
        if task is None:
            return "it is about nothing that is asked here"
        if row["question"].split() != task.question.split():
            return f"it was written for another wording, '{row['question']}'"
        if task.wording is None and row["rewrite"].strip() in ("", task.question.strip()):
            return "it is empty" if not row["rewrite"].strip() else "it is the same as the question"
        if who in self.done[task.id]:
            return "it is the second by the same person"
        return "it is one too many" if len(self.done[task.id]) >= PEOPLE_PER_TASK else None


# --- what is taken --------------------------------------------------------------------------------


def entry_of(task: Task, name: str, given: Mapping[str, Any]) -> dict[str, Json]:
    """The line for the file. Refuses what must not be averaged in, with a hint."""
    if task.wording is not None:
        if not isinstance(given.get("accepted"), bool):
            raise Refused("Say whether you accept the wording or reject it.")
        return {
            "id": task.id, "question_id": task.question_id, "question": task.question, "variation": task.variation,
            "wording": task.wording, "annotator": name, "accepted": given["accepted"],
        }  # fmt: skip
    rewrite = " ".join(without_surrogates(str(given.get("rewrite", ""))).split())
    hint = rewrite_trouble(task, rewrite)
    if hint:
        raise Refused(hint)
    return {"id": task.id, "question": task.question, "rewrite": rewrite, "annotator": name}


def rewrite_trouble(task: Task, rewrite: str) -> str | None:
    """What is wrong with a rewrite and how to mend it; None: it can be taken."""
    own, original = words(rewrite), words(task.question)
    if not own:
        return "Nothing is written yet. Ask the question in your own words."
    if len(rewrite) > MAX_CHARACTERS:
        return f"This has {len(rewrite):,} characters, {MAX_CHARACTERS:,} are allowed. Make it shorter."
    if own == original:
        return f"This is the question itself, apart from punctuation and capitals. {_advice(task.question, own)}"
    if _shared(own, original) >= SAME_WORDS:
        return f"These are the question's words in another order. {_advice(task.question, own)}"
    similarity = difflib.SequenceMatcher(None, " ".join(original), " ".join(own), autojunk=False).ratio()
    if similarity >= SAME_LETTERS:
        return f"This is a near copy: {similarity:.0%} of the letters are the question's. {_advice(task.question, own)}"
    for answer in map(words, task.answers):
        is_telling = len("".join(answer)) >= MIN_TELLING and " ".join(answer) not in YES_NO
        if is_telling and contains_words(answer, own) and not contains_words(answer, original):
            return f"This tells the answer, '{' '.join(answer)}', which is there for context only. Ask without it."
    return None


def _shared(first: Sequence[str], other: Sequence[str]) -> float:
    return len(set(first) & set(other)) / len(set(first) | set(other))


def _advice(question: str, own: Sequence[str]) -> str:
    """Names words to replace: the longest that were kept, names and numbers aside."""
    kept = {
        word.strip(".,:;?!\"'()") for word in question.split()[1:] if word.islower() and set(words(word)) & set(own)
    }
    longest = sorted((word for word in kept if len(word) > 3), key=lambda word: (-len(word), word))[:3]
    named = ", ".join(f"'{word}'" for word in longest)
    first = f"Say {named} in another way, turn" if named else "Turn"
    return f"{first} the sentence round, or leave out what you would not say."
