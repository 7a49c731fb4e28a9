"""Reports on disk: in order, once, over crashes at any line, and within a limit that spares what the kernel said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.agent import files
from headway.agent.node.spool import Spool, SpoolHeld


def contents(spool: Spool) -> list[Any]:
    found = []
    while (oldest := spool.oldest()) is not None:
        seq, body = oldest
        assert json.loads(body)["seq"] == seq
        found.append(json.loads(body)["n"])
        spool.remove(seq)
    return found


def test_reports_come_out_in_order_and_go_when_they_are_recorded(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    seqs = [spool.put({"n": n}, {}) for n in range(5)]
    assert seqs == sorted(set(seqs))
    assert spool.waiting == 5
    assert contents(spool) == [0, 1, 2, 3, 4]
    assert spool.oldest() is None


def test_what_waits_and_what_is_remembered_survive_the_daemon(tmp_path: Path) -> None:
    first = Spool(str(tmp_path))
    last = [first.put({"n": n}, {"place": {"offset": n}}) for n in range(3)][-1]
    first.close()
    second = Spool(str(tmp_path))
    assert second.state["place"] == {"offset": 2}
    assert second.put({"n": 3}, {}) > last
    assert second.state["place"] == {"offset": 2}
    assert contents(second) == [0, 1, 2, 3]


def test_a_crash_between_the_report_and_the_state_says_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(str(tmp_path))
    spool.put({"n": 0}, {"place": {"offset": 10}})
    write = files.write_json

    def dies(path: str, value: object, mode: int = 0o600) -> None:
        if path.endswith("state.json"):
            raise KeyboardInterrupt
        write(path, value, mode)

    monkeypatch.setattr(files, "write_json", dies)
    with pytest.raises(KeyboardInterrupt):
        spool.put({"n": 1}, {"place": {"offset": 20}})
    monkeypatch.undo()
    spool.close()
    again = Spool(str(tmp_path))
    assert again.state["place"] == {"offset": 20}
    assert contents(again) == [0, 1]


def test_a_lost_or_broken_state_never_makes_the_count_go_back(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    before = spool.put({"n": 0}, {})
    spool.close()
    (tmp_path / "state.json").write_text("{")
    again = Spool(str(tmp_path))
    assert again.state["seq"] == before
    for path in tmp_path.glob("*"):
        path.unlink()
    again.close()
    assert Spool(str(tmp_path)).put({"n": 1}, {}) > before


def test_over_the_limit_samples_go_before_what_the_kernel_said(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), most_bytes=20_000)
    for n in range(40):
        spool.put({"n": n, "events": ["xid"] if n % 10 == 0 else [], "readings": ["x" * 1000]}, {})
    kept = contents(spool)
    assert {0, 10, 20, 30} <= set(kept)
    assert kept[-1] == 39
    assert len(kept) < 25


def test_two_daemons_never_share_a_directory(tmp_path: Path) -> None:
    first = Spool(str(tmp_path))
    with pytest.raises(SpoolHeld):
        Spool(str(tmp_path))
    first.close()
    Spool(str(tmp_path)).close()
