"""What a person calls a system, with the options of endpoints → the model as a study writes it."""

from __future__ import annotations

import re
from pathlib import Path

from shaketable import catalog
from shaketable.errors import StudyError
from shaketable.models.calling.target import model_of

SPEAKS_CHAT = re.compile(r"https?://.*(/v1|/openai)/?$|https?://.*/chat/completions/?$")
OWN_NAME = re.compile(r"[\w.:/ -]+")


def name_model(
    target: str, template: str | None, answer: str | None, headers: list[str], model_name: str | None
) -> str:
    """The target as a study writes it, under a name that people recognize."""
    text = target.strip()
    is_address = re.match(r"https?://", text) is not None
    settings: dict[str, object] = {}
    if headers:
        settings["headers"] = dict(_header(header) for header in headers)
    if is_address and template is None and (model_name is not None or SPEAKS_CHAT.match(text)):
        if model_name is None:
            raise StudyError(
                f"TARGET {text} looks like an endpoint that speaks OpenAI's API, and which model to ask is not said. "
                "Name it with --model-name; or, if it is an endpoint of your own, say what to post with --template."
            )
        address = re.sub(r"/chat/completions/?$", "", text)
        return catalog.write("openai", {"model": model_name, "base_url": address, **settings})
    settings |= {key: value for key, value in (("template", template), ("answer", answer)) if value is not None}
    given = {"template": template, "answer": answer, "header": headers or None, "model-name": model_name}
    if not is_address and (unused := [name for name, value in given.items() if value is not None]):
        raise StudyError(f"--{unused[0]} is of endpoints, and TARGET {text} is none. Leave it out, or give an address.")
    if is_address:
        return catalog.write("pipeline", {"http": text, **settings, **_called(text)})
    written = model_of(text)
    if written == text:
        _refuse_file(text)
        return text
    module, _, name = text.rpartition(":")
    whole = f"{Path(module).expanduser().absolute()}:{name}" if module.endswith(".py") else text
    return catalog.write("pipeline", {"python": whole, **_called(text)})


def _refuse_file(text: str) -> None:
    if text.endswith(".py"):
        raise StudyError(
            f"TARGET {text} names a file and no function in it. Write the function's name after a colon: {text}:answer."
        )
    if text.rpartition(":")[0].endswith(".py"):
        name = text.rpartition(":")[2]
        raise StudyError(f"TARGET {text}: '{name}' is no name of a function. Write it as in {text.rpartition(':')[0]}.")


def _called(text: str) -> dict[str, str]:
    """A short name for charts and sentences; none where it could be taken for something else."""
    name = re.sub(r"^https?://", "", text).partition("?")[0]
    is_short = len(name) <= catalog.LONGEST_NAME and OWN_NAME.fullmatch(name) is not None
    return {"name": name} if is_short and name.partition("(")[0] not in catalog.known("model") else {}


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or not value.strip():
        raise StudyError(f"--header '{text}': write NAME: VALUE, such as 'Authorization: Bearer ${{MY_TOKEN}}'.")
    return name.strip(), value.strip()
