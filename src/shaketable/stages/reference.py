"""Questions with short answers → sentence-form reference answers, written once and kept with the run."""

from __future__ import annotations

import re

from shaketable import catalog
from shaketable.errors import RunError
from shaketable.identity import seed_from
from shaketable.language import sentences
from shaketable.prompts import REFERENCE_ANSWER, REFERENCE_TEMPLATE
from shaketable.store import Run
from shaketable.types import Completion, Failure, Message, Prompt, Question, Sampling

SHORT, TEMPLATE = "short", "template"
MAX_TOKENS = 100
YES_OR_NO = re.compile(r"(yes|no)\b", re.IGNORECASE)
NUMBERED = re.compile(r"no\. ?\d", re.IGNORECASE)


def write_references(run: Run) -> int:
    """Write the references that are not there yet; returns how many were written."""
    made_by = run.study.reference
    with run.writing() as store:
        todo = [question for question in store.questions(made_by) if question.reference is None and question.answers]
        if not todo:
            return 0
        written = _from_template(todo) if made_by == TEMPLATE else _from_model(made_by, todo)
        rows = [
            (question.id, *cut(reply))
            for question, reply in zip(todo, written, strict=True)
            if not isinstance(reply, Failure)
        ]
        store.add_references(made_by, rows)
    failures = [reply for reply in written if isinstance(reply, Failure)]
    if failures:
        raise RunError(
            f"{made_by} could not write {len(failures)} of {len(todo)} reference answers: {failures[0].message} "
            f"The others are kept. Try again: shaketable score {run.folder}, or use score.reference = 'short'."
        )
    return len(rows)


def _from_template(questions: list[Question]) -> list[str | Failure]:
    return [REFERENCE_TEMPLATE.fill(question=question.text, answer=question.answers[0]) for question in questions]


def _from_model(text: str, questions: list[Question]) -> list[str | Failure]:
    model = catalog.build("model", text, "score.reference")
    prompts = [
        Prompt(
            messages=(
                Message(role="user", content=REFERENCE_ANSWER.fill(question=question.text, answer=question.answers[0])),
            ),
            sampling=Sampling(temperature=0.0, max_tokens=MAX_TOKENS),
            seed=seed_from("reference", question.id),
        )
        for question in questions
    ]
    return [reply.text.strip() if isinstance(reply, Completion) else reply for reply in model.generate(prompts)]


def cut(whole: str) -> tuple[str, str, list[str]]:
    """The first sentence, or the first two after a leading Yes or No; the whole text; flags.

    `No. 1 is the answer.` begins with the word No and may be split after it: kept as it comes, and flagged.
    """
    split = sentences(whole)
    n_kept = 2 if YES_OR_NO.match(whole) else 1
    return " ".join(split[:n_kept]), whole, ["no_may_be_a_number"] if NUMBERED.match(whole) else []
