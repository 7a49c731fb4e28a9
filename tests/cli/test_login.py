"""Logging in: the token is checked before it is kept, and kept privately."""

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Headway
from tests.sdk.stub import Stub, problem

ME = {"user": "ann", "roles": [["member", "nlp"]]}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the token will be."""
    return tmp_path / "home" / "client.json"


def test_a_password_becomes_a_token_in_a_private_file(
    stub: Stub, headway: Headway, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("POST", "/login", {"token": "hw_new", "user": "ann"})
    stub.on("GET", "/me", ME)
    monkeypatch.setattr("sys.stdin", io.StringIO("secret words\n"))
    ran = headway("login", "--url", stub.url, "--user", "ann", "--password-stdin")
    assert ran.code == 0
    assert stub.asked[0].body == {"user": "ann", "password": "secret words"}
    assert "Authorization" not in stub.asked[0].headers
    assert stub.asked[1].headers["Authorization"] == "Bearer hw_new"
    assert '"hw_new"' in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "secret words" not in ran.out + ran.err
    assert "HEADWAY_TOKEN is set" in ran.err


def test_a_token_that_does_not_open_anything_is_not_kept(stub: Stub, headway: Headway, kept: Path) -> None:
    stub.on("GET", "/me", problem(401, "not-logged-in"))
    assert headway("login", "--url", stub.url, "--token", "hw_old").code == 4
    assert not kept.exists()


def test_me_says_who_and_where(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/me", ME)
    assert headway("me").out == f"USER   ann\nROLES  member @ nlp\nURL    {stub.url}\n"
