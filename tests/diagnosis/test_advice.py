"""Whether a job goes on after its attempt ended badly."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.advice import Decision, Reason, recover
from headway.diagnosis.examine import ADVICE, is_retry
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.ids import AttemptId


def a_verdict(fault, *, drill=False, retry=None, node="n1"):
    owner, usual = ADVICE[fault]
    retry = is_retry(usual) if retry is None else retry
    return Verdict(AttemptId("j-2.1"), fault, owner, retry, 0.9, node=node, drill=drill)


@pytest.mark.parametrize(
    "fault", [Fault.KILLED, Fault.AGENT_LOST, Fault.LAUNCH_FAILED, Fault.CRASHED, Fault.PEER_CLOSED]
)
def test_what_the_code_did_not_do_is_tried_again(fault):
    assert recover(a_verdict(fault), 0, 3, progressed=False) == Decision(True, Reason.WORTH_RETRYING, 1)


@pytest.mark.parametrize("fault", [Fault.CODE_ERROR, Fault.DEVICE_OUT_OF_MEMORY, Fault.HOST_OUT_OF_MEMORY])
@pytest.mark.parametrize("progressed", [True, False])
def test_what_would_fail_again_is_not(fault, progressed):
    assert not recover(a_verdict(fault), 0, 3, progressed).resume


def test_three_retries_without_progress_end_it():
    failures, resumed = 0, 0
    while (decision := recover(a_verdict(Fault.KILLED), failures, 3, progressed=False)).resume:
        failures, resumed = decision.failures, resumed + 1
    assert (resumed, decision.reason) == (3, Reason.NO_PROGRESS)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 5))
def test_a_job_ends_only_after_more_failures_in_a_row_than_it_may_retry(progress, retries):
    failures = in_a_row = 0
    for progressed in progress:
        decision = recover(a_verdict(Fault.KILLED), failures, retries, progressed)
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
    assert recover(verdict, 3, 3, progressed=False) == Decision(True, reason, 3)


@pytest.mark.parametrize(("fault", "reason"), [(Fault.NONE, Reason.SUCCEEDED), (Fault.STOPPED, Reason.STOPPED)])
def test_what_ended_as_wished_is_not_resumed(fault, reason):
    assert recover(a_verdict(fault), 0, 3, progressed=True) == Decision(False, reason, 0)


def test_a_node_is_avoided_from_the_second_failure_in_a_row_on():
    first = recover(a_verdict(Fault.AGENT_LOST), 0, 3, progressed=False)
    second = recover(a_verdict(Fault.AGENT_LOST), first.failures, 3, progressed=False)
    assert (first.exclude, second.exclude) == ((), ("n1",))
    assert recover(a_verdict(Fault.CRASHED), 1, 3, progressed=False).exclude == ()
    assert ADVICE[Fault.CRASHED][0] is Owner.RESEARCHER


@pytest.mark.parametrize("fault", [Fault.CRASHED, Fault.UNKNOWN])
def test_a_fault_that_comes_back_at_the_same_step_is_the_researchers(fault):
    assert recover(a_verdict(fault), 0, 9, progressed=True, repeats=1).resume
    assert recover(a_verdict(fault), 0, 9, progressed=True, repeats=2) == Decision(False, Reason.SAME_STEP, 1)


def test_a_machine_that_goes_down_again_at_the_same_step_is_still_a_machine():
    assert recover(a_verdict(Fault.NODE_DOWN), 0, 9, progressed=True, repeats=5).resume


def test_a_cause_that_a_restart_would_meet_again_keeps_away_from_its_node_at_once():
    broken = replace(a_verdict(Fault.UNKNOWN), cause="GPU_ECC")
    assert recover(broken, 0, 3, progressed=False).exclude == ("n1",)
    assert recover(replace(broken, cause="NATIVE_CRASH"), 0, 3, progressed=False).exclude == ()
