"""What a person calls a system, with the options of endpoints → the model as a study writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shaketable import catalog
from shaketable.errors import UsageError, at_home
from shaketable.models.calling.target import model_of

SPEAKS_CHAT = re.compile(r"https?://.*(/v1|/openai)/?$|https?://.*/chat/completions/?$")
OWN_NAME = re.compile(r"[\w.:/ -]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """Options that say more of a target; None: not given."""

    template: str | None = None
    answer: str | None = None
    headers: tuple[str, ...] = ()
    model_name: str | None = None
    concurrency: int | None = None

    def refuse(self, text: str, *names: str) -> None:
        """Options that mean nothing for this target."""
        for name in names:
            if getattr(self, name):
                option = "--" + name.removesuffix("s").replace("_", "-")
                raise UsageError(f"{option} means nothing for TARGET {text}. Leave it out.")

    def settings(self, *names: str) -> dict[str, object]:
        """What was given of these, as a part takes it."""
        given: dict[str, object] = {
            "headers": dict(map(_header, self.headers)),
            "template": self.template,
            "answer": self.answer,
            "concurrency": self.concurrency,
        }
        return {name: given[name] for name in names if given[name]}


def name_model(target: str, given: Given) -> str:
    """The target as a study writes it, under a name that people recognize."""
    text = target.strip()
    if re.match(r"https?://", text):
        return _endpoint(text, given)
    given.refuse(text, "template", "answer", "headers", "model_name")
    if model_of(text) == text:
        _refuse_file(text)
        given.refuse(text, "concurrency")
        return text
    module, _, name = text.rpartition(":")
    whole = f"{at_home(module, UsageError, 'TARGET').absolute()}:{name}" if module.endswith(".py") else text
    return catalog.write("pipeline", {"python": whole, **given.settings("concurrency"), **_called(text)})


def _endpoint(text: str, given: Given) -> str:
    if given.template is not None or (given.model_name is None and not SPEAKS_CHAT.match(text)):
        given.refuse(text, "model_name")
        settings = given.settings("headers", "template", "answer", "concurrency")
        return catalog.write("pipeline", {"http": text, **settings, **_called(text)})
    if given.model_name is None:
        raise UsageError(
            f"TARGET {text} looks like an endpoint that speaks OpenAI's API, and which model to ask is not said. Name "
            "it with --model-name; or, if it is an endpoint of your own, say what to post with --template."
        )
    given.refuse(text, "answer")
    address = re.sub(r"/chat/completions/?$", "", text)
    settings = given.settings("headers", "concurrency")
    return catalog.write("openai", {"model": given.model_name, "base_url": address, **settings})


def _refuse_file(text: str) -> None:
    if text.endswith(".py"):
        raise UsageError(
            f"TARGET {text} names a file and no function in it. Write the function's name after a colon: {text}:answer."
        )
    if text.rpartition(":")[0].endswith(".py"):
        name = text.rpartition(":")[2]
        raise UsageError(f"TARGET {text}: '{name}' is no name of a function. Write it as in {text.rpartition(':')[0]}.")


def _called(text: str) -> dict[str, str]:
    """A short name for charts and sentences; none where it could be taken for something else."""
    name = re.sub(r"^https?://", "", text).partition("?")[0]
    is_short = len(name) <= catalog.LONGEST_NAME and OWN_NAME.fullmatch(name) is not None
    return {"name": name} if is_short and name.partition("(")[0] not in catalog.known("model") else {}


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or not value.strip():
        raise UsageError(f"--header '{text}': write NAME: VALUE, such as 'Authorization: Bearer ${{MY_TOKEN}}'.")
    return name.strip(), value.strip()
