"""The spool on a real disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.agent.output.spool import Spool


def test_bytes_come_back_by_offset_with_their_times(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "spool" / "rank-0"))
    spool.append(b"hello ", 10.0)
    spool.append(b"world", 11.0)
    assert spool.read(0, 100) == (b"hello world", 10.0, 11.0)
    spool.append(b"!", 12.0)
    assert spool.read(6, 100) == (b"world!", 10.0, 12.0)
    assert spool.read(0, 3)[0] == b"hel"


def test_durable_pieces_go_and_the_rest_stays(tmp_path: Path) -> None:
    directory = tmp_path / "spool" / "rank-0"
    spool = Spool(str(directory))
    spool.append(b"a" * 10, 1.0)
    spool.append(b"b" * 10, 60.0)
    spool.release(15)
    assert [path.name for path in directory.iterdir()] == [f"{10:020d}.log"]
    assert (spool.start, spool.end) == (10, 20)
    spool.release(20)
    assert list(directory.iterdir()) == []
    assert (spool.start, spool.end) == (20, 20)
    spool.append(b"c", 61.0)
    assert spool.read(20, 10)[0] == b"c"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["append", "read", "release", "reopen"]), st.integers(0, 300)), max_size=30
    )
)
def test_a_spool_taken_over_from_disk_holds_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    directory = str(tmp_path_factory.mktemp("spool") / "spool" / "rank-0")
    spool, written, durable, now = Spool(directory), b"", 0, 0.0
    for step, size in steps:
        now += size / 10
        if step == "append" and size:
            data = bytes(number % 251 for number in range(len(written), len(written) + size))
            spool.append(data, now)
            written += data
        elif step == "read":
            assert spool.read(spool.start, 10_000)[0] == written[spool.start :]
        elif step == "release":
            durable = max(durable, len(written) - size)
            spool.release(durable)
        elif spool.start < spool.end:
            spool = Spool(directory)
        assert spool.end == len(written)
        assert spool.start <= max(durable, 0) or spool.start == spool.end
    assert spool.read(spool.start, 10_000)[0] == written[spool.start :]


def test_a_full_disk_adds_nothing_and_loses_nothing_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(str(tmp_path / "spool" / "rank-0"))
    spool.append(b"before", 1.0)
    real_write = __import__("os").write
    calls = []

    def half_write(fd: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real_write(fd, data[:2])

    monkeypatch.setattr("headway.agent.output.spool.os.write", half_write)
    with pytest.raises(OSError, match="No space"):
        spool.append(b"lost", 2.0)
    monkeypatch.undo()
    spool.append(b" after", 3.0)
    assert spool.read(0, 100)[0] == b"before after"
