"""A secret in any usual spelling is hidden, in errors as in answers."""

from __future__ import annotations

import base64
import html
import json
import time
import urllib.parse

import pytest

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.hiding import hide_in, hide_secrets, own_hide, shorten

KEY = 'sk-Pl/nted+0123 456789==abc"def&x'
PLAIN = "sk-Planted-0123456789-abcdefghij"
SPELLED = {
    "upper": KEY.upper(),
    "lower": KEY.lower(),
    "quote": urllib.parse.quote(KEY),
    "quote_all": urllib.parse.quote(KEY, safe=""),
    "quote_lower": urllib.parse.quote(KEY, safe="").lower(),
    "quote_plus": urllib.parse.quote_plus(KEY),
    "percent": "".join(f"%{ord(c):02X}" for c in KEY),
    "html": html.escape(KEY),
    "html_text": html.escape(KEY, quote=False),
    "html_decimal": KEY.replace("&", "&amp;").replace('"', "&#34;"),
    "json": json.dumps(KEY),
    "json_slash": json.dumps(KEY).replace("/", "\\/"),
    "json_in_json": json.dumps(json.dumps({"key": KEY})),
    "escapes": "".join(f"\\u{ord(c):04x}" for c in KEY),
    "hex": KEY.encode().hex(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64_bare": base64.b64encode(KEY.encode()).decode().rstrip("="),
    "base64url": base64.urlsafe_b64encode(KEY.encode()).decode(),
    **{f"basic_{user}": base64.b64encode(f"{user}:{KEY}:z".encode()).decode() for user in ("u", "us", "use")},
}


@pytest.fixture
def access(monkeypatch: pytest.MonkeyPatch) -> Access:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Access(endpoint="http://127.0.0.1/v1", key_variable="OPENAI_API_KEY", headers={})


@pytest.mark.parametrize("spelling", SPELLED)
def test_a_secret_is_hidden_in_every_spelling(access: Access, spelling: str) -> None:
    for hide in (access.hide, access.hide_in_reply):
        hidden = hide(f"Paris. {SPELLED[spelling]} is the key.")
        assert hidden.startswith("Paris. ") and hidden.endswith(" is the key.") and "***" in hidden
        assert len(hidden.removeprefix("Paris. ").removesuffix(" is the key.")) <= 20  # What stood around it.


@pytest.mark.parametrize("mark", ["\x01", "\x7f", "'", "'\"", "\\", "\\'", "\t", "é", "\u20ac", "\udc80", "\U0001f600"])
def test_a_secret_is_hidden_as_python_writes_it(mark: str) -> None:
    key = f"sk-Planted{mark}0123456789"
    for text in (key, f"Bearer '{key}'", f'Bearer "{key}"', f"""'Bearer' "{key}" """):
        raw = text.encode("utf-8", "surrogateescape")
        for written in (repr(text), ascii(text), repr(raw), json.dumps(repr(raw)), repr(ValueError(repr(raw)))):
            hidden = hide_secrets(written, [key])
            assert "***" in hidden and "Planted" not in hidden and "0123456789" not in hidden, written


@pytest.mark.parametrize("key", ["none", "EMPTY", "a"])
def test_a_short_value_is_hidden_in_errors_alone(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="OPENAI_API_KEY", headers={})
    assert access.hide_in_reply(f"It is {key}.") == f"It is {key}."
    assert access.hide(f"[{key.upper()}]") == "[***]"


def test_what_holds_no_secret_stays_as_it_is_and_takes_no_time(access: Access) -> None:
    text = "Paris & Rome, 100 % of %2F \\u0041. " * 30_000
    start = time.perf_counter()
    assert access.hide_in_reply(text) == text
    assert time.perf_counter() - start < 0.5


def test_one_secret_in_another_leaves_nothing() -> None:
    assert hide_secrets(f"{PLAIN}-more", [PLAIN, f"{PLAIN}-more"]) == "***"


def test_the_values_of_variables_that_are_named_like_keys_are_one_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", PLAIN)
    monkeypatch.setenv("OTHER_TOKEN", "short")
    monkeypatch.setenv("SOME_PLACE", "the-capital-of-France")
    assert own_hide()(f"{PLAIN} short the-capital-of-France") == "*** short the-capital-of-France"
    told = {"text": f"a {PLAIN}", "contexts": [{"text": PLAIN.upper(), "score": 1.5}], "calls": 2}
    assert hide_in(told, own_hide()) == {"text": "a ***", "contexts": [{"text": "***", "score": 1.5}], "calls": 2}
    assert PLAIN[:10] not in shorten(["x" * 60, PLAIN])


@pytest.mark.parametrize(
    ("variable", "value", "hidden"),
    [
        ("DATABASE_URL", "postgres://app:planted-word@db.internal/app", "planted-word"),
        ("DATABASE_URL", "postgres://db.internal/planted-word", "planted-word"),
        ("SOMETHING", "amqp://guest:planted-word@queue/", "planted-word"),
        ("SENTRY_DSN", "https://planted-word@o1.ingest.sentry.io/2", "planted-word"),
        ("DB_PASS", "planted-word", "planted-word"),
        ("MYSQL_PWD", "planted-word", "planted-word"),
        ("PGPASSWORD", "planted-word", "planted-word"),
        ("SMTP_CREDENTIALS", "planted-word", "planted-word"),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=planted-word", "planted-word"),
        ("SLACK_WEBHOOK_URL", "https://hooks.slack.example/planted-word", "planted-word"),
    ],
)
def test_secrets_of_the_environment_are_hidden(
    variable: str, value: str, hidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert hidden not in own_hide()(f"it failed with {{'{variable}': '{value}'}}")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PWD", "/home/somebody"),
        ("OLDPWD", "/home/somebody"),
        ("SSH_AUTH_SOCK", "/tmp/ssh/agent"),
        ("APP_URL", "http://here"),
    ],
)
def test_what_is_no_secret_is_shown(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    assert own_hide()(value) == value
