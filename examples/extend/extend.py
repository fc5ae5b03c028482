"""Two questions, then three, then a third repeat, then another method, in one folder: what is new alone is asked.

Run it with `python examples/extend/extend.py [FOLDER]`; it takes some seconds and ends with a report. The same by hand:

    shaketable run examples/extend/study.toml --out runs/extend
    shaketable run examples/extend/study.toml --out runs/extend --limit 3
    shaketable run examples/extend/study.toml --out runs/extend --limit 3 --set cross.repeats=3
"""

from __future__ import annotations

import sys
from pathlib import Path

import shaketable
from shaketable.stages.run import ask

STUDY = Path(__file__).with_name("study.toml")
MORE = 'cross.methods=["single_retrieval", "closed_book"]'


def main(folder: str) -> None:
    n_before = 0
    for words, overrides, limit in (
        ("2 questions", [], 2),
        ("3 questions", [], 3),
        ("3 repeats", ["cross.repeats=3"], 3),
        ("2 methods", ["cross.repeats=3", MORE], 3),
    ):
        study = shaketable.load_study(STUDY, overrides, limit)
        summary = ask(study, folder).summary()
        n_calls = sum(system.n_calls for system in summary.spent)
        print(f"{words}: {n_calls - n_before} new calls, {summary.done} answers in all")
        n_before = n_calls
    made = shaketable.run(study, folder)
    print(f"{len(made.earlier_studies())} extensions; the report: {made.folder / 'report.html'}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/extend")
