"""Jobs, requests, exits, loss bills and versions: what follows from their fields."""

from datetime import timedelta

import pytest

from headway.domain.attempt import Attempt, RankExit
from headway.domain.checkpoint import LossBill
from headway.domain.ids import JobId, attempt_id
from headway.domain.job import Priority
from headway.domain.lifecycle import AttemptState
from headway.domain.resources import Request
from tests.builders import NOW, a_job, placements

JOB = JobId("j-1")


def a_bill(last_step: int, resumed_step: int, first_step_after_s: float | None = None) -> LossBill:
    first = None if first_step_after_s is None else NOW + timedelta(seconds=first_step_after_s)
    return LossBill(JOB, attempt_id(JOB, 1), NOW, NOW, last_step, resumed_step, 0, first_step_at=first)


def test_priorities_are_ordered_from_urgent_to_idle() -> None:
    assert [priority.order for priority in Priority] == [0, 1, 2, 3, 4]
    assert Priority.URGENT.order < Priority.NORMAL.order < Priority.IDLE.order


def test_a_request_counts_devices_over_all_its_nodes() -> None:
    assert Request(nodes=3, devices_per_node=8).devices == 24


@pytest.mark.parametrize(
    ("types", "accepted"), [((), True), (("h200",), True), (("910b", "h200"), True), (("910b",), False)]
)
def test_a_request_accepts_the_types_it_names_or_any(types: tuple[str, ...], accepted: bool) -> None:
    assert Request(device_types=types).accepts("h200") is accepted


def test_an_attempt_counts_the_devices_of_all_its_placements() -> None:
    where = placements({"n1": (0, 1), "n2": (3,)})
    assert Attempt(attempt_id(JOB, 1), JOB, 1, "local", "h200", where, AttemptState.PLACED, NOW).devices == 3


@pytest.mark.parametrize(
    ("code", "signal", "clean"), [(0, None, True), (1, None, False), (None, 9, False), (None, None, False)]
)
def test_only_an_exit_with_0_is_clean(code: int | None, signal: int | None, clean: bool) -> None:
    assert RankExit(0, "n1", NOW, code=code, signal=signal).is_clean is clean


def test_a_loss_bill_counts_the_steps_to_do_again_and_never_fewer_than_none() -> None:
    assert a_bill(last_step=57, resumed_step=40).lost_steps == 17
    assert a_bill(last_step=30, resumed_step=40).lost_steps == 0


def test_a_loss_bill_knows_the_time_to_the_first_step_once_it_was_seen() -> None:
    assert a_bill(57, 40).kill_to_first_step_s is None
    assert a_bill(57, 40, first_step_after_s=12.5).kill_to_first_step_s == 12.5


def test_a_built_job_is_queued_and_belongs_to_its_project() -> None:
    job = a_job("j-9", devices=8, nodes=2)
    assert (job.id, job.state, job.spec.project, job.spec.request.devices) == ("j-9", "queued", "vision", 16)
