"""What benchmarks print."""

import json

import pytest
from benchmarks.table import Goal, Result, describe, machine, markdown, publish


@pytest.mark.parametrize(("value", "met"), [(0.99, True), (0.98, True), (0.97, False)])
def test_a_goal_at_least_is_met_from_its_target_up(value: float, met: bool) -> None:
    assert Goal("ratio", value, "at least", 0.98).is_met is met


def test_a_goal_at_most_that_is_missed_says_so() -> None:
    assert Goal("ratio", 1.75, "at most", 1.5).sentence() == "ratio: 1.75, target at most 1.5: NOT met"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = markdown([("side", "jobs/s"), ("bare Python", "20")]).splitlines()
    assert lines == ["| side        | jobs/s |", "|-------------|--------|", "| bare Python | 20     |"]


def test_a_busy_machine_calls_its_figures_provisional() -> None:
    here = machine() | {"cores": 2, "load_1m": 5.0}
    assert "provisional" in describe(here)
    assert "provisional" not in describe(here | {"load_1m": 0.4})


def test_with_json_the_last_line_is_one_object_with_goals_and_figures(capsys: pytest.CaptureFixture[str]) -> None:
    result = Result("P0", "nothing", [("side",), ("ours",)], [Goal("ratio", 1.0, "at least", 0.5)], (), {"ratio": 1.0})
    publish(result, as_json=True)
    lines = capsys.readouterr().out.splitlines()
    told = json.loads(lines[-1])
    assert (told["benchmark"], told["ratio"], told["goals"][0]["met"]) == ("P0", 1.0, True)
    assert any(line.startswith("machine: ") for line in lines)
