"""Whether a job goes on after its attempt ended badly."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.advice import Course, Decision, History, Reason, recover
from headway.diagnosis.cause import Cause, Retry, usual_owner, usual_retry
from headway.diagnosis.examine import ADVICE, is_retry
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.ids import AttemptId


def a_verdict(fault, *, drill=False, retry=None, node="n1"):
    owner, usual = ADVICE[fault]
    retry = is_retry(usual) if retry is None else retry
    return Verdict(AttemptId("j-2.1"), fault, owner, retry, 0.9, node=node, drill=drill, advice=usual)


def of_cause(cause, confidence=0.9):
    advice = usual_retry(cause)
    return Verdict(
        AttemptId("j-2.1"),
        Fault.MACHINE_FAULT,
        usual_owner(cause),
        is_retry(advice),
        confidence,
        node="n1",
        cause=cause,
        advice=advice,
    )


def decide(verdict, failures=0, retries=3, *, progressed=False, repeats=0, released=False):
    return recover(verdict, retries, History(failures, progressed, repeats, released))


@pytest.mark.parametrize(
    "fault", [Fault.KILLED, Fault.AGENT_LOST, Fault.LAUNCH_FAILED, Fault.CRASHED, Fault.PEER_CLOSED]
)
def test_what_the_code_did_not_do_is_tried_again(fault):
    assert decide(a_verdict(fault)) == Decision(Course.RESTART, Reason.WORTH_RETRYING, 1)


@pytest.mark.parametrize("fault", [Fault.CODE_ERROR, Fault.DEVICE_OUT_OF_MEMORY, Fault.HOST_OUT_OF_MEMORY])
@pytest.mark.parametrize("progressed", [True, False])
def test_what_would_fail_again_is_not(fault, progressed):
    assert not decide(a_verdict(fault), progressed=progressed).resume


def test_three_retries_without_progress_end_it():
    failures, resumed = 0, 0
    while (decision := decide(a_verdict(Fault.KILLED), failures)).resume:
        failures, resumed = decision.failures, resumed + 1
    assert (resumed, decision.reason) == (3, Reason.NO_PROGRESS)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 5))
def test_a_job_ends_only_after_more_failures_in_a_row_than_it_may_retry(progress, retries):
    failures = in_a_row = 0
    for progressed in progress:
        decision = decide(a_verdict(Fault.KILLED), failures, retries, progressed=progressed)
        in_a_row = 1 if progressed else in_a_row + 1
        assert decision.resume == (in_a_row <= retries)
        failures = decision.failures


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (a_verdict(Fault.KILLED, drill=True), Reason.DRILL),
        (a_verdict(Fault.STOPPED, retry=True), Reason.PREEMPTED),
    ],
)
def test_drills_and_preemptions_use_up_no_retries(verdict, reason):
    assert decide(verdict, 3) == Decision(Course.RESTART, reason, 3)


@pytest.mark.parametrize(("fault", "reason"), [(Fault.NONE, Reason.SUCCEEDED), (Fault.STOPPED, Reason.STOPPED)])
def test_what_ended_as_wished_is_not_resumed(fault, reason):
    assert decide(a_verdict(fault), progressed=True) == Decision(Course.STOP, reason, 0)


def test_a_node_is_avoided_from_the_second_failure_in_a_row_on():
    first = decide(a_verdict(Fault.AGENT_LOST))
    second = decide(a_verdict(Fault.AGENT_LOST), first.failures)
    assert (first.exclude, second.exclude) == ((), ("n1",))
    assert decide(a_verdict(Fault.CRASHED), 1).exclude == ()
    assert ADVICE[Fault.CRASHED][0] is Owner.RESEARCHER


@pytest.mark.parametrize("fault", [Fault.CRASHED, Fault.UNKNOWN])
def test_a_fault_that_comes_back_at_the_same_step_is_the_researchers(fault):
    assert decide(a_verdict(fault), retries=9, progressed=True, repeats=1).resume
    assert decide(a_verdict(fault), retries=9, progressed=True, repeats=2) == Decision(Course.STOP, Reason.SAME_STEP, 1)


def test_a_machine_that_goes_down_again_at_the_same_step_is_still_a_machine():
    assert decide(a_verdict(Fault.NODE_DOWN), retries=9, progressed=True, repeats=5).resume


def test_a_cause_that_a_restart_would_meet_again_keeps_away_from_its_node_at_once():
    broken = replace(a_verdict(Fault.UNKNOWN), cause="GPU_ECC", advice=None)
    assert decide(broken) == Decision(Course.EXCLUDE, Reason.WORTH_RETRYING, 1, ("n1",))
    assert decide(replace(broken, cause="NATIVE_CRASH")).exclude == ()


def test_what_only_an_operator_can_put_right_holds_the_job_and_uses_up_no_try():
    held = decide(of_cause(Cause.DISK_FULL))
    assert held == Decision(Course.HOLD, Reason.AWAITS_FIX, 0)
    assert not held.resume
    assert decide(of_cause(Cause.DISK_FULL), progressed=True, failures=2).course is Course.HOLD


def test_a_held_job_that_was_let_go_resumes_where_it_was():
    assert decide(of_cause(Cause.DISK_FULL), 1, released=True) == Decision(Course.RESTART, Reason.WORTH_RETRYING, 2)


def test_what_may_pass_by_itself_is_tried_once_before_anybody_is_waited_for():
    assert decide(of_cause(Cause.COMM_BOOTSTRAP)).course is Course.RESTART
    assert decide(of_cause(Cause.COMM_BOOTSTRAP), 1).course is Course.HOLD


def test_nobody_is_waited_for_on_a_weak_suspicion():
    assert decide(of_cause(Cause.DISK_FULL, confidence=0.4)).course is Course.RESTART


def test_a_job_that_may_not_be_tried_again_is_not_held_either():
    assert decide(of_cause(Cause.DISK_FULL), retries=0).course is Course.STOP


@given(st.sampled_from(Cause), st.integers(0, 5), st.booleans(), st.booleans())
def test_a_job_is_held_only_where_operators_must_act_first(cause, failures, progressed, released):
    decision = decide(of_cause(cause), failures, progressed=progressed, released=released)
    if decision.course is Course.HOLD:
        assert usual_retry(cause) is Retry.RESTART_AFTER_OPS_FIX
        assert not released
    assert bool(decision.exclude) == (decision.course is Course.EXCLUDE)
