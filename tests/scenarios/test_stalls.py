"""Stories of jobs that hang: found by their own rhythm, looked at, explained, stopped with their evidence, resumed."""

from typing import Any

from headway.diagnosis.cause import Cause
from headway.diagnosis.verdict import Fault, Owner
from headway.domain.errors import Language, retold
from headway.domain.stall_events import Moving, RankSlow, Stalled, StallExplained
from headway.server.api.showing import show_job
from headway.server.api.views import StallView
from tests.scenarios.agents import Agent
from tests.scenarios.work import Work
from tests.scenarios.world import World

WAITS = """Thread 0x1 (most recent call first):
  File "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3004 in all_reduce
  File "/job/train.py", line 40 in <module>
"""
LOADS = """Thread 0x1 (most recent call first):
  File "/job/data.py", line 12 in read_record
  File "/v/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 790 in _next_data
  File "/job/train.py", line 38 in <module>
"""


def _readings(world: World, agent: Agent, cpu: float) -> list[dict[str, Any]]:
    at = world.now.timestamp()
    names = {"processes_cpu_percent": cpu, "processes_stopped": 0, "processes_held": 0, "file_bytes_per_s": 0}
    return [
        {"t": at, "name": name, "rank": rank, "value": value} for rank in agent.ranks for name, value in names.items()
    ]


def _trains(world: World, train: Work, steps: int, seconds: float = 1.0, start: int = 0) -> None:
    for step in range(start + 1, start + steps + 1):
        world.later_unseen(seconds)
        world.turn("watch")
        for agent in train.agents:
            agent.reports(readings=_readings(world, agent, 100.0))
        train.reaches(step)


def hangs(world: World, train: Work, seconds: int, shows: bool = True) -> None:
    """Its agents go on reporting idle ranks, and answer looks: rank 1 is in its data loader, the others wait."""
    for _ in range(seconds // 4):
        world.later_unseen(4)
        world.turn("watch")
        if train.attempt.state != "running":
            return
        for agent in train.agents:
            answer = agent.reports(readings=_readings(world, agent, 0.5))
            for look in answer.look if shows else []:
                agent.reports(scenes=[_scene(look.look, agent)])


def _scene(look: str, agent: Agent) -> dict[str, Any]:
    ranks = [
        {
            "rank": rank,
            "processes": [{"pid": 200 + rank, "parent": 1, "command": "python", "state": "S", "cpu_s": 1.0}],
            "stacks": [{"pid": 200 + rank, "source": "faulthandler", "text": LOADS if rank == 1 else WAITS}],
            "collectives": None,
        }
        for rank in agent.ranks
    ]
    return {"look": look, "kind": "stall", "at": 1.0, "ranks": ranks}


def begins(world: World, **more: Any) -> Work:
    train = world.submit("train", nodes=2, **more)
    world.settle()
    train.starts()
    _trains(world, train, 12)
    return train


def test_a_job_that_hangs_is_stopped_with_its_evidence_and_resumes(world: World) -> None:
    train = begins(world)
    silent_since = world.now
    hangs(world, train, 80)
    (stalled,) = train.facts("stalled")
    assert isinstance(stalled, Stalled)
    assert 54 <= (stalled.at - silent_since).total_seconds() <= 60
    assert (stalled.threshold_s, stalled.phase, stalled.agreeing) == (60.0, "train", ("process",))
    (explained,) = train.facts("stall-explained")
    assert isinstance(explained, StallExplained)
    nodes = [placement.node for placement in train.attempts[0].placements]
    assert (explained.cause, explained.rank, explained.node) == (Cause.DATA_STALL, 1, nodes[1])
    assert train.attempt.stop_reason == "stalled"

    for agent in train.agents:
        agent.obeys("stalled")
    world.settle()
    verdict = train.verdict
    assert verdict is not None
    assert (verdict.fault, verdict.cause, verdict.rank) == (Fault.STALLED, "DATA_STALL", 1)
    assert (verdict.owner, verdict.retry, verdict.followers) == (Owner.OPERATOR, True, (0,))
    assert verdict.location == "/job/data.py:12"
    assert len(train.attempts) == 2
    assert train.state == "starting"


def test_the_next_attempt_begins_with_nothing_learnt(world: World) -> None:
    train = begins(world)
    hangs(world, train, 80)
    for agent in train.agents:
        agent.obeys("stalled")
    world.settle()
    train.starts()
    hangs(world, train, 300)
    assert len(train.facts("stalled")) == 1


def test_what_moves_again_is_told(world: World) -> None:
    train = begins(world)
    hangs(world, train, 64, shows=False)
    assert train.facts("stalled")
    _trains(world, train, 3, start=12)
    (moving,) = train.facts("moving")
    assert isinstance(moving, Moving)
    assert train.state == "running"
    assert train.attempt.stop_reason is None


def test_without_an_answer_the_evidence_is_waited_for_half_a_minute_and_nobody_is_named(world: World) -> None:
    train = begins(world)
    hangs(world, train, 80, shows=False)
    assert train.attempt.stop_reason is None
    hangs(world, train, 30, shows=False)
    assert train.attempt.stop_reason == "stalled"
    for agent in train.agents:
        agent.obeys("stalled")
    world.settle()
    assert train.verdict is not None
    assert (train.verdict.rank, train.verdict.cause) == (None, "HANG_UNKNOWN")


def test_a_job_whose_policy_is_to_tell_runs_on(world: World) -> None:
    train = begins(world, template="patient")
    hangs(world, train, 300)
    assert train.state == "running"
    assert len(train.facts("stalled")) == len(train.facts("stall-explained")) == 1


def test_a_server_that_starts_again_tells_a_stall_once(world: World) -> None:
    train = begins(world, template="patient")
    hangs(world, train, 70)
    world.restart()
    hangs(world, train, 100)
    assert len(train.facts("stalled")) == 1
    _trains(world, train, 3, start=12)
    assert len(train.facts("moving")) == 1


def test_a_long_evaluation_that_is_told_is_left_in_peace(world: World) -> None:
    train = begins(world)
    train.agents[0].tells(0, "phase", name="evaluate")
    hangs(world, train, 300)
    assert train.facts("stalled") == []
    train.agents[0].tells(0, "phase", name="train")
    hangs(world, train, 70)
    assert len(train.facts("stalled")) == 1


def test_a_checkpoint_under_way_is_left_in_peace(world: World) -> None:
    train = begins(world)
    train.agents[0].tells(0, "saving", step=12)
    hangs(world, train, 300)
    assert train.facts("stalled") == []


def test_scenes_that_nobody_asked_for_or_that_make_no_sense_change_nothing(world: World) -> None:
    train = begins(world)
    agent = train.agents[0]
    agent.reports(scenes=[_scene("stall-of-mine", agent)])
    assert world.platform.scenes.of_attempt(train.attempt.id) == []
    hangs(world, train, 62, shows=False)
    (look,) = agent.reports().look
    agent.reports(scenes=[{"look": look.look, "kind": "stall", "at": 1.0, "ranks": "none"}])
    assert agent.reports().look == []
    assert train.agents[1].reports().look != []


def test_a_rank_that_comes_late_to_every_collective_is_told_once(world: World) -> None:
    train = begins(world)
    _trains(world, train, 60, start=12)
    for _ in range(3):
        for agent in train.agents:
            for look in agent.reports(readings=_readings(world, agent, 100.0)).look:
                assert look.kind == "pace"
                agent.reports(scenes=[_pace(look.look, agent)])
        _trains(world, train, 80, seconds=5.0, start=train.attempt.step or 0)
    (slow,) = train.facts("rank-slow")
    assert isinstance(slow, RankSlow)
    assert (slow.rank, slow.period_s, slow.late_s) == (1, 1.0, 0.6)


def _pace(look: str, agent: Agent) -> dict[str, Any]:
    def told(rank: int) -> dict[str, Any]:
        late = 600_000_000 if rank == 1 else 0
        newest = [
            {
                "process_group": ["0", ""],
                "collective_seq_id": seq,
                "is_p2p": False,
                "time_created_ns": seq * 10**9 + late,
            }
            for seq in range(20)
        ]
        return {"groups": {}, "newest": newest}

    ranks = [{"rank": rank, "processes": [], "stacks": [], "collectives": told(rank)} for rank in agent.ranks]
    return {"look": look, "kind": "pace", "at": 1.0, "ranks": ranks}


def test_a_job_that_stands_still_is_shown_so_with_what_it_waits_for_until_it_moves(world: World) -> None:
    def shown(language: Language = "en") -> StallView | None:
        with world.platform.database.read() as c:
            return show_job(world.platform, c, train.job, {}, language).stall

    train = begins(world, template="patient")
    assert shown() is None
    hangs(world, train, 64, shows=False)
    (told,) = train.facts("stalled")
    assert isinstance(told, Stalled)
    assert shown() == StallView(told.since, None, None, None, None, None)
    hangs(world, train, 20)
    stall = shown()
    assert stall is not None
    assert (stall.rank, stall.cause) == (1, "DATA_STALL")
    assert stall.text is not None
    assert "ank 1 on" in stall.text
    assert (in_chinese := shown("zh")) is not None
    assert stall.detail is not None
    assert in_chinese.detail == retold(stall.detail, "zh") != stall.detail
    _trains(world, train, 3, start=12)
    assert shown() is None
