"""The frozen values that travel the line, from a question to a finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, cast

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
NOTHING: Mapping[str, Any] = MappingProxyType({})
Role = Literal["system", "user", "assistant"]


# --- what is asked, and from what ---------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    id: str
    """`PASSAGE#INDEX`; it survives every perturbation, so changes are exact."""
    text: str
    """Stripped of white space at both ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    id: str
    title: str
    sentences: tuple[Sentence, ...]
    """In reading order; a corpus that is not split gives one long sentence."""

    @property
    def text(self) -> str:
        return " ".join([sentence.text for sentence in self.sentences])


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked, what counts as right, and the evidence that its dataset gives.

    >>> import shaketable
    >>> shaketable.Question(id="q1", text="What is the capital of France?", answers=("Paris",)).answers[0]
    'Paris'
    """

    id: str
    text: str
    answers: tuple[str, ...]
    """Accepted short answers, the canonical one first; empty when tagged unanswerable."""
    dataset: str = ""
    documents: tuple[Passage, ...] = ()
    """All documents of the record, gold and distracting; empty for closed-book sets."""
    supporting: tuple[str, ...] = ()
    """Ids of the supporting sentences, in the order the dataset gives its facts."""
    gold_titles: tuple[str, ...] = ()
    """Titles of the supporting documents, for gold hits of real retrievers."""
    tags: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What a question can be grouped by: type, n_facts, level ..."""
    reference: str | None = None
    """A sentence-form reference answer; None: scores compare with the short answers."""

    def sentence(self, sentence_id: str) -> Sentence:
        """The sentence with this id, wherever it stands in the documents."""
        for document in self.documents:
            for sentence in document.sentences:
                if sentence.id == sentence_id:
                    return sentence
        raise KeyError(sentence_id)


REFUSAL = "refusal"
"""Where the provenance of a rejected wording says for what kind of reason."""
HISTORY = "history"
"""Where the provenance of a follow-up question has what was said before it: role and content of each message."""
STRENGTH = "strength"
"""Where the provenance of a wording says how far it is from the original."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Strength:
    """How far a wording is from the original, whoever made it. What is None was not measured."""

    terms_kept: float | None = None
    """Share of the original's search terms that the wording still has, from 0 to 1."""
    edit_distance: float | None = None
    """Words put in, taken out or replaced, as a share of the longer of the two, from 0 to 1."""
    loss: float | None = None
    """Mean loss of a token minus that of the original, in nats, by the embedded model; above 0: less likely."""
    reading_ease: float | None = None
    """Flesch reading ease minus that of the original; below 0: harder to read."""
    meaning: float | None = None
    """Cosine of the two sentence vectors, from −1 to 1."""
    reason: str | None = None
    """Why something is None; None: everything was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    question_id: str
    text: str
    """The wording that is asked."""
    variation: str
    """The variation that made it, as text; `original` for the untouched wording."""
    provenance: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Who made it and how: attempts, checker, rule, annotator ..."""
    rejected: str | None = None
    """Why the meaning gate refused it; None: accepted. Rejected variants are kept, never averaged."""

    @property
    def refusal(self) -> str | None:
        """The kind of reason, by which like ones are counted; None: accepted, or its maker tells none."""
        kind = self.provenance.get(REFUSAL)
        return kind if isinstance(kind, str) else None

    @property
    def history(self) -> tuple[Message, ...]:
        """What was said before it is asked; empty: it opens the conversation."""
        if HISTORY not in self.provenance:
            return ()
        said = cast(Sequence[Mapping[str, str]], self.provenance[HISTORY])
        return tuple(Message(role=cast(Role, one["role"]), content=one["content"]) for one in said)

    @property
    def spelled(self) -> str:
        """As keys spell it: the wording, after what was said before it."""
        return "\n".join((*(message.content for message in self.history), self.text))

    @property
    def strength(self) -> Strength | None:
        """How far it is from the original; None: nobody measured, as in older runs, or it is the original."""
        measured = self.provenance.get(STRENGTH)
        if not isinstance(measured, dict):
            return None

        def number(name: str) -> float | None:
            value = measured.get(name)
            return float(value) if isinstance(value, int | float) else None

        reason = measured.get("reason")
        return Strength(
            terms_kept=number("terms_kept"),
            edit_distance=number("edit_distance"),
            loss=number("loss"),
            reading_ease=number("reading_ease"),
            meaning=number("meaning"),
            reason=reason if isinstance(reason, str) else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Making:
    """What it took to word one question another way."""

    n_attempts: int = 1
    n_calls: int = 0
    """Of a model; 0: rules or people made it."""
    n_failures: int = 0
    """Calls that brought no reply."""
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    """Of all calls, one after the other."""

    def __add__(self, other: Making) -> Making:
        return Making(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedReply:
    """A model's attempt at rewording that was not accepted."""

    text: str
    """As the model wrote it; empty: it wrote nothing, or the call failed."""
    feedback: str
    """What the model is told about it: why, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewording:
    """What a variation made of one question."""

    variants: tuple[Variant, ...]
    making: Making | None = field(default_factory=Making)
    """None: nobody counted when it was made."""
    may_retry: bool = False
    """Whether it failed for a reason that may pass: a model that was busy, weights that were not there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """A record of a dataset that was read and left out."""

    where: str
    """File, line or record, and id."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A record of a dataset that was kept, but not as it was read."""

    where: str
    """File, line or record, and id."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What a dataset gives."""

    questions: tuple[Question, ...]
    """In the order of the file; ids are unique."""
    rejected: tuple[Rejected, ...] = ()
    corpus: tuple[Passage, ...] = ()
    """What a real retriever may search, ids unique; empty for closed-book sets."""
    remarks: tuple[Remark, ...] = ()
    """Aliases that were dropped, facts that name no sentence."""


# --- evidence -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What a retriever is told. The scheduler adds the question; a method never sees it."""

    text: str
    question: Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A passage that a search brought, and where it stands.

    >>> import shaketable
    >>> from shaketable.types import Passage, Sentence
    >>> france = Passage(id="p1", title="France", sentences=(Sentence(id="p1#0", text="Its capital is Paris."),))
    >>> shaketable.Hit(passage=france, rank=1, score=None, source="mine").passage.text
    'Its capital is Paris.'
    """

    passage: Passage
    rank: int
    """1 is best."""
    score: float | None
    """The retriever's own number; None where it has none (gold evidence)."""
    source: str
    """The part that put it there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One change to one sentence, or a passage that moves; replaying a log's edits on the input gives the output."""

    kind: Literal["replace", "remove", "insert", "move"]
    sentence_id: str
    """A passage moves with its first sentence."""
    before: str | None
    """None: inserted."""
    after: str | None
    """None: removed."""
    note: str = ""
    rank: int | None = None
    """Where a moved or new passage stands after all edits, 1 is first; None: the edit stays inside its passage."""
    title: str | None = None
    """Of the new passage that the inserted sentence belongs to; None: it joins a passage that is there."""
    source: str | None = None
    """The part that brings the new passage."""
    id_after: str | None = None
    """Of a replacing sentence that has an id of its own; None: the sentence keeps its id."""
    anchor: str | None = None
    """Id of the sentence that an inserted one stands beside; None: it is not inserted, or opens a passage."""
    side: Literal["before", "after"] | None = None
    """Of the anchor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a search brought after the perturbation had its turn.

    >>> import shaketable
    >>> shaketable.Evidence(hits=(), flags=("nothing_found",)).flags
    ('nothing_found',)
    """

    hits: tuple[Hit, ...]
    edits: tuple[Edit, ...] = ()
    flags: tuple[str, ...] = ()
    """What could not be done as asked, such as `nothing_to_mask`; counted in the report."""


# --- talking to models --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How tokens are drawn; neutral by default, so that temperature alone shapes the dice."""

    temperature: float
    """0 means greedy: the most likely token, lowest id among equals."""
    max_tokens: int
    """New tokens at most, the end mark counted."""
    top_p: float = 1.0
    top_k: int = 0
    """0 means off."""
    repetition_penalty: float = 1.0
    library_defaults: bool = False
    """Use what the checkpoint or the provider ships instead of the three values above."""
    stop: tuple[str, ...] = ()
    """Generation ends after the first of these; it stays at the end of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    messages: tuple[Message, ...]
    """A last message by the assistant is continued, not answered."""
    sampling: Sampling
    seed: int
    layout: Literal["chat", "plain"] = "chat"
    """`plain` joins the contents as raw text without a chat template."""
    hits: tuple[Hit, ...] = ()
    """Evidence as passages, for a pipeline; a model reads the messages alone."""
    wants: tuple[str, ...] = ()
    """Extras per token: `logprobs`, `top_logprobs`, `entropy`, and `processed_logprobs`, `processed_entropy` of the
    distribution that was really sampled; `token_ids`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What a model replied to a prompt.

    >>> import shaketable
    >>> reply = shaketable.Completion(text="Paris", finish_reason="end", n_prompt_tokens=9, n_tokens=2, seconds=0.1)
    >>> reply.text
    'Paris'
    """

    text: str
    finish_reason: Literal["end", "stop", "length"]
    """The model's end mark, a stop string, or max_tokens."""
    n_prompt_tokens: int
    n_tokens: int
    """Tokens generated, thoughts and the end mark included."""
    seconds: float
    """Time the reply took, its share where it was computed with others."""
    thoughts: str = ""
    """A reasoning model's thinking, kept apart from the answer."""
    n_thought_tokens: int | None = 0
    """None: the endpoint gives thoughts without a count."""
    written: str = ""
    """Thoughts and text as one, with their tags, word for word: what a later prompt goes on from. Empty: the text."""
    tokens: tuple[str, ...] = ()
    """The generated tokens as text; empty unless extras were wanted."""
    extras: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What was wanted and could be had, one list per name, aligned with `tokens`."""
    decoding: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """The values really used: temperature, top_p, top_k, penalty, seed."""
    notes: tuple[str, ...] = ()
    """What the endpoint ignored, such as `seed_ignored` or `logprobs_missing`."""
    dollars: float | None = None
    """What the call cost, where the system says so itself; None: by the model's prices, if it has any."""
    n_calls: int = 1
    """Calls of a model that stand behind it; a pipeline may make several, and none yet while it waits."""
    hits: tuple[Hit, ...] = ()
    """What a pipeline found by itself."""
    waits: bool = False
    """Whether a pipeline wants these hits back, disturbed, before it goes on; there is no text yet then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a trial has no answer. It is kept as what it is, and never counted as a wrong answer.

    >>> import shaketable
    >>> shaketable.Failure(kind="timeout", message="no answer in 120 s", step="generate", may_retry=True).kind
    'timeout'
    """

    kind: str
    """`too_long`, `timeout`, `rate_limit`, `server`, `refused_setting`, `method`, `no_evidence` ..."""
    message: str
    step: str
    """The step that failed: search, generate, probe or method."""
    may_retry: bool
    """Whether running again may help; such trials are tried again on resume."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointFact:
    """Something an endpoint does or does not do, as its replies tell."""

    value: bool | None
    """None: the replies could not tell."""
    reason: str


# --- the steps a method may ask for -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    query: str
    k: int
    found: tuple[Hit, ...] | None = None
    """What a pipeline found by itself, instead of what a retriever would; None: a retriever searches."""
    is_handed_over: bool = True
    """Whether the perturbation may act; False: what a pipeline found is told after the fact."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generate:
    messages: tuple[Message, ...]
    layout: Literal["chat", "plain"] = "chat"
    max_tokens: int | None = None
    """None: the study's value."""
    stop: tuple[str, ...] = ()
    sampling: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Values that the method fixes for this step alone, such as temperature=0.7."""
    hits: tuple[Hit, ...] = ()
    """Evidence as passages, for a pipeline; a model reads the messages alone."""
    wants: tuple[str, ...] = ()
    purpose: str = ""
    """What a call beside the method's own is for, such as `answer_completion`; such calls can be left out of counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """Read a text with a white-box model, without generating."""

    text: str
    wants: tuple[str, ...]
    """`tokens`, `attention`, `logprobs`, `entropy` ..."""
    token_ids: tuple[int, ...] | None = None
    """The very tokens to read, such as those just generated; None: the text is cut into tokens anew."""
    before: tuple[Message, ...] = ()
    """A prompt to read first; the reading is of the text alone."""
    layout: Literal["chat", "plain"] = "chat"
    """Of the prompt before, as in Generate."""
    beginning_mark: bool = False
    """Read the model's beginning mark, if it has one, before a text that has no prompt, so that the first token has a
    probability and attention has where to rest. The reading is of the text alone: rows of attention then sum to less
    than 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The reply to a Probe."""

    tokens: tuple[str, ...]
    """As text; a token that begins a word keeps the space before it."""
    extras: Mapping[str, Any]
    """`attention`: of the last layer, heads x tokens x tokens; `logprobs` and `entropy` of each token given those
    before it, None for the first of all; `token_ids`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A decision a method wants in its trace, such as a trigger with its value; it needs no reply."""

    name: str
    values: Mapping[str, Json]


Step = Search | Generate | Probe | Note
Reply = Evidence | Completion | Reading | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a method ends with.

    >>> import shaketable
    >>> shaketable.Answer(text="Paris", working="Its capital is Paris.").text
    'Paris'
    """

    text: str
    working: str = ""
    """Everything the method wrote on its way; empty where that is the answer itself."""
    hits: tuple[Hit, ...] = ()
    """The evidence the final text relied on."""
    abstained: bool = False
    reason: str | None = None
    """Why the text is empty, such as `out_of_tokens`; None: it is not, or the method does not say."""


# --- one trial and what came of it --------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    key: str
    """Digest of everything that determines the output."""
    question_id: str
    variant: Variant
    method: str
    """Parts are written as labels here: the settings that differ from the defaults."""
    retriever: str | None
    """None: the method does not search."""
    perturbation: str | None
    model: str
    temperature: float
    repeat: int
    seed: int
    """Derived from the study seed and the key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A step with its reply, as the trace keeps it."""

    step: Step
    reply: Reply | Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    n_searches: int = 0
    n_generations: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = None
    """None: not known, which is not 0: there is no price of one of its calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """What one trial takes at most, by its method's own limits."""

    n_calls: int
    """Of the model."""
    n_tokens: int
    """New ones, of all calls together."""
    n_passages: int = 0
    """In one prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One trial and what came of it.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=1, metrics="contains")
    >>> [record] = shaketable.run(study, "runs/one").store.records()
    >>> isinstance(record, shaketable.Record), record.answer.text, record.trial.temperature
    (True, 'Paris', 0.0)
    """

    trial: Trial
    answer: Answer | None
    """None: the trial failed."""
    failure: Failure | None = None
    trace: tuple[Event, ...] = ()
    cost: Cost = Cost()
    environment: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Engine, version, dtype, threads, model revision."""
    reused: bool = False
    """Whether another run asked it: its cost is what it took there, and this run paid nothing for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The probability of a correct answer to one prompt, for all temperatures at once."""

    key: str
    """Of the record at temperature 0 whose prompt the curve continues."""
    temperatures: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    """Certified: correct paths found so far, at each temperature."""
    high: tuple[float, ...] = ()
    """Certified: one minus the wrong paths found so far."""
    value: tuple[float | None, ...] = ()
    """The estimate between the bounds; None where too few samples can say."""
    value_low: tuple[float | None, ...] = ()
    value_high: tuple[float | None, ...] = ()
    value_reason: str | None = None
    """Why there is no estimate at some temperatures; None: there is one at all."""
    n_effective: tuple[float, ...] = ()
    """To how many equally weighted samples those behind the estimate amount, at each temperature."""
    level: float = 0.95
    """Of the interval from value_low to value_high, which samples leave open."""
    breaking: float | None = None
    """The temperature at which the estimate first falls below the threshold, 0: it starts below; None: it never does
    up to `scan_to` of the settings, or may do unseen where there is no estimate."""
    breaking_low: float | None = None
    """Certified: not broken below this temperature."""
    breaking_high: float | None = None
    """Certified: broken at this temperature; None: not certified anywhere."""
    position_losses: tuple[float, ...] = ()
    """Mass lost to wrong tokens at each position of the answer, at the breaking temperature (or at 1)."""
    wrong: tuple[Mapping[str, Json], ...] = ()
    """The most likely wrong answers found: text, probability, temperature."""
    n_expanded: int = 0
    """Tree nodes whose next token was computed."""
    n_positions: int = 0
    """Token positions computed in all, samples included."""
    n_samples: int = 0
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Threshold, match, truncation, budget, scan step: what the numbers mean."""
    reason: str | None = None
    """Why there is no curve; None: there is one."""


Unit = Literal["share", "score", "count", "seconds", "temperature", "ratio"]
"""What a number counts: `share` is of 1 and told in percent, `ratio` has no unit, `score` is a metric's own."""

# --- numbers ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """What one number of a metric is: its unit, its direction and its word, said once."""

    name: str
    """As in the scores; `{k}` stands for a setting of the metric, `{part.x}` for anything else it has."""
    unit: Literal["share", "score", "count"] | None
    """`share`: 1 or 0 of an answer, so its mean is a share of answers. None: unknown, its values tell."""
    higher_is_better: bool | None
    """None: neither more nor less is better."""
    minimum: float | None = 0.0
    """The least value there is; None: values below 0 occur, and nothing may be divided by their mean."""
    maximum: float | None = None
    """The greatest value there is, 1 for shares; None: there is no end."""
    words: str = ""
    """What people call it in a sentence: `correctness`; empty: its name."""
    title: str = ""
    """What people call it above a picture: `Correct answers`; empty: its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """One number of one record.

    >>> import shaketable
    >>> shaketable.Score(key="0a1b", metric="contains", value=None, reason="failed: timeout").reason
    'failed: timeout'
    """

    key: str
    """The record's."""
    metric: str
    """The name of the number: `rouge1`, `bertscore` ..."""
    value: float | None
    reason: str | None = None
    """Why the value is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a judging model said of one answer."""

    text: str
    """Its whole reply."""
    value: float | None
    """1: correct, 0: incorrect; None: the reply says neither."""
    reason: str | None
    """Why the value is None."""
    n_prompt_tokens: int
    n_tokens: int
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeEffort:
    """What the verdicts of one judging model took."""

    judge: str
    """The metric, as labels show it."""
    n_calls: int
    n_prompt_tokens: int
    n_tokens: int
    n_unclear: int
    """Replies that were no verdict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    how: str
    """How the interval was made: `bootstrap over questions (2000)` ..."""
    unit: Unit = "score"
    """Of value, low and high; the difference of two shares is a share too."""
    reason: str | None = None
    """Why there is no value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What one analysis gave.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> [finding] = shaketable.run(study, "runs/two").findings().findings
    >>> isinstance(finding, shaketable.Finding), finding.analysis, finding.failure
    (True, 'correctness', None)
    """

    analysis: str
    """As the study writes it, settings included: `equivalence(margin=0.1)`."""
    result: object
    """A frozen value of the type that the analysis promises; None: it failed."""
    failure: str | None = None
    """What went wrong; None: nothing."""
    is_as_asked: bool = False
    """Of evidence that was disturbed as asked alone: told again without the questions that carry a flag."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotApplied:
    """A system that temperature did not reach: it counts at its coolest, and nothing is said of its temperatures."""

    model: str
    method: str
    reason: str


Crossed = Literal["methods", "retrievers", "evidence", "temperatures"]
"""What a study crosses; `evidence` is retrievers and perturbations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotVaried:
    """What a study crosses and a pipeline cannot vary: it is left out of the plan for it."""

    model: str
    factors: tuple[Crossed, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Questions that are left out of the effect of a perturbation, because it changed nothing in their evidence."""

    perturbation: str
    n: int
    n_asked: int
    flags: tuple[str, ...]
    """Why, as the perturbation names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingToLose:
    """A system whose clean case is not shown to be better than a baseline: that it stands firm says nothing.

    The clean case is the original evidence in the wording that is named, at the coolest temperature or at a hotter one
    that has ruined the answers.
    """

    dataset: str
    model: str
    method: str
    retriever: str | None
    variation: str
    metric: str
    group: str | None = None
    """A type of question; None: all types."""
    temperature: float | None = None
    """At which there is nothing left to lose to anything else; None: at the coolest, and so at all."""
    level: Estimate
    """Of the clean case, of questions that have both."""
    baseline: Estimate
    against: Literal["shuffled answers", "closed book", "nothing right"]
    """What the baseline is: clean answers to other questions; the same model without evidence, where only evidence has
    nothing to lose; or 0, of shares for which there is no other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the analyses of a run gave, and what holds for all of them."""

    findings: tuple[Finding, ...] = ()
    main_metric: str | None = None
    """The number that is spoken of; None: nothing was scored."""
    judging_metric: str | None = None
    """The number that tells right answers from wrong ones; None: no metric does."""
    confidence: float = 0.95
    """Of every interval."""
    n_resamples: int = 2000
    """Of the questions, behind every bootstrap interval."""
    not_applied: tuple[NotApplied, ...] = ()
    not_varied: tuple[NotVaried, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    nothing_to_lose: tuple[NothingToLose, ...] = ()


# --- a study --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetChoice:
    name: str
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What the loader takes: path, part ..."""
    where: Mapping[str, tuple[Json, ...]] = field(default_factory=lambda: NOTHING)
    """Tag → the values of which a question must have one, before it can be drawn; empty: every question can."""
    balance_by: tuple[str, ...] = ()
    """Tags whose combinations make the cells of a balanced selection."""
    per_cell: int | None = None
    """Questions per cell; None: all."""
    limit: int | None = None
    """Questions in all, balanced over the cells; None: no limit."""
    shard: tuple[int, int] | None = None
    """Which part of these questions, counted from 1, of how many; None: all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """How the temperatures of one fact are walked through, and which facts are walked at all."""

    strategy: Literal["full", "incremental", "curtailed", "bisection", "curtailed_bisection", "sequential", "none"] = (
        "full"
    )
    """`none`: no temperature above 0 is sampled; curves alone tell."""
    known: str | None = "exact_match"
    """The metric that must be 1 at temperature 0; None: every question is scanned."""
    limit: int | None = None
    """Known facts per condition and dataset, the first in order; None: all."""
    union: bool = False
    """One list of facts for all evidence and wordings of a model: a fact known in any of them counts once, and is
    scanned in each in which it is known."""
    correct: str = "contains"
    """The metric that judges sampled answers."""
    threshold: float = 0.5
    """A fact is broken where the share of correct answers lies strictly below this."""
    curves: Literal["none", "known", "all"] = "none"
    """For which questions the curve over all temperatures is estimated from the model's logits."""
    curve_budget: int = 400
    """Token positions that the model may compute for a curve, samples included."""
    curve_samples: int = 90
    """Paths at most that are sampled of what a curve's bounds leave open; 0: bounds alone."""
    curve_end: float = 4.0
    """The hottest temperature of a curve: where a breaking temperature is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What a run must hold to be released. A threshold of None: not asked."""

    min_accuracy: float | None = None
    """Of the main metric, in its unit, where nothing is shaken."""
    max_drop: float | None = None
    """From there to the worst condition, in the unit of the main metric."""
    max_flip_rate: float | None = None
    """The chance that an answer in the worst condition is judged otherwise than one where nothing is shaken."""
    min_breaking_temperature: float | None = None
    """The mean over known facts; those that never break count at the hottest temperature."""
    min_frs: float | None = None
    """The mean Factual Robustness Score of known facts."""
    max_cost: float | None = None
    """Dollars for an answer."""
    max_failures: float | None = None
    """The share of trials without an answer."""
    max_regression: float = 0.0
    """Against a base: how much worse, in the unit of the main metric."""
    confidence: float = 0.95
    """One-sided: of each bound that a threshold is held against."""
    undecided: Literal["pass", "fail"] | None = None
    """What a threshold counts as that the interval straddles; None: a promise fails, a regression passes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Where a run stops of itself, all goes at it together. None: there is no such limit."""

    max_cost: float | None = None
    """USD."""
    max_calls: int | None = None
    """Of models, failed ones too."""
    max_minutes: float | None = None
    """Of answering, loading of models included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shake:
    """Ask adaptively, where the system seems to break, until a limit is reached."""

    screened: int = 12
    """Questions that each way to ask gets at first, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision:
    """Repeat the questions of a condition until its mean is known so well."""

    until: float
    """Half the width of the interval over repeats of the main metric: 0.03 is ±3 points of a share."""
    least: int = 2
    """Repeats of each question, at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """What one experiment crosses. Parts are texts; the plan builds them. See `load_study` and `make_study`.

    >>> import dataclasses, shaketable
    >>> study = shaketable.load_study("demo")
    >>> dataclasses.replace(study, repeats=5).repeats
    5
    """

    name: str
    seed: int
    datasets: tuple[DatasetChoice, ...]
    models: tuple[str, ...]
    methods: tuple[str, ...]
    retrievers: tuple[str, ...]
    perturbations: tuple[str, ...]
    variations: tuple[str, ...]
    temperatures: tuple[float, ...]
    repeats: int
    """Of each question in each condition; at most, where `precision` tells when a condition stops."""
    generation: Mapping[str, Json]
    """max_tokens, top_p, top_k, repetition_penalty, library_defaults, logprobs."""
    generation_of: Mapping[str, Mapping[str, Json]] = field(default_factory=lambda: NOTHING)
    """Model, as `models` has it → the values of `generation` that differ for it."""
    metrics: tuple[str, ...]
    analyses: tuple[str, ...]
    reference: str = "short"
    """What answers are compared with: short, template, or the model that writes a sentence for each question."""
    reference_prompt: str | None = None
    """What that model is asked, word for word, with the slots {question} and {answer}; None: our own prompt."""
    scan: Scan | None = None
    """None: every question is asked at every temperature."""
    shake: Shake | None = None
    """None: all that is crossed is asked."""
    precision: Precision | None = None
    """None: every condition has all repeats."""
    main_metric: str | None = None
    """The number that findings, cards and pages speak of; None: the first of `metrics` of which more is better."""
    without_flags: tuple[str, ...] = ()
    """Records whose evidence carries one of these flags have no value in any analysis: a filter."""
    confidence: float = 0.95
    """Of every interval."""
    n_resamples: int = 2000
    """Of the questions, behind every bootstrap interval."""
    margin: float | str | None = None
    """How much of the main metric is too little to matter, in its unit, or in its spread as `0.2 sd`; None: 5 points
    of a share, 0.2 sd of anything else."""
    gate: Gate = field(default_factory=Gate)
    limits: Limits = Limits()
    """They are no part of any key: what is answered does not depend on when a run stops."""
    in_process: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: NOTHING)
    """Kind → name → place of parts that a script or notebook registered; no other process has them by itself."""
