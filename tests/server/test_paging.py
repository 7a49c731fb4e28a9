"""Lists come in pages that together are the whole list."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from fastapi import Response
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.sdk.client.calls import LONG_PAGE
from headway.sdk.client.calls import NEXT as FOLLOWED
from headway.server.access import Role
from headway.server.api.paging import NEXT, Paging, cursor_of, newest
from tests.server.conftest import Clock, People

LISTS = (
    *("cards", "cases", "channels", "departments", "nodes", "projects", "quota/versions", "quotas"),
    *("reports?month=2026-11", "templates", "users", "users/ann/tokens", "windows", "grants"),
)


@pytest.fixture
def filled(http: TestClient, admin: dict[str, str], people: People) -> dict[str, str]:
    """A home with at least two of everything that is listed above."""
    ann = people.token("ann", Role.MEMBER, "nlp")
    for name in ("loud", "quiet"):
        http.put(f"channels/{name}", json={"url": "json://127.0.0.1:9/x"}, headers=admin).raise_for_status()
    begins = {"begins": "2026-12-01T00:00:00Z", "ends": "2026-12-02T00:00:00Z"}
    for name in ("move", "power"):
        window = {"name": name, "nodes": ["n1"], "reason": "works", **begins}
        http.post("windows", json=window, headers=admin).raise_for_status()
        grant = {"project": "nlp", "device_type": "cpu", "devices": 1, "ends": begins["ends"], "reason": name}
        http.post("grants", json=grant, headers=people.headers(ann)).raise_for_status()
    for project in ("nlp", "vision"):
        http.put(f"projects/{project}/quotas/cpu", json={"devices": 1}, headers=admin).raise_for_status()
    http.post("departments", json={"name": "sales"}, headers=admin).raise_for_status()
    for _ in range(2):
        http.post("users/ann/tokens", json={}, headers=admin).raise_for_status()
    return admin


def pages(http: TestClient, path: str, headers: dict[str, str], limit: int) -> list[list[Any]]:
    """Every page of a list."""
    found, cursor = [], None
    while cursor or not found:
        page = f"limit={limit}" + (f"&cursor={cursor}" if cursor else "")
        answer = http.get(f"{path}{'&' if '?' in path else '?'}{page}", headers=headers)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        cursor = answer.headers.get(NEXT)
    return found


def test_pages_of_every_list_are_the_whole_list(http: TestClient, filled: dict[str, str]) -> None:
    for path in LISTS:
        whole = http.get(path, headers=filled)
        assert NEXT not in whole.headers
        rows = whole.json()
        assert len(rows) >= 2, path
        assert pages(http, path, filled, 1) == [[row] for row in rows], path
        assert pages(http, path, filled, len(rows)) == [rows], path


def test_the_client_follows_what_the_server_says_and_may_ask_for_as_much(
    http: TestClient, admin: dict[str, str]
) -> None:
    assert FOLLOWED == NEXT
    assert http.get("nodes", params={"limit": LONG_PAGE}, headers=admin).status_code == 200


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "nonsense", "é", cursor_of(("n1", "n2")), cursor_of((3,)), urlsafe_b64encode(b"{}").decode()),
        *(urlsafe_b64encode(text.encode()).decode() for text in ("[]", "[true]", "[null]", "[" * 9999, '["n1', "7")),
    ],
)
@pytest.mark.parametrize("path", ["nodes", "jobs"])
def test_a_cursor_we_did_not_give_is_refused(http: TestClient, admin: dict[str, str], path: str, cursor: str) -> None:
    answer = http.get(path, params={"cursor": cursor}, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-field")
    assert answer.json()["params"]["field"] == "cursor"


@pytest.mark.parametrize("limit", [0, -1, 1001, "many"])
def test_a_page_has_at_least_one_row_and_at_most_a_thousand(
    http: TestClient, admin: dict[str, str], limit: int | str
) -> None:
    assert http.get("nodes", params={"limit": limit}, headers=admin).status_code == 422


ROWS = st.lists(st.tuples(st.integers(-5, 5), st.text(max_size=3)), unique=True, max_size=12)


@given(rows=ROWS, gone=st.sets(st.integers(0, 11)), limit=st.integers(1, 5))
def test_rows_that_go_between_two_pages_hide_and_repeat_no_other(
    rows: list[tuple[int, str]], gone: set[int], limit: int
) -> None:
    first = Response()
    seen = Paging(first, limit=limit).of(rows, lambda row: row)
    left = [row for place, row in enumerate(rows) if place not in gone]
    cursor = first.headers.get(NEXT)
    while cursor:
        response = Response()
        seen += Paging(response, cursor=cursor, limit=limit).of(left, lambda row: row)
        cursor = response.headers.get(NEXT)
    assert len(set(seen)) == len(seen)
    assert seen == sorted(seen)
    assert set(left) <= set(seen) <= set(rows)


def test_the_newest_row_stands_first_to_the_microsecond(clock: Clock) -> None:
    times = [clock.at.replace(microsecond=n) for n in range(3)]
    places = [newest(at, "a") for at in times]
    assert sorted(places) == places[::-1]
    assert json.loads(json.dumps(places[0])) == list(places[0])


def test_another_lists_cursor_is_no_place_in_this_one() -> None:
    with pytest.raises(PlatformError):
        Paging(Response(), cursor=cursor_of(("a", "b")), limit=1).of([1, 2], lambda row: (row,))
