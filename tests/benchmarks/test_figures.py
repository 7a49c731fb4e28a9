"""What programs read of a benchmark's last line: the names that were promised."""

import json

import pytest
from benchmarks.table import publish

from benchmarks import checkpoint, recovery


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_the_benchmark_of_saves_ends_with_every_figure_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    rounds = {way: [(2.0, 1.0), (1.0, 0.5), (3.0, 1.5)] for way in checkpoint.WAYS}
    figures = checkpoint.figures(rounds, 0.25, 100)
    publish(checkpoint.Result("P5", "", [["way"]], [], [], figures), as_json=True)
    told = last_line(capsys)
    for name in ("headway_stall_s", "copy_s", "torch_save_s", "dcp_async_stall_s"):
        assert told[name] == 2.0
    assert told["verify_ratio"] == 0.25
    assert told["flash_stall_s"] is None
    assert told["flash_reason"]


def test_the_benchmark_of_recovery_ends_with_every_figure_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    floor = recovery.Recovery(4.0, 20, {"first step": 4.0})
    ours = recovery.Recovery(5.0, 20, {"first step": 5.0}, 5.0, {"detect": 0.5, "load": 1.0})
    publish(recovery.result([floor], [ours]), as_json=True)
    told = last_line(capsys)
    assert (told["floor_s"], told["headway_s"], told["detect_s"]) == (4.0, 5.0, 0.5)
    assert told["phases"] == {"detect": 0.5, "load": 1.0}


def test_figures_are_of_the_rounds_after_the_first() -> None:
    rounds = {way: [(9.0, 9.0), (1.0, 0.5)] for way in checkpoint.WAYS}
    assert checkpoint.figures(rounds, 0.0, 1)["first_copy_s"] == 9.0
