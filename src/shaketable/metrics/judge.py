"""Does another model call the answer right?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from shaketable import catalog
from shaketable.identity import digest_text, seed_from
from shaketable.metrics.scoring import unscored
from shaketable.prompts import JUDGE, OwnPrompt, Template, read_own
from shaketable.protocols import PackagePart
from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Measure, Message, Prompt, Question, Record, Sampling, Score, Verdict

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
    """Verdicts are kept after so many records, so that what was paid for is not lost."""

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

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        asked: dict[str, Prompt] = {}
        names: list[str | None] = []
        for record in records:
            question = questions[record.trial.question_id]
            is_judged = unscored(record, question.answers) is None and record.answer and record.answer.text.strip()
            prompt = self._prompt(record, question) if is_judged else None
            name = None if prompt is None else digest_text(prompt.messages[0].content)
            names.append(name)
            if prompt is not None and name is not None and name not in self.verdicts:
                asked[name] = prompt
        failed = self._ask(asked)
        return [[self._score(record, questions, name, failed)] for record, name in zip(records, names, strict=True)]

    def _score(
        self, record: Record, questions: Mapping[str, Question], name: str | None, failed: Mapping[str, str]
    ) -> Score:
        reason = unscored(record, questions[record.trial.question_id].answers)
        value: float | None = None if reason else 0.0
        if name is not None and name in failed:
            value, reason = None, failed[name]
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

    def _ask(self, asked: Mapping[str, Prompt]) -> dict[str, str]:
        """Ask for the verdicts that are not there; a call that failed is no verdict, and its reason is handed back."""
        replies = self._model.generate(list(asked.values())) if asked else []
        failed: dict[str, str] = {}
        for name, reply in zip(asked, replies, strict=True):
            if isinstance(reply, Completion):
                self.verdicts[name] = read_verdict(reply)
            else:
                failed[name] = f"the judge failed: {reply.kind}"
        return failed

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
