"""Stories of nodes: suspected, closed, tested again, opened; and what failed together."""

import asyncio
import json
from datetime import timedelta

import pytest

from headway.diagnosis.cases.suspicion import Level
from headway.domain.errors import PlatformError
from headway.domain.node_events import NodeFaultSeen, RetestEnded
from headway.server.api.showing import show_job
from headway.server.operations.evidence.beside import beside, engine_words
from headway.server.operations.nodes import cases, cordoning, incidents, retesting
from headway.server.operations.nodes.node_reports import key_of
from headway.store import facts, nodes, retests
from headway.store.nodes import Cordon
from headway.store.readings.port import Reading
from headway.store.retests import Retest
from tests.scenarios.work import Work
from tests.scenarios.world import World

DAYS = timedelta(days=90)


def _request(world: World, *names: str, **wish: object) -> tuple[Retest, Work]:
    asked = retesting.Wish(names, "nlp", **wish)  # type: ignore[arg-type]
    with world.platform.database.write() as c:
        made = retesting.request(world.platform, c, world.change, asked)
    world.settle()
    return made, Work(world, made.job)


def _runs(world: World, job: Work, speeds: dict[str, float], wrong: tuple[str, ...] = ()) -> None:
    job.starts()
    job.agents[0].prints(0, f"headway-retest {json.dumps({'speeds': speeds, 'wrong': wrong})}\n")
    job.finishes()
    world.settle()


def _outcome(world: World) -> str:
    ended = world.facts("retest-ended")[-1]
    assert isinstance(ended, RetestEnded)
    return ended.outcome


def _state(world: World, name: str) -> str:
    with world.platform.database.read() as c:
        return cordoning.find(nodes.all(c), name).state


def test_a_closed_node_is_tested_once_it_is_idle_and_opens_by_passing(either_world: World) -> None:
    world = either_world
    running = world.submit("train", nodes=2)
    world.settle()
    running.starts()
    _, job = _request(world, "n1", as_reference=True)
    assert (job.state, _state(world, "n1")) == ("queued", "cordoned")
    world.later(hours=1)
    assert job.state == "queued"
    running.finishes()
    world.settle()
    assert [placement.node for placement in job.attempt.placements] == ["n1"]
    assert len(job.attempt.placements[0].devices) == 8
    _runs(world, job, {"matmul_gflop_s": 100.0})
    world.later(seconds=10)
    assert (_outcome(world), _state(world, "n1")) == ("passed", "up")
    assert job.state == "succeeded"
    assert world.statement().device_seconds > 0


def test_a_retest_that_waits_says_for_whom(world: World) -> None:
    running = world.submit("train", nodes=2)
    world.settle()
    running.starts()
    _, job = _request(world, "n1")
    with world.platform.database.read() as c:
        english, chinese = (show_job(world.platform, c, job.job, {}, language).waits for language in ("en", "zh"))
    assert english is not None
    assert chinese is not None
    assert (english.reason, english.ahead, english.numbers["nodes"]) == ("retest", [running.id], "n1")
    assert running.id in english.sentence
    assert english.sentence != chinese.sentence


def test_a_slow_node_stays_closed_and_no_one_opens_it_by_mistake(world: World) -> None:
    _, first = _request(world, "n1", as_reference=True)
    _runs(world, first, {"matmul_gflop_s": 100.0})
    _, second = _request(world, "n2")
    _runs(world, second, {"matmul_gflop_s": 50.0})
    world.later(seconds=10)
    assert (_outcome(world), _state(world, "n2")) == ("failed", "cordoned")
    with world.platform.database.read() as c, pytest.raises(PlatformError) as refused:
        cordoning.check_may_open(c, "n2")
    assert refused.value.code == "retest-needed"
    elsewhere = world.submit("train", nodes=2)
    world.settle()
    assert elsewhere.state == "queued"


def test_a_wrong_result_fails_and_never_becomes_the_reference(world: World) -> None:
    _, job = _request(world, "n1", as_reference=True)
    _runs(world, job, {"matmul_gflop_s": 500.0}, wrong=("matmul",))
    assert _outcome(world) == "failed"
    with world.platform.database.read() as c:
        assert retests.references(c) == []


def test_without_a_reference_a_retest_proves_nothing_and_one_that_breaks_fails(world: World) -> None:
    _, first = _request(world, "n1")
    _runs(world, first, {"matmul_gflop_s": 100.0})
    assert _outcome(world) == "inconclusive"
    _, second = _request(world, "n1")
    second.starts()
    second.breaks(code=1)
    world.later(minutes=1)
    assert _outcome(world) == "failed"


def test_a_retest_that_was_stopped_says_nothing_of_its_node(world: World) -> None:
    _, job = _request(world, "n1")
    world.settle()
    job.starts()
    job.stop()
    job.obeys()
    world.later(minutes=1)
    assert (job.state, _outcome(world), _state(world, "n1")) == ("stopped", "inconclusive", "cordoned")


def test_only_one_retest_at_a_time_on_a_node_and_only_of_one_pool(world: World) -> None:
    _request(world, "n1")
    for names, code in (
        (("n1",), "retest-open"),
        (("n2", "n2"), "invalid-field"),
        (("n9",), "not-found"),
    ):
        with pytest.raises(PlatformError) as refused:
            _request(world, *names)
        assert refused.value.code == code
    with pytest.raises(PlatformError) as refused:
        _request(world, "n2", devices_per_node=9)
    assert refused.value.params["field"] == "devices_per_node"
    with world.platform.database.read() as c:
        assert set(nodes.cordons(c)) == {"n1"}


def test_a_cordon_with_an_end_is_over_by_itself(world: World) -> None:
    until = world.now + timedelta(hours=1)
    cordoning.close(world.platform, "n1", Cordon("fan", until), "olga")
    world.settle()
    assert _state(world, "n1") == "cordoned"
    world.later(minutes=59)
    assert _state(world, "n1") == "cordoned"
    world.later(minutes=2)
    assert _state(world, "n1") == "up"
    with pytest.raises(PlatformError) as refused:
        cordoning.close(world.platform, "n1", Cordon("fan", world.now), "olga")
    assert refused.value.params["field"] == "until"


def test_a_node_that_loses_job_after_job_becomes_suspect(world: World) -> None:
    cordoning.close(world.platform, "n2", Cordon("fan"), "olga")
    for _ in range(3):
        train = world.submit("train", nodes=1)
        world.settle()
        train.starts()
        world.later(hours=1)
        train.loses_its_agents()
        world.settle()
        world.later(seconds=10)
        train.stop()
        train.obeys()
        world.later(hours=2)
    with world.platform.database.read() as c:
        files = cases.case_files(c, world.now, world.now - DAYS)
        told = incidents.recent(world.platform, c, world.now - DAYS, None)
    worst, other = files
    blamed = {fault.blame.node for fault in worst.faults}
    assert blamed == {worst.node.name}
    assert (worst.record.faults >= 3, worst.suspicion.level) == (True, Level.SUSPECT)
    assert other.suspicion.score < worst.suspicion.score
    assert worst.history
    assert {incident.name for incident in told} == {worst.node.name}


def test_jobs_that_met_one_dead_network_disk_are_one_incident_and_a_bug_beside_them_is_none_of_it(
    world: World,
) -> None:
    disk = {"path": "/data/x", "mount": "/data", "kind": "nfs4", "source": "store:/vol/data", "use": "named"}
    stale = 'Traceback (most recent call last):\n  File "/job/t.py", line 3, in f\n    x()\n{}\n'
    words = ["OSError: [Errno 116] Stale file handle: '/data/x/7'"] * 2 + ["KeyError: 'lr'"]
    broken = [world.submit(f"job-{number}", devices=devices) for number, devices in enumerate((5, 5, 3))]
    world.settle()
    for work, said in zip(broken, words, strict=True):
        work.starts()
        work.agents[0].prints(0, stale.format(said))
        scene = {"look": "exit", "kind": "exit", "at": 1.0, "ranks": [], "disks": [{**disk, "answers": True}]}
        work.agents[0].reports(scenes=[scene])
        work.agents[0].all_exit(1)
    world.settle()
    with world.platform.database.read() as c:
        told = incidents.recent(world.platform, c, world.now - DAYS, None)
    by_kind = {incident.kind: incident for incident in told}
    assert set(by_kind["mount"].jobs) == {work.id for work in broken[:2]}
    assert (by_kind["mount"].name, len(by_kind["mount"].nodes)) == ("store:/vol/data", 2)
    assert broken[2].id not in by_kind["mount"].jobs


def test_what_stood_beside_an_attempt_is_shown_and_other_projects_are_not_named(world: World) -> None:
    mine = world.submit("mine", devices=4)
    world.settle()
    node = mine.attempt.placements[0].node
    other = world.submit("other", devices=4, project="vision")
    world.settle()
    mine.starts()
    said = NodeFaultSeen(
        at=world.now,
        by="node",
        node=node,
        fault="link_down",
        code=None,
        device=None,
        place="eth0",
        pid=None,
        process=None,
        count=1,
        text="eth0: Link is Down",
    )
    errors = Reading(key_of(node), node, None, None, "nic_receive_errors:eth0", world.now, 7.0)
    world.platform.readings.add([errors])
    with world.platform.database.write() as c:
        facts.append(c, said)
    world.later(minutes=1)
    with world.platform.database.read() as c:
        everything = beside(world.platform, c, mine.attempt, None)
        own = beside(world.platform, c, mine.attempt, frozenset({"nlp"}))
    assert [neighbour.job for neighbour in everything.neighbours] == [other.id]
    assert [neighbour.job for neighbour in own.neighbours] == [None]
    assert [(word.node, word.text) for word in own.words] == [(node, "eth0: Link is Down")]
    assert [(m.name, m.maximum) for m in own.measures] == [("nic_receive_errors:eth0", 7.0)]


def test_whoever_uses_the_same_network_disk_elsewhere_is_a_neighbour_too(world: World) -> None:
    mine, other, third = (world.submit(f"job-{devices}", devices=devices) for devices in (8, 5, 3))
    world.settle()
    for work, mounts in (
        (mine, ["nfs4 store:/a", "ext4 /dev/vda"]),
        (other, ["nfs4 store:/a"]),
        (third, ["ext4 /dev/vda"]),
    ):
        work.starts()
        work.agents[0].reports(facts={"kernel": "6.1", "mounts": mounts})
    with world.platform.database.read() as c:
        found = beside(world.platform, c, mine.attempt, None).neighbours
    assert [(one.job, one.mount) for one in found] == [(other.id, "store:/a")]
    assert found[0].node != mine.attempt.placements[0].node


def test_what_the_kernel_said_as_a_rank_broke_is_shown_once(world: World) -> None:
    mine = world.submit("mine")
    world.settle()
    mine.starts()
    node, at = mine.attempt.placements[0].node, world.now.timestamp()
    lines = [{"t": at, "text": "nfs: server store not responding"}, {"t": at - 7200, "text": "long ago"}]
    scene = {"look": "exit", "kind": "exit", "at": at, "ranks": [], "kernel": [*lines, lines[0]]}
    mine.agents[0].reports(scenes=[scene])
    with world.platform.database.read() as c:
        words = beside(world.platform, c, mine.attempt, None).words
    assert [(word.node, word.kind, word.text) for word in words] == [(node, "kernel", lines[0]["text"])]


def test_the_engines_own_log_is_shown_by_node(world: World) -> None:
    mine = world.submit("mine", nodes=2)
    world.settle()
    mine.starts()
    words = asyncio.run(engine_words(world.platform, mine.attempt))
    assert [word.node for word in words] == [placement.node for placement in mine.attempt.placements]
    assert all(mine.attempt.id in word.text for word in words)
