"""Users and what is theirs: passwords, tokens, roles; given, listed, changed and taken back."""

import pytest
from fastapi.testclient import TestClient

from headway.server import secrets
from headway.server.access import Role
from headway.server.operations.people import accounts as operations
from headway.server.platform import Platform
from headway.store import accounts, facts
from tests.server.conftest import People

Headers = dict[str, str]
FIRST, SECOND = "correct horse", "battery staple"


def test_a_password_gives_a_token_and_a_wrong_one_does_not(http: TestClient, admin: dict[str, str]) -> None:
    assert http.post("users", json={"name": "ann", "password": "correct horse"}, headers=admin).status_code == 201
    given = http.post("login", json={"user": "ann", "password": "correct horse"})
    assert http.get("me", headers={"Authorization": f"Bearer {given.json()['token']}"}).json()["user"] == "ann"
    for user, password in (("ann", "wrong"), ("nobody", "correct horse"), ("root-admin", "anything")):
        answer = http.post("login", json={"user": user, "password": password})
        assert (answer.status_code, answer.json()["code"]) == (401, "wrong-password")


@pytest.fixture
def ann(http: TestClient, admin: Headers, people: People) -> Headers:
    """Headers of a user with a password."""
    assert http.post("users", json={"name": "ann", "password": FIRST}, headers=admin).status_code == 201
    return people.headers(log_in(http, FIRST))


@pytest.fixture
def eve(people: People) -> Headers:
    return people.headers(people.token("eve", Role.MEMBER, "nlp"))


def log_in(http: TestClient, password: str) -> str:
    """The token, empty where the password is refused."""
    return str(http.post("login", json={"user": "ann", "password": password}).json().get("token", ""))


def told(platform: Platform, kind: str) -> list[str]:
    with platform.database.read() as c:
        return [recorded.fact.by for recorded in facts.since(c, 0, kinds=[kind])]


def test_one_changes_ones_own_password_by_showing_the_present_one(
    http: TestClient, ann: Headers, platform: Platform
) -> None:
    for current in ({}, {"current": SECOND}):
        refused = http.put("users/ann/password", json={"password": SECOND, **current}, headers=ann)
        assert (refused.status_code, refused.json()["code"]) == (401, "wrong-password")
    body = {"password": SECOND, "current": FIRST}
    assert http.put("users/ann/password", json=body, headers=ann).json()["user"] == "ann"
    assert not log_in(http, FIRST)
    assert log_in(http, SECOND)
    assert told(platform, "password-changed") == ["ann"]


def test_an_administrator_changes_anybodys_password_and_nobody_else_does(
    http: TestClient, ann: Headers, eve: Headers, admin: Headers
) -> None:
    body = {"password": SECOND, "current": FIRST}
    assert http.put("users/ann/password", json=body, headers=eve).status_code == 403
    assert http.put("users/ann/password", json={"password": SECOND}, headers=admin).status_code == 200
    assert log_in(http, SECOND)
    assert http.put("users/nobody/password", json={"password": SECOND}, headers=admin).status_code == 404


def test_tokens_are_listed_without_being_told_and_revoked(
    http: TestClient, ann: Headers, eve: Headers, admin: Headers, platform: Platform
) -> None:
    token = http.post("users/ann/tokens", json={"days": 7}, headers=ann).json()["token"]
    listed = http.get("users/ann/tokens", headers=ann)
    assert token not in listed.text
    assert secrets.digest(token) not in listed.text
    assert [set(row) for row in listed.json()] == [{"id", "user", "created_at", "expires_at"}] * 2
    week = next(row["id"] for row in listed.json() if row["expires_at"].startswith("2026-11-10"))
    assert http.get("users/ann/tokens", headers=eve).status_code == 403
    assert http.delete(f"users/ann/tokens/{week}", headers=eve).status_code == 403
    assert http.delete(f"users/eve/tokens/{week}", headers=admin).status_code == 404
    assert http.delete(f"users/ann/tokens/{week}", headers=ann).json()["id"] == week
    assert http.get("me", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert http.get("me", headers=ann).status_code == 200
    assert http.delete(f"users/ann/tokens/{week}", headers=ann).status_code == 404
    assert told(platform, "token-revoked") == ["ann"]


def test_a_role_that_is_withdrawn_gives_nothing_any_more(
    http: TestClient, eve: Headers, admin: Headers, platform: Platform
) -> None:
    assert http.delete("users/eve/roles/member?project=nlp", headers=eve).status_code == 403
    assert http.delete("users/eve/roles/member", headers=admin).status_code == 404
    assert http.delete("users/eve/roles/member?project=nlp", headers=admin).json() == {"user": "eve", "roles": []}
    assert http.get("jobs?project=nlp", headers=eve).status_code == 403
    assert told(platform, "role-withdrawn") == ["root-admin"]


def test_the_last_administrator_stays(http: TestClient, admin: Headers) -> None:
    assert http.delete("users/admin/roles/admin", headers=admin).status_code == 200
    refused = http.delete("users/root-admin/roles/admin", headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (409, "last-admin")
    assert http.get("me", headers=admin).json()["roles"] == [["admin", "*"]]


def test_an_account_that_this_machine_does_not_know_is_refused(http: TestClient, admin: Headers) -> None:
    answer = http.post("users", json={"name": "ann", "unix_name": "no-such-account"}, headers=admin)
    assert (answer.status_code, answer.json()["params"]["field"]) == (422, "unix_name")
    assert http.get("users/ann/tokens", headers=admin).status_code == 404


def test_passwords_are_hashed_and_tried_outside_any_transaction(
    http: TestClient, admin: Headers, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []

    class Watched:
        def hash(self, password: str) -> str:
            with platform.database.write():  # refused while this thread writes
                hashed.append(password)
            return f"hash of {password}"

        def verify(self, stored: str, password: str) -> bool:
            with platform.database.write():
                return stored == f"hash of {password}"

    monkeypatch.setattr(secrets, "HASHER", Watched())
    http.post("users", json={"name": "ann", "password": FIRST}, headers=admin)
    assert log_in(http, FIRST)
    assert http.put("users/ann/password", json={"password": SECOND}, headers=admin).status_code == 200
    assert hashed == [FIRST, SECOND]


def test_a_password_that_changes_while_it_is_tried_opens_nothing(
    http: TestClient, ann: Headers, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried(stored: str, password: str) -> bool:
        with platform.database.write() as c:
            accounts.set_password(c, "ann", "another hash")
        return secrets.password_fits(stored, password)

    monkeypatch.setattr(operations, "password_fits", tried)
    assert http.post("login", json={"user": "ann", "password": FIRST}).status_code == 401
