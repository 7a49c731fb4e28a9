"""The kernel's lines from a file, a pipe and the kernel itself: each handed out once, over restarts and rotation."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from headway.agent.node.faults import Faults
from headway.agent.node.kernel_log import KernelLog
from headway.agent.node.moments import boot_time, moment_of


def test_a_file_is_followed_from_its_place_and_half_a_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text("one\ntwo\nthr")
    log = KernelLog(str(path), None)
    assert log.lines() == ["one", "two"]
    place = log.place
    log.close()
    with path.open("a") as file:
        file.write("ee\nfour\n")
    again = KernelLog(str(path), place)
    assert again.lines() == ["three", "four"]
    assert again.lines() == []
    again.close()


def test_a_file_that_is_rotated_or_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text("old line\n")
    log = KernelLog(str(path), None)
    assert log.lines() == ["old line"]
    path.rename(tmp_path / "kern.log.1")
    path.write_text("new\n")
    assert log.lines() == ["new"]
    path.write_text("x\n")
    assert log.lines() == ["x"]
    log.close()


def test_a_line_without_end_is_cut_and_the_place_stays_true(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text("y" * 100_000)
    log = KernelLog(str(path), None)
    assert log.lines() == []
    with path.open("a") as file:
        file.write("\nlast\n")
    assert log.lines()[-1] == "last"
    assert log.place["offset"] == path.stat().st_size
    log.close()


def test_a_pipe_is_followed_over_the_end_of_its_writers(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    log = KernelLog(str(path), None)
    for text in ("a\nb\n", "c\n"):
        with path.open("w") as writer:
            writer.write(text)
            writer.flush()
            assert log.lines() == text.split()
        assert log.lines() == []
    log.close()


def test_a_source_that_is_not_there_is_told_and_is_no_error(tmp_path: Path) -> None:
    log = KernelLog(str(tmp_path / "none"), None)
    assert log.lines() == []
    assert log.fd is None
    assert "none" in (log.problem or "")
    log.close()
    assert KernelLog("none", None).lines() == []


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK), reason="absent: /dev/kmsg: the kernel's log is not readable")
def test_the_kernels_own_records_are_handed_out_once() -> None:
    log = KernelLog("/dev/kmsg", None)
    try:
        first = log.lines()
        if not first:
            pytest.skip("absent: /dev/kmsg: this kernel has said nothing")
        numbers = [int(line.split(",")[1]) for line in first]
        assert numbers == sorted(set(numbers))
        again = KernelLog("/dev/kmsg", log.place)
        assert not set(again.lines()) & set(first)
        again.close()
        now = time.time()
        assert boot_time() <= (moment_of(first[0], now) or 0.0) <= now
    finally:
        log.close()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kern  :warn  : 2025-01-21T04:41:44,284971+00:00 NVRM: Xid", 1737434504.284971),
        ("2025-01-21T12:41:44.5+0800 n1 kernel: x", 1737434504.5),
        ("1737434504.284971 n1 kernel: NVRM", 1737434504.284971),
        ("no clock at all", None),
        ("2025-13-45T99:99:99Z x", None),
    ],
)
def test_the_time_of_a_line_is_read_by_its_own_clock(line: str, expected: float | None) -> None:
    assert moment_of(line, 1737434600.0) == expected


def test_clocks_since_the_start_of_the_machine_and_without_a_year_are_read() -> None:
    now = time.time()
    for line in ("[  100.25] x", "6,17,100250000,-;x"):
        assert moment_of(line, now) == pytest.approx(boot_time() + 100.25, abs=1)
    stamp = time.strftime("%b %d %H:%M:%S", time.localtime(now - 60))
    assert moment_of(f"{stamp} n1 kernel: x", now) == pytest.approx(now - 60, abs=1)
    future = time.strftime("%b %d %H:%M:%S", time.localtime(now + 3 * 86400))
    assert (moment_of(f"{future} n1 kernel: x", now) or now) < now
    assert moment_of(f"[{time.strftime('%a %b %d %H:%M:%S %Y', time.localtime(1737434504))}] x", now) == 1737434504


def test_a_storm_is_one_entry_with_a_count_and_a_card() -> None:
    faults = Faults({"0000:9b:00": 4}.get)
    line = "6,17,5000000,-;NVRM: Xid (PCI:0000:9b:00): 31, pid=7, name=python, Ch 8"
    assert faults.take([line] * 1000 + ["6,18,1,-;all is well"], 0.0)
    assert not faults.take(["nothing"], 0.0)
    (entry,) = faults.unsaid
    assert (entry["kind"], entry["code"], entry["card"], entry["count"]) == ("xid", 31, 4, 1000)
    assert entry["text"].startswith("NVRM: Xid")
    faults.said()
    assert faults.unsaid == []


def test_a_tool_that_begins_to_hang_is_told_once_until_it_answers() -> None:
    faults = Faults(lambda _: None)
    for hangs in (False, True, True):
        faults.tool("nvidia", hangs, 1.0)
    assert [entry["kind"] for entry in faults.unsaid] == ["tool_hangs"]
    faults.said()
    faults.tool("nvidia", True, 2.0)
    assert faults.unsaid == []
    faults.tool("nvidia", False, 3.0)
    faults.tool("nvidia", True, 4.0)
    assert len(faults.unsaid) == 1
