"""A job's life on real processes: stops, errors, memory, gangs, and what is held for a job that resumes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.jobs import GANG, PROGRAMS, TEMPLATE, Work
from tests.live.platform import Platform, wait_for, wait_until

pytestmark = pytest.mark.live
GRACE_S = 1.0
SOME_STEPS = 5
WHOLE = {"nodes": 2, "devices_per_node": 2, "ranks_per_node": 1}
MEMORY_LIMIT = 256 << 20


@pytest.fixture(scope="module")
def hasty(house: Platform) -> str:
    """A template whose ranks have a second to stop."""
    content = TEMPLATE | {"name": "hasty", "recovery": {"retries": 3, "grace_s": GRACE_S}}
    house.api.call("POST", "templates", json={"content": content})
    return "hasty"


def _stop(work: Work) -> None:
    work.api.call("POST", f"jobs/{work.id}/stop", json={})


def _exits(work: Work) -> dict[int, dict[str, Any]]:
    """How the ranks of the first attempt ended."""
    return {exit["rank"]: exit for exit in work.api.attempts(work.id)[0]["exits"]}


def _verdict(work: Work) -> dict[str, Any]:
    verdict: dict[str, Any] = work.api.attempts(work.id)[0]["verdict"]
    assert verdict, work.story()
    return verdict


def test_a_program_that_listens_leaves_by_itself_when_it_is_stopped(house: Platform) -> None:
    work = Work(house, "ticking", resources=GANG).submit()
    work.wait_for_step(SOME_STEPS)
    _stop(work)
    assert work.end() == "stopped", work.story()
    assert {(exit["code"], exit["stopped_by_us"]) for exit in _exits(work).values()} == {(0, True)}
    for rank in (0, 1):
        assert work.api.log(work.id, rank) == work.mirror(rank)


def test_a_program_that_does_not_listen_is_killed_after_its_grace(house: Platform, hasty: str) -> None:
    work = Work(house, "failing", template=hasty, env={"LIVE_FAILS": "none"}).submit()
    work.wait_for_step(1)
    _stop(work)
    assert work.end() == "stopped", work.story()
    exit = _exits(work)[0]
    assert (exit["signal_name"], exit["stopped_by_us"]) == ("SIGKILL", True)
    asked = work.api.facts(work.id, "stop-requested")[0]["at"]
    assert exit["at"] > asked
    assert len(work.api.attempts(work.id)) == 1


def test_a_queued_job_is_stopped_without_ever_running(house: Platform) -> None:
    first = Work(house, "ticking", resources=WHOLE).submit()
    first.wait_for_state("running")
    second = Work(house, "ticking", resources=WHOLE).submit()
    reason = wait_for(lambda: second.api.job(second.id)["waits"], "a reason to wait", second.story)
    assert reason["sentence"], reason
    assert reason["numbers"], reason
    _stop(second)
    assert second.end() == "stopped"
    assert second.api.attempts(second.id) == []
    assert [fact["kind"] for fact in second.api.facts(second.id)] == ["job-submitted", "stop-requested", "job-ended"]
    _stop(first)
    assert first.end() == "stopped"


def test_a_job_stopped_while_it_is_being_launched_ends_stopped_and_nobody_is_lost(house: Platform) -> None:
    for state in ("queued", "starting", "running"):
        work = Work(house, "ticking", resources=GANG).submit()
        if state != "queued":
            work.wait_for_state("starting", "running")
        if state == "running":
            wait_until(lambda: work.lines("starts"), "its first rank runs", work.story)  # noqa: B023
        _stop(work)
        assert work.end() == "stopped", work.story()
        assert work.api.facts(work.id, "agent-lost") == [], work.story()
        assert all(len(work.lines("starts", rank)) <= 1 for rank in (0, 1))


def test_an_error_in_the_program_is_named_by_file_and_line_and_not_tried_again(house: Platform) -> None:
    work = Work(house, "failing", env={"LIVE_FAILS": "0"}).submit()
    work.wait_for_step(1)
    work.finish()
    assert work.end() == "failed", work.story()
    verdict = _verdict(work)
    lines = (PROGRAMS / "failing.py").read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if "raise ValueError" in line)
    assert (verdict["fault"], verdict["owner"]) == ("code-error", "researcher"), verdict
    assert verdict["location"].endswith(f"failing.py:{number}"), verdict
    assert "the batch does not fit the model" in verdict["detail"]
    assert len(work.api.attempts(work.id)) == 1


def test_when_one_rank_fails_the_other_nodes_are_stopped(house: Platform, hasty: str) -> None:
    work = Work(house, "failing", template=hasty, resources=GANG, env={"LIVE_FAILS": "1"}).submit()
    work.wait_for_step(1)
    work.finish()
    assert work.end() == "failed", work.story()
    exits = _exits(work)
    assert (exits[1]["code"], exits[1]["stopped_by_us"]) == (1, False)
    assert (exits[0]["signal_name"], exits[0]["stopped_by_us"]) == ("SIGKILL", True)
    verdict = _verdict(work)
    assert (verdict["rank"], verdict["node"], verdict["fault"]) == (1, exits[1]["node"], "code-error")


def test_a_kill_for_want_of_memory_is_told_from_any_other(house: Platform) -> None:
    work = Work(house, "hungry").submit()
    work.wait_for_step(1)
    placed = work.api.job(work.id)["attempt"]
    directory = house.node_directory(placed["id"], placed["placements"][0]["node"])
    _limit_memory(json.loads((directory / "order.json").read_text())["cgroup"] or [])
    (work.folder / "limited").touch()
    assert work.end() == "failed", work.story()
    assert _exits(work)[0]["oom_kill"], work.story()
    verdict = _verdict(work)
    assert (verdict["fault"], verdict["rank"]) == ("host-out-of-memory", 0), verdict
    assert len(work.api.attempts(work.id)) == 1


def _limit_memory(groups: list[str]) -> None:
    """Give the attempt's own group a limit, as an administrator would."""
    for name in ("memory.limit_in_bytes", "memory.max"):
        for group in groups:
            if (Path(group) / name).exists():
                (Path(group) / name).write_text(str(MEMORY_LIMIT))
                return
    pytest.skip("absent: memory cgroup: attempts get no group whose memory can be limited")


def test_freed_devices_are_held_for_the_job_that_resumes(house: Platform) -> None:
    important = Work(house, "ticking", resources=WHOLE, priority="normal").submit()
    important.wait_for_step(SOME_STEPS)
    modest = Work(house, "ticking", resources=WHOLE, priority="low").submit()
    waits: list[dict[str, Any]] = []

    def is_resumed() -> bool:
        seen = modest.api.job(modest.id)["waits"]
        waits.extend([seen] if seen else [])
        return bool(important.api.facts(important.id, "attempt-started")[1:])

    wait_until(lambda: modest.api.job(modest.id)["waits"], "it waits", modest.story)
    important.api.call("POST", f"jobs/{important.id}/drills", json={"rank": 1})
    wait_until(is_resumed, "the drilled job runs again", important.story)
    assert modest.api.attempts(modest.id) == [], modest.story()
    assert waits
    assert all(wait["numbers"] and wait["sentence"] for wait in waits), waits
    assert {important.id} >= {job for wait in waits for job in wait["ahead"]}, waits
    placed = [fact["data"]["placements"] for fact in important.api.facts(important.id, "attempt-placed")]
    assert placed[0] == placed[1]
    important.finish()
    assert important.end() == "succeeded", important.story()
    modest.wait_for_step(SOME_STEPS)
    modest.finish()
    assert modest.end() == "succeeded", modest.story()
    ended = important.api.facts(important.id, "attempt-ended")[1]["seq"]
    assert modest.api.facts(modest.id, "attempt-placed")[0]["seq"] > ended
