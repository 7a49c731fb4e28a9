"""The benchmarks' own readings of what ranks say, their command lines, and that they run."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks import __main__ as every
from benchmarks import overhead, pauses, recovery, submit, training


def say(path: Path, *events: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + '{"kind": "progress", "to')
    return path


def test_steps_of_a_process_that_was_there_before_are_not_new_steps(tmp_path: Path) -> None:
    old, new = {"t": 1.0, "kind": "attached"}, {"t": 12.0, "kind": "attached"}
    dying = {"t": 10.5, "kind": "progress", "step": 26}
    first = {"t": 13.0, "kind": "progress", "step": 21}
    path = say(tmp_path / "events.jsonl", old, dying, new, first)
    assert training.first_after([path, tmp_path / "absent"], 10.0, "progress") == first
    assert training.first_after([path], 12.5, "progress") is None


def test_steps_a_second_leave_out_the_start(tmp_path: Path) -> None:
    steps = [{"t": 100.0 + step / 4, "kind": "progress", "step": step} for step in range(10, 31)]
    slow = {"t": 0.0, "kind": "progress", "step": 1}
    assert overhead.steps_per_s(say(tmp_path / "events.jsonl", slow, *steps)) == pytest.approx(4.0)


def test_a_pair_of_spans_compares_the_platform_beside_with_its_pause_whichever_came_first() -> None:
    alone, beside = pauses.Span(100.0, 103.0, True), pauses.Span(103.0, 106.0, False)
    later = [pauses.Span(109.0, 112.0, False), pauses.Span(106.0, 109.0, True)]
    times = [100 + n / 10 for n in range(30)] + [103 + n / 5 for n in range(15)]
    assert pauses.ratios(times, [alone, beside, *later]) == [pytest.approx(0.5)]
    assert pauses.ratios(times, [beside, alone]) == [pytest.approx(0.5)]


def test_what_saving_costs_counts_against_the_platform_beside() -> None:
    told = pauses.result([1.0] * 9, pauses.Saving(2.0, 100.0))
    assert told.goals[0].value == pytest.approx(0.98)
    assert not told.goals[0].is_met


def test_the_recovery_table_pairs_each_run_with_its_own_floor() -> None:
    floors = [recovery.Recovery(seconds, 25, {"first step": seconds}) for seconds in (4.0, 10.0)]
    ours = [recovery.Recovery(seconds, 25, {"first step": seconds}, seconds) for seconds in (5.0, 12.0)]
    told = recovery.result(floors, ours)
    assert told.goals[0].value == pytest.approx((5 / 4 + 12 / 10) / 2)
    assert "first step 8.50: 8.50 in all" in told.notes[1]


def test_a_death_is_timed_when_it_happens() -> None:
    victim = subprocess.Popen(["sleep", "60"])
    try:
        assert recovery.death_of(victim.pid, victim.kill) > 0
    finally:
        victim.wait(60)
    assert victim.returncode == -9


@pytest.mark.parametrize("module", [submit, recovery, overhead])
def test_quick_is_smaller_than_the_measurement_and_a_given_number_wins(module: ModuleType) -> None:
    parse: Callable[[list[str]], Any] = module.parse
    number = "jobs" if module is submit else "pairs"
    quick, full, given = (getattr(parse(words), number) for words in (["--quick"], [], [f"--{number}", "7"]))
    assert quick < full
    assert given == 7


def test_every_benchmark_is_a_module_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(every.__file__).parent
    modules = [[folder / f"{name}.py", folder / name / "__main__.py"] for name in every.BENCHMARKS]
    assert all(any(path.is_file() for path in either) for either in modules)
    assert every.parse([]).names == list(every.BENCHMARKS)
    with pytest.raises(SystemExit):
        every.parse(["nothing"])
    assert "there are submit" in capsys.readouterr().err


@pytest.mark.live
def test_jobs_of_true_are_measured_on_a_real_server() -> None:
    command = [sys.executable, "-m", "benchmarks.submit", "--jobs", "6", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["benchmark"] == "P2"
    assert told["jobs_per_s"] > 0
    assert 0 < told["to_running_alone_s"]["p50"] < 60
