"""How the chapter on wording names ways of asking, systems and datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.unaided import ClosedBook
from shaketable.factors import ORIGINAL, Cell, is_by_people, title_of_wordings
from shaketable.report.section import Headline, Page
from shaketable.report.words import (
    caveats_of_agreement,
    count_questions,
    describe_bootstrap,
    name_part,
    name_wording,
)

ALL_DATASETS = "all datasets"
ALL_WORDINGS = "all wordings"
WITHOUT_PEOPLE = "without rewrites by people"


def name_way(variation: str | None) -> str:
    """How pictures and tables name a way of asking; the file of people's rewrites is no part of it."""
    if variation is None:
        return ALL_WORDINGS
    title = title_of_wordings(variation)
    return title or ("people" if is_by_people(variation) else name_wording(variation))


def order_of_way(variation: str | None) -> tuple[int, str]:
    """The original first, people next, all wordings last."""
    if variation is None:
        return 3, ""
    rank = 0 if variation == ORIGINAL else 1 if is_by_people(variation) else 2
    return rank, variation


def name_rewording(variation: str | None) -> str:
    """How a sentence names a variation."""
    if variation is None:
        return "all rewordings"
    if title := title_of_wordings(variation):
        return f"the rewriting '{title}'"
    return "rewriting by people" if is_by_people(variation) else name_wording(variation)


def name_dataset(cell: Cell) -> str:
    return cell.dataset or ALL_DATASETS


def name_system(cell: Cell, page: Page) -> str:
    evidence = cell.perturbation if "perturbation" in page.labels.differing else None
    return " · ".join([page.labels.system(cell.system), *([name_part(evidence)] if evidence else [])])


def name_system_and_heat(cell: Cell, page: Page) -> str:
    """The system, and the temperature where it is not 0, as tables name them."""
    return name_system(cell, page) + (f" · {cell.temperature:g}" if cell.temperature else "")


def name_where(cell: Cell, page: Page) -> str:
    """The system and its dataset, and the temperature where it is not 0, as sentences name them."""
    at = f" at temperature {cell.temperature:g}" if cell.temperature else ""
    return f"{name_system(cell, page)} on {name_dataset(cell)}{at}"


def make_headline(kind: str, cell: Cell, sentence: str, detail: str, page: Page) -> Headline:
    """Without a card, unless it is given a number."""
    return Headline(kind=kind, cell=cell, system=name_system(cell, page), sentence=sentence, detail=detail)


def describe_numbers(numbers: Sequence[WordingNumber], page: Page, *more: str) -> tuple[str, ...]:
    """The caveats of an analysis; none where it has no numbers."""
    if not numbers:
        return ()
    agreed = caveats_of_agreement(number.estimate for number in numbers)
    return (describe_bootstrap(page.bootstrap), *agreed, *more)


def describe_closed_books(closed_books: Sequence[ClosedBook]) -> list[str]:
    """What stands for no retrieval, and whose numbers do not compare searching alone."""
    caveats = []
    for method in sorted({closed_book.method for closed_book in closed_books}):
        caveats.append(
            f"{method} stands for no retrieval: of several closed-book methods the one asked in the system's own form, "
            "with as many worked examples and the same layout, else the one with the most examples."
        )
        compared = (closed_book for closed_book in closed_books if closed_book.method == method)
        others = sorted({closed_book.system.method for closed_book in compared if not closed_book.is_alike})
        if others:
            caveats.append(
                f"{', '.join(others)}: not known to be asked in the form of {method}, so need, over- and "
                "under-confidence, help and harm may mix prompt and retrieval."
            )
    return caveats


def join_details(parts: Iterable[str], number: WordingNumber) -> str:
    """One sentence after another, and how many questions stand behind them."""
    return f"{'. '.join(parts) or 'Paired by question'} ({count_questions(number.estimate.n)})."
