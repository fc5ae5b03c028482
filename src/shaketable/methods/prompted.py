"""What methods share: prompts and a system message that a user brings, as texts or as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from shaketable.identity import digest_text
from shaketable.prompts.own import Replaceable, names_file, read_file

OWN: Mapping[str, bool] = {"in_key_when_given": True}
"""A setting that keys know only where it is given: methods without prompts of one's own keep the keys they had."""
SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Prompted:
    prompt: str | None = field(default=None, metadata=OWN)
    """What the model is asked: a text with named slots, or a file that holds one; None: the prompt that ships."""
    system: str | None = field(default=None, metadata=OWN)
    """A message that goes before every prompt of the method: a text, or a file that holds one."""
    file_texts: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Setting that names a file → the text in it. It is read once, and kept with the run: a file may change."""

    def __post_init__(self) -> None:
        texts = dict(self.file_texts)
        for setting, given in self._given().items():
            try:
                if names_file(given) and setting not in texts:
                    texts[setting] = read_file(given)
                text = texts.get(setting, given)
                if setting != SYSTEM:
                    self.replaceable()[setting].check(text, given if setting in texts else "the text")
                elif not text.strip():
                    raise ValueError("found an empty text; write a message, or leave the setting out")
            except ValueError as error:
                raise ValueError(f"{setting}: {error}.") from error
        if strange := [setting for setting in texts if not names_file(self._given().get(setting, ""))]:
            raise ValueError(f"file_texts has {', '.join(strange)}, which names no file; leave it to the program.")
        object.__setattr__(self, "file_texts", texts)

    def replaceable(self) -> Mapping[str, Replaceable]:
        """Setting → the prompt that it replaces."""
        raise NotImplementedError

    def fill(self, setting: str, **slots: str) -> str:
        """A prompt of the method, one's own where it is given."""
        return self.replaceable()[setting].fill(self.file_texts.get(setting, getattr(self, setting)), slots)

    @property
    def system_message(self) -> str | None:
        return self.file_texts.get(SYSTEM, self.system)

    def contents(self) -> dict[str, object]:
        """A prompt counts by its text, wherever it lies."""
        texts = self._given() | dict(self.file_texts)
        return {setting: f"own:{digest_text(text)}" for setting, text in texts.items()}

    def _given(self) -> dict[str, str]:
        """The settings that replace something, where they are given."""
        own = {known.name: getattr(self, known.name) for known in fields(self) if known.metadata == OWN}
        return {name: text for name, text in own.items() if text is not None}
