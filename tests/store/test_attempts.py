"""Attempts, and what their agents told of them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from headway.domain.attempt import Outcome, RankExit
from headway.domain.drill import Drill, Kill
from headway.domain.errors import PlatformError
from headway.domain.lifecycle import ATTEMPT_MOVES, AttemptState
from headway.store import agents, attempts, drills, jobs, world
from headway.store.agents import NodeReport, RankStart
from headway.store.attempts import StopRequest
from tests.store.rows import ATTEMPT, JOB, NOW, a_job, an_attempt, later, with_attempt, with_job


def test_an_attempt_comes_back_as_it_was(c: Connection) -> None:
    with_job(c)
    whole = an_attempt(
        state=AttemptState.ENDED,
        started_at=later(1),
        ended_at=later(2),
        outcome=Outcome.LOST,
        resume_from="/ckpt/step-00000040",
        resume_step=40,
        step=50,
        stop_reason="drill",
    )
    attempts.insert(c, whole, "digest")
    assert attempts.get(c, ATTEMPT) == whole
    assert attempts.get(c, an_attempt(number=2).id) is None


def test_attempts_are_listed_by_job_and_while_they_live(c: Connection) -> None:
    with_attempt(c)
    jobs.insert(c, a_job("j-bbbbbbbb"))
    second, other = an_attempt(number=2, placed_at=later(9)), an_attempt("j-bbbbbbbb", placed_at=later(5))
    attempts.insert(c, second, "digest-2")
    attempts.insert(c, other, "digest-3")
    attempts.move(c, ATTEMPT, AttemptState.ENDED, at=later(1), outcome=Outcome.FAILED)
    assert [each.number for each in attempts.of_job(c, JOB)] == [1, 2]
    assert attempts.live(c) == [other, second]


def test_a_token_opens_its_own_attempt_alone(c: Connection) -> None:
    with_attempt(c)
    attempts.insert(c, an_attempt(number=2), "digest-2")
    assert attempts.by_token(c, "digest-1") == an_attempt()
    assert attempts.by_token(c, "digest-2") == an_attempt(number=2)
    assert attempts.by_token(c, "digest") is None
    assert attempts.by_token(c, "") is None


@pytest.mark.parametrize(("before", "after"), [(b, a) for b in AttemptState for a in AttemptState])
def test_a_move_happens_exactly_when_the_lifecycle_has_it(
    c: Connection, before: AttemptState, after: AttemptState
) -> None:
    with_job(c)
    attempt = an_attempt(state=before)
    attempts.insert(c, attempt, "digest")
    if before is after:
        assert attempts.move(c, ATTEMPT, after, at=later(1)) == attempt
    elif (before, after) in ATTEMPT_MOVES:
        moved = attempts.move(c, ATTEMPT, after, at=later(1), stop_reason="user")
        assert moved == attempts.get(c, ATTEMPT)
        assert (moved.state, moved.stop_reason) == (after, "user")
        assert moved.started_at == (later(1) if after is AttemptState.RUNNING else None)
        assert moved.ended_at == (later(1) if after is AttemptState.ENDED else None)
        return
    else:
        with pytest.raises(PlatformError, match="illegal-move"):
            attempts.move(c, ATTEMPT, after, at=later(1))
    assert attempts.get(c, ATTEMPT) == attempt


def test_the_end_of_an_attempt_keeps_its_start_and_changes_the_world(c: Connection) -> None:
    with_attempt(c)
    attempts.move(c, ATTEMPT, AttemptState.RUNNING, at=later(1))
    version = world.version(c)
    attempts.move(c, ATTEMPT, AttemptState.STOPPING, at=later(2), stop_reason="gang")
    assert world.version(c) == version
    ended = attempts.move(c, ATTEMPT, AttemptState.ENDED, at=later(3), outcome=Outcome.FAILED)
    assert world.version(c) > version
    assert (ended.started_at, ended.ended_at, ended.outcome, ended.stop_reason) == (
        later(1),
        later(3),
        Outcome.FAILED,
        "gang",
    )


def test_resume_progress_and_handle_are_noted(c: Connection) -> None:
    with_attempt(c)
    assert attempts.handle(c, ATTEMPT) is None
    attempts.set_resume(c, ATTEMPT, "/ckpt/step-00000040", 40)
    attempts.set_progress(c, ATTEMPT, 55, later(7))
    attempts.set_handle(c, ATTEMPT, {"nodes": ["n1"], "端口": 40123})
    assert attempts.get(c, ATTEMPT) == an_attempt(resume_from="/ckpt/step-00000040", resume_step=40, step=55)
    assert attempts.handle(c, ATTEMPT) == {"nodes": ["n1"], "端口": 40123}


def test_the_first_request_to_stop_stands(c: Connection) -> None:
    with_attempt(c)
    assert attempts.stop_request(c, ATTEMPT) is None
    attempts.request_stop(c, ATTEMPT, "user", timedelta(seconds=2.5), later(1))
    attempts.request_stop(c, ATTEMPT, "preempted", timedelta(seconds=9), later(2))
    assert attempts.stop_request(c, ATTEMPT) == StopRequest("user", timedelta(seconds=2.5), later(1))


def test_a_nodes_report_replaces_the_last_but_keeps_what_is_told_once(c: Connection) -> None:
    with_attempt(c)
    first = NodeReport(ATTEMPT, "n1", "starting", 1, NOW, NOW, facts={"kernel": "6.1", "torch": None})
    ended = NodeReport(ATTEMPT, "n1", "ended", 2, later(1), later(1), later(1), "exited", "code\x00 1")
    agents.upsert(c, first)
    agents.upsert(c, NodeReport(ATTEMPT, "n0", "running", 1, NOW, NOW))
    agents.upsert(c, ended)
    agents.upsert(c, replace(ended, seq=3, last_at=later(2), ended_at=None, ended_reason=None, detail=None))
    node0, node1 = agents.of_attempt(c, ATTEMPT)
    assert node0.node == "n0"
    assert node1 == replace(ended, seq=3, first_at=NOW, last_at=later(2), detail="code� 1", facts=first.facts)


def test_a_ranks_exit_is_recorded_once(c: Connection) -> None:
    with_attempt(c)
    killed = RankExit(1, "n2", NOW, signal=9, signal_name="SIGKILL", error_message="\x00", error_at=later(1))
    assert agents.record_exit(c, ATTEMPT, killed)
    assert not agents.record_exit(c, ATTEMPT, RankExit(1, "n2", later(1), code=0))
    assert agents.record_exit(c, ATTEMPT, RankExit(0, "n1", later(1), code=0))
    assert agents.exits(c, ATTEMPT) == [RankExit(0, "n1", later(1), code=0), killed]


def test_ranks_and_event_offsets_are_kept_by_attempt_and_rank(c: Connection) -> None:
    with_attempt(c)
    agents.record_ranks(c, ATTEMPT, "n1", [])
    agents.record_ranks(c, ATTEMPT, "n2", [(1, 20, NOW)])
    agents.record_ranks(c, ATTEMPT, "n1", [(0, 10, NOW)])
    agents.record_ranks(c, ATTEMPT, "n1", [(0, 11, later(1))])
    assert agents.ranks(c, ATTEMPT) == [RankStart(0, "n1", 11, later(1)), RankStart(1, "n2", 20, NOW)]
    assert agents.event_offset(c, ATTEMPT, 0) == 0
    agents.set_event_offset(c, ATTEMPT, 0, 100)
    agents.set_event_offset(c, ATTEMPT, 0, 2**40)
    assert agents.event_offset(c, ATTEMPT, 0) == 2**40
    assert agents.event_offset(c, ATTEMPT, 1) == 0


def test_a_drill_is_pending_until_it_is_done(c: Connection) -> None:
    with_attempt(c)
    first = Drill("d-1", JOB, 1, NOW, "ann", ATTEMPT)
    drills.order(c, first)
    drills.order(c, Drill("d-2", JOB, 0, later(1), "ann", ATTEMPT))
    assert [each.id for each in drills.pending(c, ATTEMPT, None)] == ["d-1", "d-2"]
    drills.done(c, "d-1", later(2))
    drills.done(c, "d-1", later(3))
    assert [each.id for each in drills.pending(c, ATTEMPT, None)] == ["d-2"]
    assert drills.of_job(c, JOB)[0] == replace(first, done_at=later(2))


def test_a_drill_waits_for_its_step_and_an_agent_is_told_of_its_own_death_once(c: Connection) -> None:
    with_attempt(c)
    drills.order(c, Drill("d-1", JOB, 1, NOW, "ann", ATTEMPT, Kill.AGENT, at_step=20))
    assert drills.pending(c, ATTEMPT, 19) == []
    assert [each.id for each in drills.pending(c, ATTEMPT, 20)] == ["d-1"]
    assert drills.struck(c, ATTEMPT, JOB) == []
    drills.sent(c, "d-1", later(1))
    assert drills.pending(c, ATTEMPT, 21) == []
    assert [each.id for each in drills.struck(c, ATTEMPT, JOB)] == ["d-1"]
