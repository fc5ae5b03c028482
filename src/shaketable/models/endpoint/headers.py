"""Headers as a study writes them: a secret is `${NAME}`, an environment variable, and never written out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shaketable.errors import SecretError

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SECRET = re.compile(r"auth|key|token|secret|cookie|password|credential|signature", re.IGNORECASE)
"""Names of headers that hold secrets."""


def refuse_headers(headers: Mapping[str, str]) -> None:
    """A study is stored with every run, and a secret must not be; so the values are not repeated here either."""
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise SecretError("headers: a name has characters that no header has. Write {'X-Team': 'search'}.")
        if "\n" in value or "\r" in value:
            raise SecretError(f"headers: the value of '{name}' has more than one line.")
        if SECRET.search(name) and not VARIABLE.search(value):
            raise SecretError(
                f"headers: '{name}' is written out, and would be stored with every record. Put it into an environment "
                f"variable and name that: headers={{'{name}': '${{MY_VARIABLE}}'}}."
            )
