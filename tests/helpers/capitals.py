"""Three questions with their evidence, handed over in Python, and a run of them that takes a second."""

from __future__ import annotations

import shaketable
from shaketable.stages.run import ask

QUESTIONS = [
    {
        "id": city,
        "question": f"What is the capital of {land}?",
        "answers": [city],
        "documents": [{"title": land, "sentences": [f"{city} is the capital of {land}.", f"It is old, as {land} is."]}],
        "facts": [[land, 0], [land, 1]],
    }
    for city, land in (("Paris", "France"), ("Rome", "Italy"), ("Oslo", "Norway"))
]


def run_into(folder, *, whole=False, **tables):
    """The three questions, answered and scored, by default of a system that says Paris; `whole`: to the report."""
    usual = {"models": ["scripted(replies=('Paris',))"], "methods": ["single_retrieval"], "metrics": ["contains"]}
    study = shaketable.make_study("capitals", questions=QUESTIONS, analyze={"n_resamples": 20}, **{**usual, **tables})
    if whole:
        return shaketable.run(study, folder)
    run = ask(study, folder)
    shaketable.score(run)
    return run


def answers(run):
    return dict(run.records().select("question_id", "answer").iter_rows())
