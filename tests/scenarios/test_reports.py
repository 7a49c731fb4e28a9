"""Stories of agents whose words come twice, late, or in another order: each thing said is recorded once."""

import json

from headway.domain.events import CheckpointRejected, LogsDropped
from headway.store import agents
from headway.store.agents import NodeReport
from tests.scenarios.work import Work
from tests.scenarios.world import World


def test_the_same_report_twice_changes_nothing(either_world: World) -> None:
    world = either_world
    job = _running(world)
    agent = job.agents[0]
    line = json.dumps({"kind": "progress", "t": world.now.timestamp(), "step": 4, "metrics": {"loss": 0.5}}) + "\n"
    agent.exits_with(0, code=0)
    said = {
        "ranks": [{"rank": 0, "pid": 200, "started_at": world.now.timestamp()}],
        "events": {0: {"offset": 0, "data": line}},
        "readings": [{"t": world.now.timestamp(), "name": "cpu_percent", "value": 93.5}],
        "dropped": [_drop(world, at=100)],
        "exits": agent.exits,
    }
    first = agent.reports(**said)
    before = _everything(world, job)
    assert agent.sends(agent.last) == first
    assert _everything(world, job) == before
    agent.ends()
    world.settle()
    before = _everything(world, job)
    for _ in range(3):
        assert agent.sends(agent.last).over
        world.settle()
    assert _everything(world, job) == before
    assert job.state == "succeeded"


def test_reports_out_of_order(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    agent.tells(0, "progress", step=1)
    early = dict(agent.last)
    agent.tells(0, "progress", step=2)
    late = dict(agent.last)
    agent.all_exit(0)
    answer = agent.sends(early)
    assert (job.job.step, answer.events) == (2, {0: len(agent.events[0])})
    agent.sends(late)
    assert (job.job.step, job.state) == (2, "succeeded")
    assert _part(world, job).phase == "ended"


def test_events_after_a_gap_are_asked_for_again(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    line = json.dumps({"kind": "progress", "t": world.now.timestamp(), "step": 9}) + "\n"
    answer = agent.reports(events={0: {"offset": 500, "data": line}})
    assert (answer.events, job.job.step) == ({0: 0}, None)
    half = agent.reports(events={0: {"offset": 0, "data": line[:10]}})
    assert (half.events, job.job.step) == ({0: 0}, None)
    whole = agent.reports(events={0: {"offset": 0, "data": line}})
    assert (whole.events, job.job.step) == ({0: len(line)}, 9)


def test_an_agent_s_word_before_the_launch_is_recorded(world: World) -> None:
    job = world.submit()
    world.turn("schedule")
    job.starts()
    assert (job.state, job.attempt.state) == ("running", "running")
    world.settle()
    assert (job.state, job.attempt.state) == ("running", "running")
    assert len(job.facts("attempt-launched")) == len(job.facts("attempt-started")) == 1


def test_logs_dropped_once(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    for drops in ([100], [7000]):
        agent.reports(dropped=[_drop(world, at) for at in drops])
        agent.sends(agent.last)  # its answer was lost
    dropped = [fact for fact in job.facts("logs-dropped") if isinstance(fact, LogsDropped)]
    assert [(fact.offset, fact.bytes, fact.why) for fact in dropped] == [(100, 5000, "rate"), (7000, 5000, "rate")]


def test_an_agent_started_again_is_not_taken_for_a_repetition_of_the_one_before(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    agent.reports(dropped=[_drop(world, at=100)])
    old = dict(agent.last)
    agent.restarts()
    agent.reports(facts={"kernel": "6.1"})
    agent.reports(dropped=[_drop(world, at=7000)])
    assert agent.seq == old["seq"]
    agent.sends(agent.last)
    assert [fact.offset for fact in job.facts("logs-dropped") if isinstance(fact, LogsDropped)] == [100, 7000]


def test_a_repetition_that_comes_after_later_reports_is_one_still(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    agent.reports(dropped=[_drop(world, at=100)])
    early = dict(agent.last)
    agent.reports()
    for _ in range(2):
        agent.sends(early)
    assert len(job.facts("logs-dropped")) == 1


def test_late_words_of_an_old_attempt_do_not_move_the_job_back(world: World) -> None:
    job = _running(world)
    old = job.agents[0]
    job.loses_its_agents()
    world.settle()
    world.later(seconds=10)
    job.starts().reaches(60)
    old.tells(0, "progress", step=45)
    assert [attempt.step for attempt in job.attempts] == [45, 60]
    assert (job.job.step, job.state) == (60, "running")
    old.exits_with(0, code=None)
    old.ends("agent-lost")
    world.settle()
    assert job.state == "running"
    assert len(job.facts("agent-lost")) == len(job.facts("attempt-ended")) == 1


def test_what_a_program_writes_wrongly_is_passed_over(either_world: World) -> None:
    world = either_world
    job = _running(world)
    agent = job.agents[0]
    t = world.now.timestamp()
    wrong = [
        "not json",
        "[]",
        json.dumps({"kind": "progress", "step": 1}),
        json.dumps({"kind": "progress", "t": 1e300, "step": 1}),
        json.dumps({"kind": "progress", "t": -1e18, "step": 1}),
        json.dumps({"kind": "progress", "t": "2026-11-02T08:00:00", "step": 1}),
        json.dumps({"kind": "progress", "t": t, "step": 10**30}),
        json.dumps({"kind": "progress", "t": t, "step": -1}),
        json.dumps({"kind": "checkpoint-saved", "t": t, "step": 1, "path": "/x", "bytes": 10**30}),
        json.dumps({"kind": "checkpoint-saved", "t": t, "step": 1, "path": "/a\0b"}),
        json.dumps({"kind": "checkpoint-saved", "t": t, "step": 1, "path": "/x", "seconds": float("nan")}),
        json.dumps({"kind": "progress", "t": -62135596800, "step": 1}),
        json.dumps({"kind": "progress", "t": "0001-01-01T00:00:00Z", "step": 1}),
        json.dumps({"kind": "phase", "t": t, "name": "a\0b"}),
        json.dumps({"kind": "no-such-kind", "t": t}),
    ]
    good = json.dumps({"kind": "progress", "t": t, "step": 3, "metrics": {"loss": float("nan")}})
    data = "\n".join([*wrong, good]) + "\n"
    answer = agent.reports(events={0: {"offset": 0, "data": data}})
    assert (answer.events, job.job.step) == ({0: len(data)}, 3)
    world.later(seconds=1)
    job.finishes()
    world.settle()
    assert job.state == "succeeded"


def test_a_line_without_an_end_holds_up_no_later_ones(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    endless = "x" * (64 << 10)
    assert agent.reports(events={0: {"offset": 0, "data": endless}}).events == {0: len(endless)}
    line = json.dumps({"kind": "progress", "t": world.now.timestamp(), "step": 3}) + "\n"
    agent.reports(events={0: {"offset": len(endless), "data": "the rest of it\n" + line}})
    assert job.job.step == 3


def test_a_checkpoint_anywhere_but_in_the_job_s_own_folder_is_refused(world: World) -> None:
    job = _running(world)
    folder = world.platform.checkpoints / job.id
    other = world.platform.checkpoints / "j-other"
    wrong = [
        "/etc",
        "step-1",
        str(folder),
        f"{folder}/..",
        f"{folder}/../j-other",
        f"{folder}/a/step-1",
        f"{other}/step-1",
    ]
    for path in wrong:
        job.agents[0].tells(0, "checkpoint-saved", step=1, path=path)
    job.agents[0].tells(0, "checkpoint-saved", step=2, path=f"{folder}//step-00000002/")
    assert [saved.path for saved in job.checkpoints] == [f"{folder}/step-00000002"]
    refused = [fact for fact in job.facts("checkpoint-rejected") if isinstance(fact, CheckpointRejected)]
    assert [(fact.path, fact.reason) for fact in refused] == [(path, "outside") for path in wrong]
    assert len(job.facts("checkpoint-saved")) == 1


def test_an_odd_error_file_does_not_hide_the_exit(either_world: World) -> None:
    world = either_world
    job = _running(world)
    odd = {"message": "a\0b", "callstack": ["no", "text"], "timestamp": 1e300}
    job.breaks(code=3, error=odd)
    assert job.state == "recovering"
    world.settle()
    assert job.attempts[0].outcome == "failed"


def _running(world: World) -> Work:
    job = world.submit()
    world.settle()
    return job.starts()


def _drop(world: World, at: int) -> dict[str, object]:
    return {"rank": 0, "from": at, "bytes": 5000, "lines": 50, "t": world.now.timestamp(), "why": "rate"}


def _part(world: World, job: Work) -> NodeReport:
    with world.platform.database.read() as c:
        return agents.of_attempt(c, job.attempt.id)[0]


def _everything(world: World, job: Work) -> list[object]:
    readings = world.platform.readings
    series = [readings.series(job.attempt.id, name) for name in readings.names(job.attempt.id)]
    return [world.facts(), job.job, job.attempts, series, world.statement()]
