"""A rank that prints far more than 1 GB a minute: what is kept is bounded and counted, and others do not notice."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.live.jobs import Work
from tests.live.platform import Platform, wait_until

pytestmark = pytest.mark.live
MEGABYTES = 400
A_GIGABYTE_A_MINUTE = 1e9 / 60
RATE, BURST = 1 << 20, 8 << 20
IN_TIME = timedelta(seconds=6)
DROPPED = re.compile(rb"^\[headway\] dropped (\d+) bytes \((\d+) lines\): over (\d+) bytes a second$")
LINE = re.compile(rb"^(\d{12}) x{100}$")


@pytest.fixture(scope="module")
def told(house: Platform) -> dict[str, Any]:
    """What a loud job printed, and how late a quiet one beside it was heard meanwhile."""
    quiet = Work(house, "ticking").submit()
    quiet.wait_for_step(1)
    loud = Work(house, "shouting", env={"LIVE_MEGABYTES": str(MEGABYTES)}).submit()
    loud.wait_for_state("running")
    late: list[timedelta] = []

    def is_over() -> bool:
        seen = datetime.fromisoformat(quiet.api.job(quiet.id)["last_progress_at"])
        late.append(datetime.now(UTC) - seen)
        return loud.api.state(loud.id) == "succeeded"

    wait_until(is_over, "the loud job has ended", loud.story)
    quiet.finish()
    assert quiet.end() == "succeeded", quiet.story()
    written = json.loads((loud.folder / "written.json").read_text())
    return {"loud": loud, "quiet": quiet, "late": late, "written": written, "log": loud.api.log(loud.id, 0)}


def test_what_is_kept_of_a_loud_rank_is_bounded(told: dict[str, Any]) -> None:
    written = told["written"]
    assert written["bytes"] / written["seconds"] > A_GIGABYTE_A_MINUTE, written
    assert len(told["log"]) <= BURST + RATE * (written["seconds"] + 5), written


def test_every_byte_was_kept_or_is_counted_as_dropped(told: dict[str, Any]) -> None:
    lines = told["log"].split(b"\n")
    assert lines.pop() == b""
    drops = [DROPPED.match(line) for line in lines]
    kept = [line for line, drop in zip(lines, drops, strict=True) if drop is None]
    counts = [(int(drop[1]), int(drop[2]), int(drop[3])) for drop in drops if drop]
    assert counts
    assert {count[2] for count in counts} == {RATE}
    assert sum(len(line) + 1 for line in kept) + sum(count[0] for count in counts) == told["written"]["bytes"]
    assert len(kept) + sum(count[1] for count in counts) == told["written"]["lines"]
    numbers = [int(LINE.match(line)[1]) for line in kept]  # type: ignore[index]
    assert numbers == sorted(set(numbers))


def test_each_drop_is_a_fact_that_points_to_its_line(told: dict[str, Any]) -> None:
    loud, log = told["loud"], told["log"]
    recorded = [fact["data"] for fact in loud.api.facts(loud.id, "logs-dropped")]
    in_place = [DROPPED.match(line) for line in log.split(b"\n")]
    assert [fact["bytes"] for fact in recorded] == [int(drop[1]) for drop in in_place if drop]
    for fact in recorded:
        line = log[fact["offset"] :].partition(b"\n")[0]
        assert line.startswith(b"[headway] dropped %d bytes" % fact["bytes"]), fact
        assert fact["why"] == "rate"


def test_a_quiet_job_beside_it_is_heard_in_time_and_whole(told: dict[str, Any]) -> None:
    quiet = told["quiet"]
    assert max(told["late"]) < IN_TIME, told["late"]
    assert quiet.api.log(quiet.id, 0) == quiet.mirror(0)
