"""Living with the site: others' jobs are taken devices, its drained nodes stay closed, and its queue is waited for."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.engines.slurm_testbed import Testbed
from tests.live.platform import wait_for, wait_until
from tests.live.seeds import exhaustive
from tests.live.slurm.books import check_books, tries
from tests.live.slurm.site import Site, opened

STEPS = 25
pytestmark = [pytest.mark.live, exhaustive, pytest.mark.timeout(240)]


@pytest.fixture
def impatient(testbed: Testbed) -> Iterator[Site]:
    """A server that gives Slurm's queue three seconds."""
    with opened(testbed, pending_s="3") as site:
        yield site


def test_half_the_cluster_in_others_hands_is_taken_until_their_limit(site: Site) -> None:
    since = datetime.now(UTC)
    first, second, third = sorted(row["node"]["name"] for row in site.platform.api.call("GET", "nodes"))[:3]
    foreign = site.foreign(f"{first},{second}", devices=8, minutes=10)
    wait_until(lambda: len(site.node(second)["occupied"]) == 1, "the foreign job to be seen", site.platform.log_tail)
    assert [(one["by"], one["devices"]) for one in site.node(first)["occupied"]] == [("root", 8)]
    gang, small = site.work("ticking", nodes=2).submit(), site.work("ticking", nodes=1).submit()
    waits = wait_for(lambda: site.platform.api.job(gang.id)["waits"], "the gang to be told why it waits", gang.story)
    assert waits["reason"] == "capacity"
    assert waits["reserved_at"] is not None
    small.wait_for_step(1)
    site.testbed.run("scancel", foreign)
    gang.wait_for_step(1)
    for work in (gang, small):
        work.finish()
        assert work.end() == "succeeded", work.story()
    check_books(site, [gang, small], since)
    assert {part["node"] for one in small.api.attempts(small.id) for part in one["attempt"]["placements"]} == {third}


def test_a_node_the_site_drains_goes_on_with_its_job_and_gets_no_other(site: Site) -> None:
    since = datetime.now(UTC)
    work = site.work("ticking", devices=8).submit()
    work.wait_for_step(1)
    (node,) = (part["node"] for part in site.platform.api.job(work.id)["attempt"]["placements"])
    site.testbed.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=fan of card 3")
    wait_until(lambda: site.node(node)["node"]["state"] == "cordoned", "the drain to be seen", site.platform.log_tail)
    assert site.node(node)["node"]["reason"] == "fan of card 3"
    work.finish()
    assert work.end() == "succeeded", work.story()
    check_books(site, [work], since)


def test_a_launch_that_slurm_keeps_waiting_shows_why_and_is_placed_anew(impatient: Site) -> None:
    since = datetime.now(UTC)
    impatient.testbed.run("scontrol", "update", "partitionname=main", "state=down")
    try:
        work = impatient.work("ticking").submit()
        wait_until(lambda: _waiting(impatient, work.id) == "PartitionDown", "Slurm's reason to be shown", work.story)
        wait_until(lambda: len(work.api.attempts(work.id)) > 1, "the launch to be placed anew", work.story)
    finally:
        impatient.testbed.run("scontrol", "update", "partitionname=main", "state=up")
    work.wait_for_step(1, attempt=2)
    work.finish()
    assert work.end() == "succeeded", work.story()
    assert impatient.platform.api.job(work.id)["job"]["failures"] == 0
    check_books(impatient, [work], since)


@exhaustive
@pytest.mark.slow
def test_a_job_that_slurm_preempts_goes_on_later_and_has_failed_nobody(site: Site) -> None:
    since = datetime.now(UTC)
    site.testbed.run("sacctmgr", "-i", "add", "qos", "urgent", "priority=1000", "preempt=normal")
    site.testbed.run("sacctmgr", "-i", "modify", "account", "default", "set", "qos=normal,urgent")
    work = site.work("ticking", devices=8).submit()
    work.wait_for_step(STEPS)
    (node,) = (part["node"] for part in tries(work)[0]["placements"])
    foreign = site.foreign(node, devices=8, minutes=10, qos="urgent")
    work.wait_for_step(STEPS + 1, attempt=2)
    site.testbed.run("scancel", foreign)
    work.finish()
    assert work.end() == "succeeded", work.story()
    assert site.platform.api.job(work.id)["job"]["failures"] == 0, work.story()
    check_books(site, [work], since)


def _waiting(site: Site, job: str) -> str | None:
    attempt = site.platform.api.job(job)["attempt"]
    return attempt["waiting"] if attempt else None


def test_a_cordon_drains_the_node_for_everybody_and_is_taken_back(site: Site) -> None:
    api = site.platform.api
    node = sorted(row["node"]["name"] for row in api.call("GET", "nodes"))[0]
    told = api.call("PUT", f"nodes/{node}/cordon", json={"reason": "fan of card 3"})
    assert told["kind"] == "drained"
    assert site.testbed.states()[node].startswith("drain")
    assert site.node(node)["node"]["reason"] == "fan of card 3"
    api.call("DELETE", f"nodes/{node}/cordon")
    assert site.testbed.states()[node].startswith("idle")
    wait_until(lambda: site.node(node)["node"]["state"] == "up", "the node to be back", site.platform.log_tail)
