"""The six promises a part can keep, and the abilities that some parts add: whatever the program reads from a part.

Lists go in; lists of the same length and order come out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from shaketable.prompts import Template
from shaketable.prompts.own import Replaceable
from shaketable.types import (
    Answer,
    Completion,
    Draft,
    Effort,
    EndpointFact,
    Evidence,
    Failure,
    Hit,
    Json,
    Loaded,
    Measure,
    Probe,
    Prompt,
    Query,
    Question,
    Reading,
    Record,
    RefusedReply,
    Reply,
    Rewording,
    Score,
    Step,
    Variant,
    Verdict,
)

Steps = Generator[Step, Reply, Answer]

Loader = Callable[..., Loaded]
"""A dataset is a plain function of its settings."""


# --- any part -----------------------------------------------------------------------------------


@runtime_checkable
class Part(Protocol):
    """What all parts share: a frozen dataclass whose fields are its settings."""

    version: ClassVar[int]
    """Raised when the part's behavior changes, so that old and new results never mix."""


@runtime_checkable
class NamedPart(Protocol):
    name: ClassVar[str]
    """In the catalog, where it is not the class name in small letters with underscores."""


@runtime_checkable
class CalledPart(Protocol):
    given_name: str
    """What people call it: the setting `name` of any model, method or retriever, which the catalog keeps here."""


@runtime_checkable
class RenamedSettings(Protocol):
    renamed: ClassVar[Mapping[str, str]]
    """A setting of an older version → what it is written as now."""


@runtime_checkable
class PromptingPart(Protocol):
    prompts: ClassVar[tuple[Template, ...]]
    """What it asks a model with; another text makes other keys."""


@runtime_checkable
class FileReadingPart(Protocol):
    def contents(self) -> Mapping[str, object]:
        """A setting that names a file or a part → what it holds, which counts in keys instead of the name."""


@runtime_checkable
class OwnTextPart(Protocol):
    file_texts: Mapping[str, str]
    """Setting that names a file with a text → that text, read when the study was: the file may change."""


@runtime_checkable
class SourcePart(Protocol):
    source_digest: ClassVar[str]
    """Of the code that a script or notebook registered it with; other code makes other keys."""


@runtime_checkable
class PackagePart(Protocol):
    @property
    def packages(self) -> tuple[str, ...]:
        """What it imports, as it is set, of packages that do not come with the core (`EXTRAS` of errors.py): a study
        that names it is refused where one is missing."""


@runtime_checkable
class WeightReadingPart(Protocol):
    def lacks(self) -> str | None:
        """Why it cannot be used on this machine, without loading anything; None: nothing stands against it."""


# --- wordings and evidence ----------------------------------------------------------------------


@runtime_checkable
class Variation(Part, Protocol):
    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        """The wordings of each question; a variation may make several, or keep a rejected one."""


@runtime_checkable
class CountedVariation(Variation, Protocol):
    """A variation that may have a model reword, and tells what that took, and what it takes at most."""

    @property
    def by(self) -> str:
        """The model, as text; `rules` for none."""

    @property
    def max_attempts(self) -> int:
        """Calls for one question at most."""

    def reword(self, questions: Sequence[Question]) -> list[Rewording]: ...

    def prompt(self, question: Question, refused: Sequence[RefusedReply] = ()) -> Prompt:
        """What the model is asked after these attempts."""


@runtime_checkable
class ReadyVariation(Variation, Protocol):
    @property
    def loads_nothing(self) -> bool:
        """Whether its wordings are at hand without loading or asking a model."""


@runtime_checkable
class WrittenVariation(Variation, Protocol):
    """A variation whose wordings were written elsewhere."""

    @property
    def by_people(self) -> bool:
        """Whether people wrote them."""

    @property
    def title(self) -> str:
        """How tables and charts name them; empty: after who wrote them."""

    def has_rewrite(self, question: Question) -> bool:
        """Whether there is a wording of this question that can be asked."""


@runtime_checkable
class Perturbation(Part, Protocol):
    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        """The evidence that each question gets instead of its hits. Draws come from the part's seed
        and the question id alone, so one question has one disturbed context in a whole study."""


@runtime_checkable
class Retriever(Part, Protocol):
    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """At most k hits for each query, best first."""


@runtime_checkable
class RecordRetriever(Retriever, Protocol):
    """A retriever that gives the evidence of a question's own record: where there is none, the trial fails."""

    needs: ClassVar[Literal["documents", "supporting"]]
    """What records must have, some of them at least; a study on others is refused."""


@runtime_checkable
class CorpusRetriever(Retriever, Protocol):
    @property
    def corpus(self) -> str:
        """The passages that it searches, by name or path."""


# --- models -------------------------------------------------------------------------------------


@runtime_checkable
class Model(Part, Protocol):
    gives: ClassVar[frozenset[str]]
    """What it can tell beside text: `logprobs`, `entropy`, `attention` ..."""

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]: ...

    def environment(self) -> Mapping[str, Json]:
        """Engine, version, dtype, threads, exact model revision: stored with each record."""


class ReplyLine(Protocol):
    """Where prompts are handed in and replies taken as they finish, so that nobody waits for the slowest."""

    def submit(self, ticket: int, prompt: Prompt) -> None:
        """A method's later prompts have the ticket of its first: the lower a ticket, the older its trial."""

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        """Work until at least one submitted prompt is finished; empty when none is waiting."""


@runtime_checkable
class StreamingModel(Model, ReplyLine, Protocol):
    """A model that hands replies back as they finish."""


class KeptLine(ReplyLine, Protocol):
    """A line whose replies may take hours, and are kept on disk: a later go finds them there."""

    @property
    def n_at_once(self) -> int:
        """Trials in flight at most."""

    def let_go(self) -> None:
        """All that was asked is stored: replies need not be kept any more."""


@runtime_checkable
class ForgettingModel(Model, Protocol):
    def forget(self) -> None:
        """Let go of all prompts that were submitted: the run that asked them was interrupted."""


@runtime_checkable
class TellingModel(Model, Protocol):
    def written(self) -> Mapping[int, int]:
        """Ticket of each prompt under way → new tokens so far; of one that is not begun it may say nothing."""


@runtime_checkable
class DraftingModel(Model, Protocol):
    """A model that tells what it has written of replies that are not finished, and in another process goes on there."""

    def drafts(self) -> Mapping[int, Draft]:
        """Ticket of each prompt under way → what is written so far, if another process could go on from it."""

    def go_on(self, ticket: int, prompt: Prompt, draft: Draft) -> None:
        """As `submit`, of a prompt to which another process has written a part of the reply. The reply is the same as
        without: a draft that this process would not have written is not used."""

    def collect_for(self, seconds: float) -> list[tuple[int, Completion | Failure]]:
        """As `collect`, but back after this time also where nothing is finished."""


@runtime_checkable
class PipelineModel(Model, Protocol):
    """A whole system behind one call: it stands where a model and a method do."""

    @property
    def takes(self) -> frozenset[str]:
        """Which of `context`, `history`, `temperature`, `seed`, `disturb` it takes; nothing else is varied for it."""

    @property
    def optional(self) -> frozenset[str]:
        """The part of `takes` that it can do without, because its signature has a default value for it."""


@runtime_checkable
class ClosingModel(Model, Protocol):
    def close(self) -> None:
        """End what it keeps running for the next prompt: the last one is answered."""


@runtime_checkable
class WhiteBoxModel(Model, Protocol):
    def probe(self, probes: Sequence[Probe]) -> list[Reading | Failure]: ...


@runtime_checkable
class LogitModel(Model, Protocol):
    """A model that tells the next token's distribution after any beginning of an answer."""

    def expand(self, asked: Sequence[tuple[Prompt, Sequence[tuple[int, ...]]]]) -> list[list[Any]]:
        """For each prompt and each of its beginnings, the log-probabilities of all tokens at temperature 1: tensors of
        a library that is not loaded here."""

    def token_bytes(self) -> tuple[list[bytes], frozenset[int]]:
        """What each token adds to the text, and the tokens that end it."""


@runtime_checkable
class CheckedModel(Model, Protocol):
    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study whose methods `by_chat` ask by chat cannot use it, without loading or asking it; None: it can."""


@runtime_checkable
class ThinkingModel(Model, Protocol):
    @property
    def thinks(self) -> bool:
        """Whether it may write thoughts before its answer; False also where that is not known yet."""


@runtime_checkable
class ParticularModel(Model, Protocol):
    """A model that is known to refuse some settings."""

    def known_refusal(self, max_tokens: int) -> str | None:
        """Return what would be refused of a request with so many tokens, and what to set; None: nothing is known."""


@runtime_checkable
class TemperatureModel(Model, Protocol):
    """A model that says whether its temperature can be varied; of one that does not say, it can."""

    @property
    def takes_temperature(self) -> bool:
        """False: the plan has one temperature for it, the study's lowest, and nothing is said of others."""


@runtime_checkable
class PricedModel(Model, Protocol):
    @property
    def price_in(self) -> float | None:
        """USD per million prompt tokens; None: not known."""

    @property
    def price_out(self) -> float | None:
        """USD per million new tokens; None: not known."""


@runtime_checkable
class BatchedModel(PricedModel, Protocol):
    """A model that can be asked by files of requests, which are answered within hours for less money."""

    @property
    def batch(self) -> bool:
        """Whether the trials of a run are asked so."""

    @property
    def batch_price(self) -> float:
        """The share of its prices that is paid then."""

    def batch_line(self, folder: Path, deadline: float | None) -> KeptLine:
        """`folder` keeps what is under way. At the deadline, by `time.perf_counter`, `collect` raises RepliesPending;
        None: it waits."""


@runtime_checkable
class EndpointModel(Model, Protocol):
    def check(
        self, temperatures: Collection[float] = (), *, library_defaults: bool = False
    ) -> Mapping[str, EndpointFact]:
        """Find out what the endpoint does, by a few small requests. Raises ModelError where it refuses one of these
        temperatures."""


@runtime_checkable
class ListingModel(EndpointModel, Protocol):
    @property
    def top_logprobs(self) -> int:
        """How many of the likeliest tokens it lists at each position."""


@runtime_checkable
class AddressedModel(Model, Protocol):
    """A model that may be asked at several places under one key."""

    @property
    def address(self) -> str:
        """Where it is asked now."""


# --- methods ------------------------------------------------------------------------------------


@runtime_checkable
class Method(Part, Protocol):
    @property
    def searches(self) -> bool:
        """False: retrievers and perturbations are not crossed with this method."""

    wants: ClassVar[tuple[str, ...]]
    """What the model must be able to give (`attention`, `entropy`); checked when planning."""

    def answer(self, wording: str) -> Steps: ...


@runtime_checkable
class BoundedMethod(Method, Protocol):
    """A method that says what it takes at most, so that a run can be paid for before it begins."""

    def at_most(self, max_tokens: int) -> Effort:
        """Of one trial, where a generation that sets no limit of its own has `max_tokens`."""


@runtime_checkable
class RoundMethod(Method, Protocol):
    """A method that asks round after round: its limits are far above what it needs."""

    @property
    def usual_calls(self) -> float:
        """Of a trial, on average; before a run has shown it, the time left is told by it."""


@runtime_checkable
class LaidOutMethod(Method, Protocol):
    @property
    def layout(self) -> Literal["chat", "plain"]:
        """How its prompts are laid out; one that does not say asks by chat."""


@runtime_checkable
class TurnMethod(Method, Protocol):
    @property
    def turn_tokens(self) -> int | None:
        """New tokens that it gives the model at a time; None: as many as the study says."""


@runtime_checkable
class ExampleMethod(Method, Protocol):
    @property
    def n_examples(self) -> int:
        """Worked examples in its prompt."""


@runtime_checkable
class FirstLineMethod(Method, Protocol):
    first_line: ClassVar[bool]
    """True: its answer is the first line of what the model wrote."""


@runtime_checkable
class ReplaceableMethod(Method, Protocol):
    def replaceable(self) -> Mapping[str, Replaceable]:
        """Setting → the prompt that it replaces by one's own."""


@runtime_checkable
class InstructedMethod(Method, Protocol):
    @property
    def system_message(self) -> str | None:
        """What the model is told before every prompt of the method; None: nothing."""


@runtime_checkable
class DatasetMethod(Method, Protocol):
    """One whose settings may follow the dataset: the plan knows the dataset, a method never does."""

    @property
    def follows_dataset(self) -> bool: ...

    def suited_to(self, hops: Literal["multi_hop", "single_hop"]) -> Method:
        """Itself with the settings that follow the dataset settled."""


# --- metrics ------------------------------------------------------------------------------------


@runtime_checkable
class Metric(Part, Protocol):
    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        """The scores of each record: one number for most metrics, several named ones for some."""


@runtime_checkable
class DeclaredMetric(Protocol):
    numbers: ClassVar[tuple[Measure, ...]]
    """What it gives: unit, direction and words of each number. One that does not say gives one number under its own
    name, taken as better when higher."""


@runtime_checkable
class TraceChoosingMetric(Metric, Protocol):
    reads_trace: ClassVar[bool]
    """False: it reads the answer alone; its records then come without trace and evidence, which is faster."""


@runtime_checkable
class ScaledMetric(Metric, Protocol):
    @property
    def scaled(self) -> bool:
        """Whether it reads the distribution that was sampled in place of the model's own."""


@runtime_checkable
class GoldMetric(Metric, Protocol):
    needs_answers: ClassVar[bool]
    """True: it compares with accepted answers and nothing else, and has no number of a question without them. One that
    does not say can do without."""


@runtime_checkable
class BatchingMetric(Metric, Protocol):
    records_at_once: ClassVar[int]
    """Handed to one call at most; what a call costs is lost when it is interrupted."""


@runtime_checkable
class PreparingMetric(Metric, Protocol):
    def prepare(self, records: Iterable[Record], questions: Mapping[str, Question]) -> None:
        """Read all records of a run before they are scored, so that what they have in common is worked out once."""


@runtime_checkable
class JudgingMetric(Metric, Protocol):
    @property
    def verdicts(self) -> MutableMapping[str, Verdict]:
        """What its model has said so far: filled from the run before scoring."""

    def judge(
        self, records: Sequence[Record], questions: Mapping[str, Question]
    ) -> Generator[Mapping[str, Verdict], None, None]:
        """Ask for the verdicts that are missing; those that came since the last time are handed out to be stored."""


@runtime_checkable
class MatchingMetric(Metric, Protocol):
    @property
    def match(self) -> Literal["whole", "substring", "token", "startswith"]:
        """How it finds an accepted answer in a text; curves know all of these rules but `whole`."""


@runtime_checkable
class AliasMetric(Metric, Protocol):
    @property
    def aliases(self) -> bool:
        """Whether every accepted answer counts, or the canonical one alone."""


# --- results --------------------------------------------------------------------------------------


@runtime_checkable
class EvidenceResult(Protocol):
    tells_of_evidence: ClassVar[bool]
    """True: it tells of disturbed evidence, and is asked again without evidence that was not disturbed as asked."""
