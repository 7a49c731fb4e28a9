"""Stories of jobs that save as often as they are advised."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.cadence_events import CadenceAdvised
from headway.store import attempts, checkpoints
from tests.scenarios.work import Work
from tests.scenarios.world import World


def saved(train: Work, step: int, *, seconds: float, blocked: float | None) -> None:
    folder = train.world.platform.checkpoints / train.id
    path = str(folder / f"step-{step:08d}")
    told = {"step": step, "path": path, "bytes": 10, "seconds": seconds}
    train.agents[0].tells(0, "checkpoint-saved", **told, **({} if blocked is None else {"blocked": blocked}))


def measured(train: Work, step: int, storage: str, size: int, seconds: float) -> str:
    path = str(train.world.platform.checkpoints / train.id / f"step-{step:08d}")
    told = {"step": step, "path": path, "bytes": size, "seconds": seconds, "storage": storage}
    train.agents[0].tells(0, "checkpoint-saved", **told)
    return path


def advised(train: Work) -> list[CadenceAdvised]:
    return [fact for fact in train.facts("cadence-advised") if isinstance(fact, CadenceAdvised)]


def test_a_job_is_advised_by_what_its_saves_block_and_told_through_its_agents(world: World) -> None:
    train = world.submit("train", nodes=2, checkpoint={"advised": True, "longest_minutes": 14400})
    world.settle()
    (first,) = advised(train)
    env = world.machines.parts[train.attempt.id].order.env
    assert float(env["HEADWAY_CHECKPOINT_SECONDS"]) == round(first.every_s, 3)
    assert "HEADWAY_CHECKPOINT_EVERY" not in env
    train.starts()
    for step in range(10, 60, 10):
        world.later(minutes=10)
        train.reaches(step)
        saved(train, step, seconds=20.0, blocked=0.1)
    world.settle()
    newest = advised(train)[-1]
    assert newest.blocking_s == 0.1
    assert newest.before_s is not None
    assert newest.every_s < first.every_s / 5
    answer = train.agents[0].reports()
    assert answer.save_every_s == newest.every_s


def test_failures_of_the_pool_shorten_what_others_of_it_are_advised(world: World) -> None:
    watched = world.submit("train", nodes=1, checkpoint={"advised": True})
    world.settle()
    before = advised(watched)[-1].every_s
    broken = world.submit("train", nodes=1)
    world.settle()
    for step in (50, 100, 150):
        broken.starts()
        world.later(hours=1)
        broken.reaches(step)
        broken.breaks(signal=9)
        world.later(seconds=10)
    world.later(minutes=5)
    assert advised(watched)[-1].every_s < before / 2


def test_the_pools_record_is_read_once_in_five_minutes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    train = world.submit("train", checkpoint={"advised": True})
    world.settle()
    train.starts()
    world.later(minutes=5)
    reads: list[datetime] = []
    read = attempts.since

    def counted(c: Connection, moment: datetime) -> list[Attempt]:
        reads.append(world.now)
        return read(c, moment)

    monkeypatch.setattr(attempts, "since", counted)
    for _ in range(12):
        world.later_unseen(50)
        world.turn("advise")
    assert len(reads) == 2


def test_an_advice_stays_within_its_policy(world: World) -> None:
    train = world.submit("train", checkpoint={"advised": True, "shortest_minutes": 3, "longest_minutes": 5})
    world.settle()
    assert [fact.every_s for fact in advised(train)] == [300.0]


def test_an_interval_in_minutes_is_passed_on_as_it_is(world: World) -> None:
    train = world.submit("train", checkpoint={"every_minutes": 20})
    world.settle()
    assert world.machines.parts[train.attempt.id].order.env["HEADWAY_CHECKPOINT_SECONDS"] == "1200.0"
    train.starts()
    world.settle()
    assert train.agents[0].reports().save_every_s == 1200.0
    assert advised(train) == []


def test_an_interval_in_steps_is_told_once_and_never_in_time(world: World) -> None:
    train = world.submit("train")
    world.settle()
    env = world.machines.parts[train.attempt.id].order.env
    assert (env["HEADWAY_CHECKPOINT_EVERY"], env.get("HEADWAY_CHECKPOINT_SECONDS")) == ("10", None)
    train.starts()
    assert train.agents[0].reports().save_every_s is None


def test_a_server_that_starts_again_goes_on_from_what_it_advised_last(world: World) -> None:
    train = world.submit("train", checkpoint={"advised": True})
    world.settle()
    train.starts()
    saved(train, 10, seconds=1.0, blocked=1.0)
    world.settle()
    told = [fact.every_s for fact in advised(train)]
    world.restart()
    world.settle()
    assert [fact.every_s for fact in advised(train)] == told
    assert train.agents[0].reports().save_every_s == told[-1]


def test_what_resumes_gets_the_words_of_its_template(world: World) -> None:
    words = ["--resume", "{checkpoint}", "--at={checkpoint_step}"]
    train = world.submit("train", checkpoint={"resume": words})
    world.settle()
    train.starts()
    assert world.machines.parts[train.attempt.id].order.command == ("train",)
    train.reaches(20)
    path = train.saves(20)
    train.reaches(25)
    train.breaks(signal=9)
    world.later(seconds=10)
    assert world.machines.parts[train.attempt.id].order.command == ("train", "--resume", path, "--at=20")
    assert world.now - train.attempts[0].placed_at < timedelta(hours=1)


def test_saves_and_restores_are_measured_by_what_they_lie_on(world: World) -> None:
    train = world.submit("train", nodes=2)
    world.settle()
    train.starts()
    path = measured(train, 10, "lustre", 1000, 2.0)
    measured(train, 20, "lustre", 3000, 2.0)
    measured(train, 30, "nfs4", 1000, 10.0)
    for rank, seconds in ((1, 9.0), (0, 0.5)):
        train.agents[rank].tells(rank, "restored", step=10, path=path, seconds=seconds, bytes=1000, storage="lustre")
    with world.platform.database.read() as c:
        lustre, nfs = checkpoints.by_storage(c, world.now - timedelta(days=90))
        assert checkpoints.by_storage(c, world.now + timedelta(seconds=1)) == []
    assert (lustre.name, lustre.saves, lustre.write_rate, lustre.restore_rate) == ("lustre", 2, 1000.0, 2000.0)
    assert (nfs.name, nfs.saves, nfs.write_rate, nfs.restore_rate) == ("nfs4", 1, 100.0, None)
    row = next(each for each in train.checkpoints if each.step == 10)
    assert (row.storage, row.restored) == ("lustre", 0.5)
