"""Which environment variable may go to which host."""

from __future__ import annotations

import logging

import pytest

from shaketable import catalog
from shaketable.errors import ModelError, PartError
from shaketable.models.endpoint import access
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.secrets import ALLOW, refusal_to_send


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "TEAM_KEY", "MY_TOKEN", "OPENAI_APIKEY", "A_SECRET_OF_OURS"])
@pytest.mark.parametrize(
    "host", ["api.openai.com", "us.openai.azure.com", "127.0.0.1", "10.0.0.4", "gpu-box", "a.local"]
)
def test_a_key_goes_to_a_provider_and_to_machines_nearby(variable: str, host: str) -> None:
    assert refusal_to_send(variable, host) is None


@pytest.mark.parametrize("variable", ["PATH", "HOME", "SSH_AUTH_SOCK", "DATABASE_URL", "MONKEYS", ""])
def test_what_is_not_named_as_a_key_goes_nowhere(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, "api.openai.com")
    assert "its name is not that of a key" in str(refusal_to_send(variable, "api.openai.com"))


@pytest.mark.parametrize("host", ["evil.example", "api.openai.com.evil.example", "evilapi.openai.com", "8.8.8.8"])
def test_a_key_does_not_go_to_a_stranger(host: str) -> None:
    assert f"export {ALLOW}='TEAM_KEY@{host}'" in str(refusal_to_send("TEAM_KEY", host))


@pytest.mark.parametrize("allowed", ["gw.example", "TEAM_KEY@gw.example", "a.example, TEAM_KEY@gw.example", ".example"])
def test_what_was_allowed_goes(allowed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, allowed)
    assert refusal_to_send("TEAM_KEY", "gw.example") is None
    assert refusal_to_send("OTHER_KEY", "gw.example") is None or "@" in allowed


def test_a_host_that_the_environment_names_is_one_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gw.example/v1")
    assert refusal_to_send("OPENAI_API_KEY", "gw.example") is None


def test_nothing_is_handed_over_for_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", "hidden-word")
    for key, headers in (("GITHUB_TOKEN", {}), ("", {"X-Api-Key": "${GITHUB_TOKEN}"})):
        reached = Access(endpoint="https://evil.example/v1", key_variable=key, headers=headers)
        assert "GITHUB_TOKEN would go to evil.example" in str(reached.lacks("m"))
        with pytest.raises(ModelError, match="Nothing was sent"):
            _ = reached.key, reached.filled_headers


def test_it_is_said_which_variable_goes_where(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-word")
    access._tell.cache_clear()
    reached = Access(endpoint="https://api.openai.com/v1", key_variable="OPENAI_API_KEY", headers={})
    with caplog.at_level(logging.INFO, "shaketable"):
        assert reached.lacks("m") is None
        assert reached.lacks("m") is None
    assert caplog.messages == ["The value of OPENAI_API_KEY goes to api.openai.com with each request."]


def test_an_address_that_is_none_is_not_repeated() -> None:
    with pytest.raises(PartError, match="base_url is not a web address") as told:
        catalog.build("model", "openai(model='m', base_url='http://[hidden-word')")
    assert "hidden-word" not in str(told.value)
