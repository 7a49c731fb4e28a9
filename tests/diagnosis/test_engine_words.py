"""What an engine says of an attempt is evidence: evictions, time limits, memory, images that cannot be pulled."""

import pytest

from headway.diagnosis import examine
from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.verdict import Fault, Owner
from tests.diagnosis.builders import GLOO_CLOSED, after, an_evidence, an_exit

STOPPED = an_exit(0, signal=15, stopped_by_us=True), an_exit(1, signal=15, stopped_by_us=True)


@pytest.mark.parametrize(
    ("reason", "told", "cause", "retry"),
    [
        ("preempted", {}, Cause.PREEMPTED, True),
        ("engine-taken", {"n0": "preempted"}, Cause.PREEMPTED, True),
        ("engine-taken", {"n0": "timeout", "n1": "timeout"}, Cause.TIME_LIMIT, True),
        ("engine-time-limit", {}, Cause.TIME_LIMIT, True),
        ("time-limit", {}, Cause.TIME_LIMIT, False),
        ("engine-late", {}, Cause.SCHED_PENDING, True),
        ("user", {}, Cause.USER_CANCEL, False),
    ],
)
def test_an_end_that_was_ordered_has_the_class_of_who_ordered_it(
    reason: str, told: dict[str, str], cause: Cause, retry: bool
) -> None:
    found = examine(an_evidence(*STOPPED, stop_reason=reason, ended_for=told))
    assert (found.fault, found.cause, found.retry, found.owner) == (Fault.STOPPED, cause, retry, Owner.NOBODY)


def test_a_kill_on_a_node_whose_engine_says_its_memory_ran_out_is_that() -> None:
    exits = an_exit(0, at=2, code=1), an_exit(1, signal=9)
    assert examine(an_evidence(*exits, logs={0: GLOO_CLOSED})).fault is Fault.KILLED
    found = examine(an_evidence(*exits, logs={0: GLOO_CLOSED}, ended_for={"n1": "out-of-memory"}))
    assert (found.fault, found.cause, found.rank, found.node) == (Fault.HOST_OUT_OF_MEMORY, Cause.HOST_OOM, 1, "n1")
    assert (found.owner, found.advice) == (Owner.RESEARCHER, Retry.NO_RETRY)


def test_an_engines_word_on_another_node_or_on_a_rank_that_headway_stopped_changes_nothing() -> None:
    exits = an_exit(0, at=2, signal=9, stopped_by_us=True), an_exit(1, signal=9)
    assert examine(an_evidence(*exits, ended_for={"n0": "out-of-memory"})).fault is Fault.KILLED


def test_an_agent_that_went_with_its_ranks_for_want_of_memory_is_no_lost_agent() -> None:
    told = {"lost_agents": {"n1": after(1)}, "ended_for": {"n1": "out-of-memory"}}
    found = examine(an_evidence(an_exit(0, at=5, code=1), logs={0: GLOO_CLOSED}, **told))
    assert (found.fault, found.cause, found.node) == (Fault.HOST_OUT_OF_MEMORY, Cause.HOST_OOM, "n1")
    assert (found.owner, found.advice) == (Owner.RESEARCHER, Retry.NO_RETRY)


@pytest.mark.parametrize(
    ("words", "owner", "advice"),
    [
        (
            'Failed to pull image "hub.local/llm:9": toomanyrequests: rate limit',
            Owner.OPERATOR,
            Retry.RESTART_AFTER_OPS_FIX,
        ),
        ("ErrImagePull: manifest for hub.local/llm:9 not found: manifest unknown", Owner.RESEARCHER, Retry.NO_RETRY),
    ],
)
def test_an_image_that_cannot_be_had_is_told_as_such(words: str, owner: Owner, advice: Retry) -> None:
    found = examine(an_evidence(launch_error=words))
    assert (found.fault, found.cause, found.owner, found.advice) == (
        Fault.LAUNCH_FAILED,
        Cause.IMAGE_PULL,
        owner,
        advice,
    )
    assert found.detail == words


def test_any_other_refusal_keeps_what_follows_from_a_launch_that_failed() -> None:
    found = examine(an_evidence(launch_error="the engine refused: no space left on device"))
    assert (found.cause, found.owner, found.advice) == (None, Owner.OPERATOR, Retry.RESTART_SAME_NODES)
