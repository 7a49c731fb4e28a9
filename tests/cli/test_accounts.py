"""Accounts: what is taken back or replaced, and what is never shown."""

import io

import pytest

from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

ANN = {"user": "ann", "roles": []}
TOKEN = {"id": "t-1", "user": "ann", "created_at": "2026-12-01T06:20:05Z", "expires_at": "2026-12-08T06:20:05Z"}


def test_tokens_are_listed_by_id_with_their_ends(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/users/ann/tokens", [TOKEN, TOKEN | {"id": "t-2", "expires_at": None}])
    ran = headway("token", "ls", "ann")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ["ID", "t-1", "t-2"]
    assert "2026-12-08" in ran.out
    assert ran.out.rstrip().endswith("—")


def test_a_token_is_revoked_by_id(stub: Stub, headway: Headway) -> None:
    stub.on("DELETE", "/users/ann/tokens/t-1", TOKEN)
    assert headway("token", "revoke", "ann", "t-1").code == 0
    assert headway("token", "revoke", "ann", "t-9").code == 3


def test_a_role_is_withdrawn_in_its_project(stub: Stub, headway: Headway) -> None:
    stub.on("DELETE", "/users/ann/roles/lead", ANN)
    assert headway("role", "withdraw", "ann", "lead", "--project", "nlp").code == 0
    assert headway("role", "withdraw", "ann", "lead").code == 0
    assert [asked.query for asked in stub.asked] == [{"project": ["nlp"]}, {}]


def test_a_password_is_read_from_two_lines_and_never_printed(
    stub: Stub, headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("PUT", "/users/ann/password", ANN)
    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\ncorrect horse\n"))
    ran = headway("user", "password", "ann", "--password-stdin")
    assert (ran.code, ran.out) == (0, "")
    assert "staple" not in ran.err
    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\n"))
    assert headway("user", "password", "ann", "--password-stdin").code == 0
    assert [asked.body for asked in stub.asked] == [
        {"password": "battery staple", "current": "correct horse"},
        {"password": "battery staple"},
    ]
