"""The lifecycle tables: every state is reachable, every life can end, ends are final, and nothing else is legal."""

from collections.abc import Iterable
from itertools import product

import pytest

from headway.domain.errors import PlatformError
from headway.domain.lifecycle import (
    ATTEMPT_MOVES,
    JOB_MOVES,
    AttemptState,
    JobState,
    check_attempt_move,
    check_job_move,
    diagram,
)


def reachable(moves: Iterable[tuple[str, str]], start: str) -> set[str]:
    moves = list(moves)
    seen, edge = {start}, {start}
    while edge:
        edge = {after for before, after in moves if before in edge} - seen
        seen |= edge
    return seen


def test_every_state_of_a_job_can_be_reached_from_queued() -> None:
    assert reachable(JOB_MOVES, JobState.QUEUED) == set(JobState)


def test_every_state_of_an_attempt_can_be_reached_from_placed() -> None:
    assert reachable(ATTEMPT_MOVES, AttemptState.PLACED) == set(AttemptState)


@pytest.mark.parametrize("state", JobState)
def test_a_job_can_be_stopped_or_ended_from_every_state_and_leaves_no_end(state: JobState) -> None:
    ends = {after for after in reachable(JOB_MOVES, state) if JobState(after).is_terminal}
    assert ends == ({state} if state.is_terminal else {JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED} & ends)
    assert state.is_terminal or JobState.STOPPED in ends


@pytest.mark.parametrize("state", AttemptState)
def test_an_attempt_can_end_from_every_state_and_never_leaves_its_end(state: AttemptState) -> None:
    assert AttemptState.ENDED in reachable(ATTEMPT_MOVES, state)
    assert reachable(ATTEMPT_MOVES, AttemptState.ENDED) == {AttemptState.ENDED}


@pytest.mark.parametrize(("before", "after"), list(product(JobState, JobState)))
def test_only_moves_of_the_table_are_legal_for_a_job(before: JobState, after: JobState) -> None:
    if (before, after) in JOB_MOVES:
        check_job_move(before, after)
        assert JOB_MOVES[before, after]
    else:
        with pytest.raises(PlatformError, match=f"a job cannot go from {before} to {after}"):
            check_job_move(before, after)


@pytest.mark.parametrize(("before", "after"), list(product(AttemptState, AttemptState)))
def test_only_moves_of_the_table_are_legal_for_an_attempt(before: AttemptState, after: AttemptState) -> None:
    if (before, after) in ATTEMPT_MOVES:
        check_attempt_move(before, after)
        assert ATTEMPT_MOVES[before, after]
    else:
        with pytest.raises(PlatformError, match=f"a attempt cannot go from {before} to {after}"):
            check_attempt_move(before, after)


def test_no_state_follows_itself() -> None:
    assert not [move for move in (*JOB_MOVES, *ATTEMPT_MOVES) if move[0] == move[1]]


def test_devices_are_held_exactly_while_an_attempt_of_the_job_may_live() -> None:
    assert {state for state in JobState if state.holds_devices} == {
        JobState.STARTING,
        JobState.RUNNING,
        JobState.STOPPING,
    }
    assert not any(state.is_terminal and state.holds_devices for state in JobState)


def test_the_diagram_has_one_line_for_every_move() -> None:
    lines = diagram(JOB_MOVES).splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert "    queued --> starting: the plan gave it devices" in lines
    assert len(lines) == len(JOB_MOVES) + 1
