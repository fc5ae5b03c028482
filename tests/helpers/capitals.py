"""Three questions with their evidence, handed over in Python, and a run of them that takes a second."""

from __future__ import annotations

import shaketable

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


def run_into(folder, **tables):
    """A run of the three questions; its system says Paris, if nothing else is given."""
    usual = {"models": ["scripted(replies=('Paris',))"], "methods": ["single_retrieval"], "metrics": ["contains"]}
    study = shaketable.make_study("capitals", questions=QUESTIONS, analyze={"n_resamples": 20}, **{**usual, **tables})
    return shaketable.run(study, folder)


def answers(run):
    return dict(run.records().select("question_id", "answer").iter_rows())
