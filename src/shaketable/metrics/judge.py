"""Does another model call the answer right?"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from shaketable import catalog
from shaketable.identity import digest_text, seed_from
from shaketable.metrics.scoring import unscored
from shaketable.prompts import JUDGE, OwnPrompt, Template, read_own
from shaketable.protocols import ForgettingModel, PackagePart, StreamingModel
from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Failure, Measure, Message, Prompt, Question, Record, Sampling, Score, Verdict

AT_ONCE = 16
"""Prompts after which the verdicts of a model that hands back all at once are kept."""
SLOTS = ("question", "gold", "answer")
LAST_LINE = re.compile(r"VERDICT: (correct|incorrect)")
NO_VERDICT = "the judge's reply does not end with a line VERDICT: correct or VERDICT: incorrect"
CUT_OFF = "the judge's reply was cut off before its verdict; raise max_tokens"


@dataclass(frozen=True, kw_only=True)
class Judge:
    """1 if a model that sees question, accepted answers and answer calls it correct, 0 if incorrect; higher is better.

    The model is asked at temperature 0, once for all records with the same answer to the same question. An empty answer
    is incorrect, and nobody is asked. The last line of the reply is the verdict; any other reply gives None with the
    reason, and so do a failed trial, a call that failed and a question without accepted answers.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="judge", unit="share", higher_is_better=True, words="correctness", title="Correct answers"),
    )
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    prompts: ClassVar[tuple[Template, ...]] = (JUDGE,)
    records_at_once: ClassVar[int] = 256
    """Records whose prompts are sent together."""

    model: str
    """Any model, as in a study, such as openai(model='gpt-4o')."""
    rubric: str | None = None
    """The prompt: a text with {question}, {gold} and {answer}, or a file that holds one; None: the one that ships."""
    max_tokens: int = 512

    def __post_init__(self) -> None:
        self._read_rubric()
        self.contents()
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}; it is at least 1.")

    def contents(self) -> dict[str, Any]:
        """The model counts with all its settings and its version, a rubric in a file by its text."""
        model = catalog.build("model", self.model, "judge.model")
        return {"model": catalog.spelled(model), "rubric": self._read_rubric()}

    @property
    def packages(self) -> tuple[str, ...]:
        model = catalog.build("model", self.model, "judge.model")
        return model.packages if isinstance(model, PackagePart) else ()

    def _read_rubric(self) -> str | None:
        try:
            return None if self.rubric is None else read_own(self.rubric, SLOTS)
        except ValueError as error:
            raise ValueError(f"rubric: {error}.") from error

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Digest of the prompt → verdict. Whoever scores may fill in what was asked before, and keep what is new."""
        return {}

    def judge(
        self, records: Sequence[Record], questions: Mapping[str, Question]
    ) -> Generator[dict[str, Verdict], None, None]:
        """Ask for the verdicts that are not there and hand out each as it comes, so that none is paid for twice."""
        prompts = self._missing(self._names(records, questions))
        names, model = list(prompts), self._model
        if not isinstance(model, StreamingModel):
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                yield self._keep(zip(some, model.generate([prompts[name] for name in some]), strict=True))
            return
        for ticket, name in enumerate(names):
            model.submit(ticket, prompts[name])
        try:
            while replies := model.collect():
                yield self._keep((names[ticket], reply) for ticket, reply in replies)
        finally:
            if isinstance(model, ForgettingModel):
                model.forget()

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        names = self._names(records, questions)
        missing = self._missing(names)
        self._keep(zip(missing, self._model.generate(list(missing.values())) if missing else (), strict=True))
        scores = [
            [self._score(record, questions, None if own is None else own[0])]
            for record, own in zip(records, names, strict=True)
        ]
        self._failed.clear()
        return scores

    def _names(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[tuple[str, Prompt] | None]:
        """For each record the prompt that judges it, after its digest; None: nobody is asked about it."""
        names: list[tuple[str, Prompt] | None] = []
        for record in records:
            question = questions[record.trial.question_id]
            is_judged = unscored(record, question.answers) is None and record.answer and record.answer.text.strip()
            prompt = self._prompt(record, question) if is_judged else None
            names.append(None if prompt is None else (digest_text(prompt.messages[0].content), prompt))
        return names

    def _missing(self, names: Iterable[tuple[str, Prompt] | None]) -> dict[str, Prompt]:
        known = self.verdicts.keys() | self._failed.keys()
        return {name: prompt for name, prompt in filter(None, names) if name not in known}

    def _score(self, record: Record, questions: Mapping[str, Question], name: str | None) -> Score:
        reason = unscored(record, questions[record.trial.question_id].answers)
        value: float | None = None if reason else 0.0
        if name is not None and name in self._failed:
            value, reason = None, self._failed[name]
        elif name is not None:
            value, reason = self.verdicts[name].value, self.verdicts[name].reason
        return Score(key=record.trial.key, metric="judge", value=value, reason=reason)

    def _prompt(self, record: Record, question: Question) -> Prompt:
        assert record.answer is not None
        content = self._template.fill(
            question=question.text, gold="; ".join(question.answers), answer=record.answer.text.strip()
        )
        return Prompt(
            messages=(Message(role="user", content=content),),
            sampling=Sampling(temperature=0.0, max_tokens=self.max_tokens),
            seed=seed_from("judge", digest_text(content)),
        )

    def _keep(self, replies: Iterable[tuple[str, Completion | Failure]]) -> dict[str, Verdict]:
        """The verdicts among the replies; a call that failed is no verdict, and its reason is kept for the scores."""
        new: dict[str, Verdict] = {}
        for name, reply in replies:
            if isinstance(reply, Completion):
                new[name] = read_verdict(reply)
            else:
                self._failed[name] = f"the judge failed: {reply.kind}"
        self.verdicts.update(new)
        return new

    @cached_property
    def _failed(self) -> dict[str, str]:
        """Digest of the prompt → why there is no verdict, until the records are scored: then it is asked again."""
        return {}

    @cached_property
    def _template(self) -> Template | OwnPrompt:
        own = self._read_rubric()
        return JUDGE if own is None else OwnPrompt(own)

    @cached_property
    def _model(self) -> Any:
        return catalog.build("model", self.model)


def read_verdict(reply: Completion) -> Verdict:
    """Strictly: the last line that is not blank says it, and nothing else."""
    lines = [line.strip() for line in reply.text.splitlines() if line.strip()]
    verdict = LAST_LINE.fullmatch(lines[-1]) if lines else None
    return Verdict(
        text=without_surrogates(reply.text),
        value=None if verdict is None else float(verdict[1] == "correct"),
        reason=None if verdict else CUT_OFF if reply.finish_reason == "length" else NO_VERDICT,
        n_prompt_tokens=reply.n_prompt_tokens,
        n_tokens=reply.n_tokens,
        seconds=reply.seconds,
    )
