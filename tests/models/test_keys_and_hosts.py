"""Which environment variable may go to which host."""

from __future__ import annotations

import logging

import pytest

from shaketable import catalog, weights
from shaketable.errors import ModelError, PartError
from shaketable.models.endpoint import access
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.secrets import ALLOW, is_trusted, refusal_to_send


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "TEAM_KEY", "MY_TOKEN", "OPENAI_APIKEY", "A_SECRET_OF_OURS"])
@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com",
        "us.openai.azure.com",
        "127.0.0.1",
        "10.0.0.4",
        "172.31.0.1",
        "localhost",
        "gpu.local",
        "fd00::1",
    ],
)
def test_a_key_goes_to_a_provider_and_to_machines_nearby(variable: str, host: str) -> None:
    assert refusal_to_send(variable, host) is None


@pytest.mark.parametrize("variable", ["PATH", "HOME", "SSH_AUTH_SOCK", "DATABASE_URL", "MONKEYS", ""])
def test_what_is_not_named_as_a_key_goes_nowhere(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, "api.openai.com")
    assert "its name is not that of a key" in str(refusal_to_send(variable, "api.openai.com"))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://2130706433:8000/v1", "127.0.0.1"),
        ("http://0x7f000001/v1", "127.0.0.1"),
        ("http://127.1", "127.0.0.1"),
        ("http://0x08080808/v1", "8.8.8.8"),
        ("http://010.8.8.8/v1", "8.8.8.8"),
        ("http://[::ffff:8.8.8.8]/v1", "::ffff:808:808"),
        ("http://[::1]:80/v1", "::1"),
        ("HTTPS://API.OpenAI.com/v1", "api.openai.com"),
        ("http://my_server:8000/v1", "my_server"),
        *(
            (address, "")
            for address in (
                *("http://127。0。0。1:8000/v1", "http://evil。com/v1", "http://evil．com", "http://evil｡com"),
                *("http://evil.com\\.localhost/v1", "http://evil.com\t.localhost", "http://a%2elocalhost/", "http://"),
                *("http://4294967296/v1", "http://1.2.3.4.5/", "http://evil.com\n.localhost", "localhost:8000", ""),
                *("http://\u212a.localhost", "http://evil.com:80a.localhost", "http://[evil.com]/", "http://a@b@c/"),
            )
        ),
    ],
)
def test_a_host_is_what_a_client_connects_to(address: str, host: str) -> None:
    assert weights.host_of(address) == host


STRANGE = ("127。0。0。1", "evil。com", "evil．com", "evil｡com", "evil.com\\.localhost", "4294967296")


@pytest.mark.parametrize("name", STRANGE)
def test_a_host_that_programs_read_differently_gets_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-word")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://not an address")
    with pytest.raises(PartError, match="base_url is not a web address"):
        catalog.build("model", f"openai(model='m', base_url={f'http://{name}:8000/v1'!r})")
    reached = Access(endpoint=f"http://{name}:8000/v1", key_variable="OPENAI_API_KEY", headers={})
    assert not reached.is_local and "plain letters" in str(reached.lacks("m"))
    with pytest.raises(ModelError, match="Nothing was sent"):
        _ = reached.key


def test_an_address_in_numbers_is_judged_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-word")
    for spelled, there in (("0x08080808", "8.8.8.8"), ("134744072", "8.8.8.8"), ("010.8.8.8", "8.8.8.8")):
        reached = Access(endpoint=f"http://{spelled}/v1", key_variable="OPENAI_API_KEY", headers={})
        assert f"OPENAI_API_KEY would go to {there}" in str(reached.lacks("m"))
    assert Access(endpoint="http://2130706433:1/v1", key_variable="OPENAI_API_KEY", headers={}).is_local


@pytest.mark.parametrize("host", ["::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808::1", ""])
def test_an_address_that_holds_another_is_not_nearby(host: str) -> None:
    assert not is_trusted(host)
    assert is_trusted("::ffff:10.0.0.1") and is_trusted("fd00::1")


NEITHER_PRIVATE_NOR_KNOWN = (
    *(
        "ai",
        "gpu-box",
        "169.254.169.254",
        "198.18.0.1",
        "198.19.255.1",
        "240.0.0.1",
        "0.0.0.0",
        "100.64.0.1",
        "172.32.0.1",
    ),
    *("fe80::1", "fd00:ec2::254", "::ffff:169.254.169.254", "metadata.google.internal", "192.0.2.1", "255.255.255.255"),
)
STRANGERS = ("evil.example", "api.openai.com.evil.example", "evilapi.openai.com", "8.8.8.8")


@pytest.mark.parametrize("host", [*STRANGERS, *NEITHER_PRIVATE_NOR_KNOWN])
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
