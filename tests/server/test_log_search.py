"""Searching a log: what is found, where it goes on, and expressions that would take for ever."""

from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.server.operations.evidence import log_search
from headway.server.operations.evidence.log_search import Wanted, search
from headway.server.platform import Platform
from headway.store.logs import LogBook
from tests.server.conftest import Placed

ATTEMPT = AttemptId("j-1.1")
AT = datetime(2026, 11, 3, tzinfo=UTC)


def _written(folder: Path, text: bytes) -> LogBook:
    logs = LogBook(folder)
    for offset in range(0, len(text), 200_003):
        logs.append(ATTEMPT, 0, offset, text[offset : offset + 200_003], AT, AT)
    return logs


@pytest.fixture
def book(tmp_path: Path) -> LogBook:
    """Three pieces of lines, one in a thousand of them of interest."""
    lines = [f"step {n} loss {n / 7:.3f} {'x' * 60}\n" for n in range(40_000)]
    lines[::1000] = [f"step {n} NCCL error 损坏 {n}\n" for n in range(0, 40_000, 1000)]
    return _written(tmp_path / "logs", "".join(lines).encode())


def _all(logs: LogBook, wanted: Wanted, limit: int = 7) -> list[log_search.Match]:
    """Every match, asked for a few at a time."""
    matches: list[log_search.Match] = []
    place: int | None = 0
    while place is not None:
        found = search(logs, ATTEMPT, 0, wanted, place, limit)
        assert len(found.matches) <= limit
        matches += found.matches
        place = found.next
    return matches


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("NCCL error"),
        Wanted("nccl ERROR", ignore_case=True),
        Wanted(r"NCCL error \S+ \d+$", is_regex=True),
        Wanted(r"^step \d+ nccl", is_regex=True, ignore_case=True),
        Wanted("损坏"),
    ],
)
def test_every_line_is_found_once_across_pieces_and_calls(book: LogBook, wanted: Wanted) -> None:
    found = _all(book, wanted)
    assert [match.text for match in found] == [f"step {n} NCCL error 损坏 {n}" for n in range(0, 40_000, 1000)]
    for match in found:
        assert book.read(ATTEMPT, 0, match.offset, 5) == b"step "
        assert match.at >= match.offset
    assert book.read(ATTEMPT, 0, found[3].at, 4) in (b"NCCL", b"step", "损坏".encode()[:4])


def test_a_search_ends_where_the_log_does_and_finds_nothing_in_an_empty_one(book: LogBook, tmp_path: Path) -> None:
    assert search(book, ATTEMPT, 0, Wanted("absent"), 0, 10).matches == []
    assert search(book, ATTEMPT, 0, Wanted("absent"), 0, 10).next is None
    assert search(LogBook(tmp_path / "none"), ATTEMPT, 0, Wanted("x"), 0, 10) == log_search.Found([], None, 0)


def test_a_search_stops_at_its_bound_of_bytes_and_goes_on_from_there(
    book: LogBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "BYTES", 1 << 20)
    first = search(book, ATTEMPT, 0, Wanted("absent"), 0, 10)
    assert first.next is not None
    assert 0 < first.next < first.size
    assert search(book, ATTEMPT, 0, Wanted("absent"), 3 << 20, 10).next is None


def test_an_expression_that_backtracks_for_ever_is_given_up_and_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "SECONDS", 0.5)
    logs = _written(tmp_path / "logs", b"a" * 60 + b"!\n")
    before = process_time()
    with pytest.raises(PlatformError) as refused:
        search(logs, ATTEMPT, 0, Wanted("(a+)+$", is_regex=True), 0, 10)
    assert refused.value.code == "log-pattern-slow"
    assert process_time() - before < 0.4  # it is the child that thinks


@pytest.mark.parametrize("text", ["(", "*", "a{99999999999}", "", "x" * 501, "a\nb", "a\0b"])
def test_a_bad_pattern_is_refused_by_its_field(tmp_path: Path, text: str) -> None:
    with pytest.raises(PlatformError) as refused:
        search(_written(tmp_path / "logs", b"a\n"), ATTEMPT, 0, Wanted(text, is_regex=True), 0, 10)
    assert (refused.value.code, refused.value.params["field"]) == ("invalid-field", "q")


def test_a_line_without_end_is_searched_in_parts(tmp_path: Path) -> None:
    logs = _written(tmp_path / "logs", b"x" * (3 << 20) + b"needle")
    (match,) = _all(logs, Wanted("needle"))
    assert match.at == 3 << 20


@given(st.lists(st.text(alphabet="ab\r \té", max_size=6), max_size=30), st.text(alphabet="abé", min_size=1, max_size=2))
def test_the_lines_found_are_those_that_hold_the_text(lines: list[str], text: str) -> None:
    piece = "".join(f"{line}\n" for line in lines).encode()
    found = log_search._plain(Wanted(text))(piece, 1000)
    held = [line for line in piece.split(b"\n") if text.encode() in line]
    assert [piece[start : piece.index(b"\n", start)] for start, _ in found] == held


def _ask(http: TestClient, job: str, headers: dict[str, str], **query: Any) -> Any:
    return http.get(f"jobs/{job}/logs/search", params=query, headers=headers)


def test_the_route_finds_by_text_and_by_expression(
    platform: Platform, http: TestClient, admin: dict[str, str], placed: Placed
) -> None:
    text = b"one\ntwo \x1b[31merror 7\x1b[0m\nthree\n"
    platform.logs.append(placed.attempt, 0, 0, text, AT, AT)
    answer = _ask(http, placed.job, admin, q=r"error \d", regex=True).json()
    assert answer["matches"] == [{"offset": 4, "at": 13, "text": "two \x1b[31merror 7\x1b[0m"}]
    assert (answer["next"], answer["size"]) == (None, len(text))
    assert _ask(http, placed.job, admin, q="THREE", ignore_case=True).json()["matches"][0]["offset"] == 25
    assert _ask(http, placed.job, admin, q="(", regex=True).status_code == 422
    assert _ask(http, placed.job, admin, q="x", rank=9).status_code == 422
