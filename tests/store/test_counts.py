"""What is missing from a run, counted by its reason."""

from made_studies import small_study

from shaketable.store import Run
from shaketable.types import Variant


def rejected(question_id, reason, refusal=None):
    provenance = {} if refusal is None else {"refusal": refusal}
    return Variant(
        question_id=question_id, text=f"{question_id}?", variation="formality", rejected=reason, provenance=provenance
    )


def test_rejected_wordings_are_counted_by_the_kind_of_reason_that_their_maker_tells(tmp_path):
    run = Run.prepare(tmp_path / "run", small_study(tmp_path))
    with run.writing() as store:
        store.add_rejected(
            [
                rejected("q0", "names lost: Jaws", "names_lost"),
                rejected("q1", "it lost Paris", "names_lost"),
                rejected("q2", "empty", "empty"),
                # A run of an older version has the sentences alone.
                rejected("q3", "similarity 0.61 to the original, expected 0.7 or more"),
                rejected("q4", "similarity 0.52 to the original, expected 0.7 or more"),
                rejected("q5", "numbers lost: 7"),
            ]
        )
    assert [(count.reason, count.n, count.example) for count in run.rejected()] == [
        ("names lost", 2, "q0?"),
        ("similarity … to the original, expected … or more", 2, "q3?"),
        ("empty", 1, "q2?"),
        ("numbers lost", 1, "q5?"),
    ]
