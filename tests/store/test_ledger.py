"""The ledger, the loops' places in the facts, and repeated requests."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from headway.metering.entries import OCCUPANCY, Entry
from headway.store import cursors, idempotency, ledger
from headway.store.database import Database
from headway.store.idempotency import Answer
from tests.store.rows import ATTEMPT, JOB, NOW, later

ENTRY = Entry(f"{ATTEMPT}/2026-12", "vision", JOB, ATTEMPT, "cpu", OCCUPANCY, "2026-12", NOW, later(60), 4, 240)


def test_an_entry_is_posted_once(c: Connection) -> None:
    second = replace(ENTRY, key=f"{ATTEMPT}/2027-01", month="2027-01", start=later(60))
    assert ledger.post(c, []) == 0
    assert ledger.post(c, [ENTRY]) == 1
    assert ledger.post(c, [replace(ENTRY, devices=999), second]) == 1
    assert ledger.post(c, [ENTRY, second]) == 0
    assert ledger.entries(c) == [ENTRY, second]


def test_entries_are_filtered_by_project_and_month(c: Connection) -> None:
    other = replace(ENTRY, key="k", project="speech", month="2027-01")
    ledger.post(c, [ENTRY, other])
    assert ledger.entries(c, project="speech") == [other]
    assert ledger.entries(c, month="2026-12") == [ENTRY]
    assert ledger.entries(c, project="speech", month="2026-12") == []


@pytest.mark.parametrize("statement", ["UPDATE ledger SET device_seconds = 0", "DELETE FROM ledger"])
def test_an_entry_can_neither_be_changed_nor_removed(database: Database, statement: str) -> None:
    with database.write() as c:
        ledger.post(c, [ENTRY])
    with pytest.raises(DBAPIError, match="ledger is append-only"), database.write() as c:
        c.execute(text(statement))
    with database.read() as c:
        assert ledger.entries(c) == [ENTRY]


def test_a_cursor_begins_at_nought_and_keeps_its_place(c: Connection) -> None:
    assert cursors.get(c, "meter") == 0
    cursors.set(c, "meter", 7)
    cursors.set(c, "meter", 2**40)
    assert cursors.get(c, "meter") == 2**40
    assert cursors.get(c, "diagnose") == 0


def test_a_repeated_request_finds_its_answer_until_it_is_pruned(c: Connection) -> None:
    answer = Answer("sha256:1", 201, '{"id": "j-1", "名": "训练"}')
    assert idempotency.find(c, "ann", "k") is None
    idempotency.put(c, "ann", "k", answer, NOW)
    idempotency.put(c, "bob", "k", answer._replace(status=409), later(10))
    assert idempotency.find(c, "ann", "k") == answer
    assert idempotency.prune(c, later(10)) == 1
    assert idempotency.find(c, "ann", "k") is None
    assert idempotency.find(c, "bob", "k") == answer._replace(status=409)
