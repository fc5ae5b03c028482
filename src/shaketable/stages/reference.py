"""Questions with short answers → sentence-form reference answers, written once and kept with the run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shaketable import catalog
from shaketable.errors import RunError
from shaketable.identity import seed_from
from shaketable.prompts import REFERENCE_ANSWER, REFERENCE_TEMPLATE, OwnPrompt, Template
from shaketable.protocols import Model
from shaketable.store import Run
from shaketable.study import SHORT, TEMPLATE
from shaketable.text.language import sentences
from shaketable.text.plain import occurs_whole
from shaketable.types import Completion, Failure, Message, Prompt, Question, Sampling, Study

GREEDY = Sampling(temperature=0.0, max_tokens=100)
"""How references are written unless the study says otherwise."""
PACKAGES = ("spacy",)
"""By which a model's text is cut into sentences."""
YES_OR_NO = re.compile(r"(yes|no)\b", re.IGNORECASE)
NUMBERED = re.compile(r"no\. ?\d", re.IGNORECASE)
RULE = 2
"""Raised when texts become references by another rule, so that stored ones of an older rule are not used. The first
cut templates at the end of the quoted question, and many lost the answer."""

Row = tuple[str, str, str, list[str]]
"""As the store keeps it: question id, reference, the whole text it was cut from, flags."""


def made_by(study: Study) -> str | None:
    """Everything that determines the sentence-form references; None: answers are compared with the short ones."""
    if study.reference == SHORT:
        return None
    if study.reference == TEMPLATE:
        return f"{TEMPLATE}@{RULE}+{REFERENCE_TEMPLATE.identity}"
    sampling = _sampling(study)
    how = "" if sampling == GREEDY else f"+{sampling.temperature:g}/{sampling.max_tokens}"
    return f"{catalog.spelled(_writer(study))}@{RULE}+{_prompt(study).identity}{how}"


def write_references(run: Run) -> int:
    """Write the references that are not there yet; returns how many were written."""
    maker = made_by(run.study)
    if maker is None:
        return 0
    with run.writing() as store:
        todo = [question for question in store.questions(maker) if question.reference is None and question.answers]
        made = _from_template(todo) if run.study.reference == TEMPLATE else _from_model(run.study, todo)
        rows = [one for one in made if not isinstance(one, Failure)]
        store.add_references(maker, rows)
        store.set_meta(references=maker)
    failures = [one for one in made if isinstance(one, Failure)]
    if failures:
        raise RunError(
            f"{run.study.reference} could not write {len(failures)} of {len(todo)} reference answers: "
            f"{failures[0].message} "
            f"The others are kept. Try again: shaketable score {run.folder}, or use score.reference = 'short'."
        )
    return len(rows)


def _from_template(questions: Sequence[Question]) -> list[Row | Failure]:
    """Not cut: the template is one sentence, whatever marks the question within it has."""
    texts = [REFERENCE_TEMPLATE.fill(question=question.text, answer=question.answers[0]) for question in questions]
    return [(question.id, text, text, []) for question, text in zip(questions, texts, strict=True)]


def _from_model(study: Study, questions: Sequence[Question]) -> list[Row | Failure]:
    if not questions:
        return []
    prompts = [
        Prompt(
            messages=(
                Message(role="user", content=_prompt(study).fill(question=question.text, answer=question.answers[0])),
            ),
            sampling=_sampling(study),
            seed=seed_from("reference", question.id),
        )
        for question in questions
    ]
    replies: list[Completion | Failure] = _writer(study).generate(prompts)
    return [
        reply if isinstance(reply, Failure) else _row(question, reply.text.strip())
        for question, reply in zip(questions, replies, strict=True)
    ]


def _writer(study: Study) -> Model:
    return catalog.build("model", study.reference, "score.reference")


def _sampling(study: Study) -> Sampling:
    return Sampling(temperature=study.reference_temperature, max_tokens=study.reference_max_tokens)


def _prompt(study: Study) -> Template | OwnPrompt:
    return REFERENCE_ANSWER if study.reference_prompt is None else OwnPrompt(study.reference_prompt)


def _row(question: Question, whole: str) -> Row:
    text, whole, flags = cut(whole)
    if not occurs_whole(question.answers[0], text):
        flags.append("answer_cut_off" if occurs_whole(question.answers[0], whole) else "answer_missing")
    return question.id, text, whole, flags


def cut(whole: str) -> tuple[str, str, list[str]]:
    """The first sentence, or the first two after a leading Yes or No; the whole text; flags.

    `No. 1 is the answer.` begins with the word No and may be split after it: kept as it comes, and flagged.
    """
    split = sentences(whole)
    n_kept = 2 if YES_OR_NO.match(whole) else 1
    return " ".join(split[:n_kept]), whole, ["no_may_be_a_number"] if NUMBERED.match(whole) else []
