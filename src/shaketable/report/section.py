"""What a page is made of: sections with headlines, figures, matrices and tables. No template knows an analysis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

import altair as alt
import polars as pl

from shaketable.analyses.claims import Claim, Claims, Says, Subject, claims_of
from shaketable.analyses.score_reading import ScoreField, ScoreReader
from shaketable.factors import ORIGINAL, Cell, Labels, is_applied
from shaketable.report.charts.marks import Mark, Point, Titles
from shaketable.report.words import Entry, format_amount, format_interval, format_value, name_direction, without_sign
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate, Findings, Question, Record

Result = TypeVar("Result")
Look = Literal["good", "bad", "even", "quiet"]
Band = Literal["interval", "sd"]
"""What is shaded around scores: their intervals, or ± the standard deviation between runs."""
Chapter = Literal["answers", "wording", "facts", "dice", "evidence", "together"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """Something worth a sentence, and perhaps a card."""

    kind: str
    """Cards of one kind compete; the order of kinds is in `cards.py`, and kinds that are not there come last."""
    cell: Cell
    system: str
    """How the page names what is spoken of."""
    sentence: str
    detail: str = ""
    """What stands behind it."""
    number: str = ""
    """Of the card; empty: a sentence without a card."""
    interval: str = ""
    direction: str = ""
    """Of a number that is a difference: `loss` or `gain`; empty: the sentence says which way it goes."""
    is_clear: bool = True
    """Whether it says something; a card has better things to say than that nothing was shown."""
    claims: tuple[Claim, ...] = ()
    """What it speaks of, with the verdicts over the whole study; none: it states a number with its interval."""
    links: tuple[str, ...] = ()
    """Figures that show the evidence, the first on the page is taken; none of them: its own section."""
    spark_title: str = ""
    spark: tuple[Point, ...] = ()
    """The line over temperatures behind it, the coolest first."""

    @property
    def text(self) -> str:
        return f"{self.sentence} {self.detail}" if self.detail else self.sentence

    def with_claims(self, *claims: Claim | None) -> Headline:
        """That speaks of these, and says something if one of them is shown; None: nobody handed it over."""
        handed = tuple(claim for claim in claims if claim is not None)
        return replace(self, claims=handed, is_clear=self.is_clear and any(claim.is_shown for claim in handed))

    def with_level(self, level: Estimate, *, is_clear: bool = True) -> Headline:
        """On a card, whose number is a level."""
        return replace(self, number=format_value(level), interval=format_interval(level), is_clear=is_clear)

    def with_amount(self, amount: Estimate, *, is_clear: bool = True) -> Headline:
        """On a card, whose number is a difference."""
        return replace(self, number=format_amount(amount), interval=format_interval(amount), is_clear=is_clear)

    def with_loss(self, loss: Estimate, metric: str, *, is_clear: bool = True) -> Headline:
        """On a card, whose number is a loss or a gain: without the word it reads like a score."""
        told = self.with_amount(without_sign(loss), is_clear=is_clear)
        return replace(told, direction=name_direction(loss, metric) if loss.value is not None else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class MatrixCell:
    look: Look
    """Words and marks say the same."""
    mark: str
    lines: tuple[str, ...] = ()


NOTHING = MatrixCell(look="quiet", mark="–")


@dataclass(frozen=True, kw_only=True, slots=True)
class Matrix:
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[MatrixCell, ...]], ...]], ...]
    """Systems, each with its disturbances and their cells."""
    title: str = ""
    """Empty: the section's title is enough."""
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    title: str = ""
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A picture that can be drawn: what it shows in words, and the marks behind it."""

    name: str
    """Also its file name, and where links on the page lead."""
    title: str
    note: str
    """How to read it, with n."""
    marks: tuple[Mark, ...]
    titles: Titles
    draw: Callable[[], alt.TopLevelMixin]
    """A chart form with its marks, such as `partial(lines, marks, titles)`."""
    caption: str | None = None
    """What it shows, as a sentence; None: the first headline of its section."""
    draw_live: Callable[[], alt.TopLevelMixin] | None = None
    """Drawn on the page in its place, where what can be moved shows more than what is printed."""
    table: Table | None = None
    """The numbers behind it, on the page; None: those of the marks."""
    chapter: Chapter | None = None
    """None: that of its section."""
    is_main: bool = True
    """False: the same for another metric or system, folded away."""
    is_on_page: bool = True
    """False: only a file, because there are many alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """What the page tells of one result."""

    chapter: Chapter
    question: str
    """The question that the analysis answers."""
    title: str = ""
    """Empty: the question."""
    name: str = ""
    """Where links on the page lead; empty: the page takes that of the module that makes it."""
    headlines: tuple[Headline, ...] = ()
    """The most important first."""
    shown: tuple[Headline, ...] | None = None
    """Those that stand in the section itself; None: all."""
    figures: tuple[Figure, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    """How to read it."""
    caveats: tuple[str, ...] = ()
    """How the numbers were made, and what they cannot say."""

    def __post_init__(self) -> None:
        first = self.headlines[0].text if self.headlines else ""
        told = (replace(figure, caption=first) if figure.caption is None else figure for figure in self.figures)
        object.__setattr__(self, "figures", tuple(told))

    @property
    def heading(self) -> str:
        return self.title or self.question

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(headline.text for headline in (self.headlines if self.shown is None else self.shown))

    @property
    def statements(self) -> tuple[str, ...]:
        """All that it says, the most important first, also what a report says on its cards alone."""
        return tuple(dict.fromkeys((*(headline.text for headline in self.headlines), *self.sentences)))

    @property
    def has_block(self) -> bool:
        """Whether there is anything beside figures."""
        return bool(self.sentences or self.matrices or self.tables)


@dataclass(frozen=True, kw_only=True)
class Page:
    """What sections may know beside their own result."""

    findings: Findings
    labels: Labels
    scores: ScoreField = ScoreField()
    """As analyses saw them, for pictures of single questions: a table, or what reads it."""
    band: Band = "interval"
    read_records: Callable[[Sequence[str]], Sequence[Record]] = lambda keys: ()
    """Records by their keys, for what is shown in full."""
    read_questions: Callable[[Collection[str]], Sequence[Question]] = lambda ids: ()
    """Questions by their ids."""

    @property
    def score_reader(self) -> ScoreReader:
        """The scores, a number at a time."""
        reader: ScoreReader = vars(self)["scores"]
        return reader

    def of_metric(self, name: str | None) -> pl.DataFrame:
        """The scores of one number; empty where it is not scored."""
        return self.score_reader.of(name or "")

    def result(self, kind: type[Result]) -> Result | None:
        """What another analysis gave, of evidence as it is; None: it was not asked."""
        results = (finding.result for finding in self.findings.findings if not finding.is_as_asked)
        return next((result for result in results if isinstance(result, kind)), None)

    def name(self, cell: Cell) -> str:
        """A system, with its dataset and wording where the run has several."""
        return self.labels.name(cell, "dataset", "variation")

    def headline(self, kind: str, cell: Cell, sentence: str, detail: str) -> Headline:
        """Of a system that is named so; without a card, unless it is given a number."""
        return Headline(kind=kind, cell=cell, system=self.name(cell), sentence=sentence, detail=detail)

    @cached_property
    def claims(self) -> Claims:
        """All that the study may claim, with their verdicts."""
        return claims_of(self.findings)

    @cached_property
    def as_asked(self) -> Page:
        """The same of results without flagged evidence, which are a family of their own."""
        again = (replace(own, is_as_asked=False) for own in self.findings.findings if own.is_as_asked)
        return replace(self, findings=replace(self.findings, findings=tuple(again)))

    def claim(
        self, kind: str, cell: Cell, metric: str = "", *, other: str = "", says: Says = "differs"
    ) -> Claim | None:
        return self.claims.of(Subject(kind=kind, cell=cell, metric=metric, other=other), says)

    def claim_of(self, subject: Subject) -> Claim | None:
        """Of something that differs."""
        return self.claims.of(subject)

    def is_shown(self, kind: str, cell: Cell, metric: str = "", *, other: str = "", says: Says = "differs") -> bool:
        claim = self.claim(kind, cell, metric, other=other, says=says)
        return claim is not None and claim.is_shown

    def floor(self, cell: Cell, metric: str) -> float | None:
        """What answers to other questions score; None: of a share, which has its floor at 0, or not measured."""
        system = cell.system
        if system is None:
            return None
        place = (metric, cell.dataset, system.model, system.method, system.retriever)
        values = {
            floor.variation: floor.score.value
            for floor in self.findings.floors
            if (floor.metric, floor.dataset, floor.model, floor.method, floor.retriever) == place
        }
        return values.get(cell.variation or ORIGINAL)

    def is_applied(self, cell: Cell) -> bool:
        """Whether temperature reached the system of a cell."""
        return is_applied(cell, self.findings.not_applied)

    @property
    def bootstrap(self) -> Bootstrap:
        return Bootstrap(confidence=self.findings.confidence, n_resamples=self.findings.n_resamples)
