"""The trace benchmarks run on a small trace and print the keys that are promised."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks import cycle, forecast, queue

HEADER = "job_id,project,user,submit_s,start_s,duration_s,gpus,gpu_type,nodes,status,limit_s,priority,cpus"


@pytest.fixture
def small_trace(tmp_path: Path) -> Path:
    rows = [f"j{n},{'pq'[n % 2]},,{n * 100},,{300 + n * 37 % 900},{(1, 4, 8, 12)[n % 4]},,,,,," for n in range(120)]
    path = tmp_path / "small.csv.gz"
    path.write_bytes(gzip.compress("\n".join([HEADER, *rows]).encode()))
    return path


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    said: dict[str, float] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return said


@pytest.mark.parametrize("words", [[], ["--fences"], ["--policy", "easy"]])
def test_the_queue_benchmark_prints_its_keys(
    small_trace: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["queue", "--trace", str(small_trace), "--nodes", "2", "--json", *words])
    queue.main()
    said = printed(capsys)
    assert {"mean_wait_s", "p50_wait_s", "p90_wait_s", "max_wait_s", "mean_wait_over8_s"} <= said.keys()
    assert {"max_wait_over8_s", "jain", "utilisation"} <= said.keys()
    assert said["jobs"] == 120
    assert ("guarantee_breach_s" in said) == ("--fences" in words)


@pytest.mark.parametrize("words", [["--policy", "easy"], ["--policy", "own", "--sample", "20"]])
def test_the_forecast_benchmark_prints_its_keys(
    small_trace: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["forecast", "--trace", str(small_trace), "--nodes", "2", *words])
    forecast.main()
    said = printed(capsys)
    assert {"waited", "mae_s", "zero_mae_s", "median_error_s", "within_2x", "p90_cover"} <= said.keys()
    assert {"p90_width", "ms_per_estimate"} <= said.keys()
    assert said["waited"] > 0


def test_the_cycle_benchmark_prints_its_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cycle", "--nodes", "16", "--running", "12", "--queued", "40", "--json"])
    cycle.main()
    said = printed(capsys)
    assert {"plan_s", "forecast_s", "draws", "ranged", "incremental_ms", "peak_mb"} <= said.keys()
    assert said["draws"] >= 20


def test_a_trace_with_missing_columns_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "odd.csv.gz"
    path.write_bytes(gzip.compress(b"job_id,submit_s\na,0\n"))
    monkeypatch.setattr(sys, "argv", ["queue", "--trace", str(path), "--nodes", "2"])
    with pytest.raises(SystemExit, match="has no column: project, duration_s, gpus, limit_s"):
        queue.main()
