"""When the bytes of a log came: the same from every length of log, and cheap of a long one."""

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.store.logs import LogBook, arrivals, segment, stream
from tests.store.test_logs import ATTEMPT, START, after


def written(logs: LogBook, pieces: list[tuple[float, int]]) -> int:
    """Each piece (seconds after the start, bytes) as a record of its own; the size of all."""
    offset = 0
    for seconds, length in pieces:
        logs.append(
            ATTEMPT, 0, offset, bytes(range(256)) * (length // 256) + b"x" * (length % 256), *[after(seconds)] * 2
        )
        logs.flush()
        offset += length
    return offset


def grown_until(found: list[arrivals.Arrival], at: datetime) -> int:
    return max((one.offset for one in found if one.at <= at), default=0)


def test_a_log_tells_how_it_grew_and_where_it_stood_still(tmp_path: Path) -> None:
    logs = LogBook(tmp_path)
    size = written(logs, [(0, 100), (1, 100), (900, 50), (901, 5000)])
    found = logs.arrivals(ATTEMPT, 0, 1000)
    assert (found[0].at, found[-1]) == (START, arrivals.Arrival(after(901), size))
    assert [grown_until(found, after(second)) for second in (1, 899, 900)] == [200, 200, 250]
    logs.close()


def test_a_log_without_bytes_has_no_arrivals(tmp_path: Path) -> None:
    logs = LogBook(tmp_path)
    assert logs.arrivals(ATTEMPT, 0, 100) == []


@settings(max_examples=20)
@given(
    pieces=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 3000)), min_size=1, max_size=40),
    points=st.integers(1, 60),
)
def test_arrivals_never_run_backwards_and_end_where_the_log_ends(pieces: list[tuple[int, int]], points: int) -> None:
    with TemporaryDirectory() as folder:
        logs, now, told = LogBook(Path(folder)), 0.0, []
        for wait, length in pieces:
            now += wait
            told.append((now, length))
        size = written(logs, told)
        found = logs.arrivals(ATTEMPT, 0, points)
        logs.close()
    assert (found[0], found[-1]) == (arrivals.Arrival(after(told[0][0]), 0), arrivals.Arrival(after(now), size))
    assert all(one.at <= two.at and one.offset <= two.offset for one, two in pairwise(found))
    assert len(found) <= 4 * points + 2


def test_of_a_long_log_only_some_headers_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SEGMENT_BYTES", 20_000)
    monkeypatch.setattr(arrivals, "HEADERS", 50)
    monkeypatch.setattr(stream, "fsync", lambda _path: None)
    monkeypatch.setattr(segment, "_INDEX_EVERY", 4096)
    logs = LogBook(tmp_path)
    size = written(logs, [(float(second), 400) for second in range(300)])
    found = logs.arrivals(ATTEMPT, 0, 1000)
    assert len(found) < 250
    assert found[-1] == arrivals.Arrival(after(299), size)
    middle = grown_until(found, START + timedelta(seconds=150))
    assert middle == pytest.approx(size / 2, rel=0.3)
    logs.close()
