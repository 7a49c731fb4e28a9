"""Which rank failed first, whatever the others say."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis import examine
from headway.diagnosis.verdict import Fault, Owner
from tests.diagnosis.builders import (
    BAD_LABEL,
    GLOO_CLOSED,
    NOON,
    TORCHRUN_SUMMARY,
    WATCHDOG,
    after,
    an_evidence,
    an_exit,
)


def test_a_rank_killed_without_warning_is_named_and_its_peer_only_follows():
    evidence = an_evidence(
        an_exit(0, at=0.4, code=1), an_exit(1, at=0, signal=9), logs={0: GLOO_CLOSED, 1: "step 3\nstep 4\n"}
    )
    verdict = examine(evidence)
    assert (verdict.fault, verdict.rank, verdict.node, verdict.at) == (Fault.KILLED, 1, "n1", NOON)
    assert (verdict.signal_name, verdict.owner, verdict.retry) == ("SIGKILL", Owner.OPERATOR, True)
    assert (verdict.followers, verdict.drill, verdict.location) == ((0,), False, None)


def test_the_killed_rank_is_named_even_when_its_exit_was_recorded_later_than_its_followers():
    evidence = an_evidence(an_exit(0, at=0, code=1), an_exit(1, at=2, signal=9), logs={0: GLOO_CLOSED})
    assert examine(evidence).rank == 1


@pytest.mark.parametrize("by_us", [False, True])
def test_a_drill_says_so_and_is_nobodys_move(by_us):
    exits = an_exit(0, at=0.4, code=1), an_exit(1, signal=9, stopped_by_us=by_us)
    verdict = examine(an_evidence(*exits, logs={0: GLOO_CLOSED}, drill_rank=1))
    assert (verdict.fault, verdict.rank, verdict.drill, verdict.retry) == (Fault.KILLED, 1, True, True)
    assert verdict.owner is Owner.NOBODY
    assert "drill" in (verdict.detail or "")


def test_ranks_headway_stopped_with_the_gang_never_come_first():
    exits = an_exit(0, at=0, signal=9, stopped_by_us=True), an_exit(1, at=5, code=1)
    verdict = examine(an_evidence(*exits, logs={1: BAD_LABEL}, stop_reason="gang"))
    assert (verdict.fault, verdict.rank, verdict.followers) == (Fault.CODE_ERROR, 1, (0,))


def test_a_rank_that_hung_after_its_own_error_until_headway_stopped_it_still_comes_first():
    exits = an_exit(0, at=0, code=1), an_exit(1, at=5, signal=15, stopped_by_us=True)
    verdict = examine(an_evidence(*exits, logs={0: GLOO_CLOSED, 1: BAD_LABEL}, stop_reason="gang"))
    assert (verdict.fault, verdict.rank) == (Fault.CODE_ERROR, 1)


def test_a_watchdog_abort_follows_the_rank_that_ran_out_of_memory_ten_minutes_before():
    said = (
        'Traceback (most recent call last):\n  File "t.py", line 3, in f\ntorch.OutOfMemoryError: CUDA out of memory.\n'
    )
    exits = an_exit(0, at=600, signal=6), an_exit(1, at=0, code=1)
    verdict = examine(an_evidence(*exits, logs={0: WATCHDOG, 1: said}))
    assert (verdict.fault, verdict.rank, verdict.followers) == (Fault.DEVICE_OUT_OF_MEMORY, 1, (0,))


def test_of_two_errors_of_their_own_the_earlier_comes_first():
    other = BAD_LABEL.replace("rank1", "rank0").replace("bad label in batch", "late")
    exits = an_exit(0, at=9, code=1), an_exit(1, at=1, code=1)
    assert examine(an_evidence(*exits, logs={0: other, 1: BAD_LABEL})).rank == 1


def test_the_time_in_an_error_file_counts_before_the_time_of_the_exit():
    late = BAD_LABEL.replace("rank1", "rank0").replace("bad label in batch", "late")
    exits = an_exit(0, at=1, code=1), an_exit(1, at=9, code=1, error_at=after(0))
    verdict = examine(an_evidence(*exits, logs={0: late, 1: BAD_LABEL}))
    assert (verdict.rank, verdict.at) == (1, after(0))


def test_two_nodes_within_the_skew_of_their_clocks_make_a_less_certain_verdict():
    other = BAD_LABEL.replace("rank1", "rank0").replace("bad label in batch", "other")
    near, far = (
        examine(an_evidence(an_exit(0, at=late, code=1), an_exit(1, code=1), logs={0: other, 1: BAD_LABEL}))
        for late in (1, 60)
    )
    assert near.confidence < far.confidence


def test_of_two_nodes_at_once_the_stronger_words_come_first():
    ecc = "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    said = f'Traceback (most recent call last):\n  File "t.py", line 3, in f\n{ecc}\n'
    exits = an_exit(0, at=0, code=1), an_exit(1, at=1, code=1)
    own = BAD_LABEL.replace("rank1", "rank0")
    assert examine(an_evidence(*exits, logs={0: own, 1: said})).rank == 1
    together = an_exit(0, at=0, code=1), an_exit(1, at=1, code=1, node="n0")
    assert examine(an_evidence(*together, logs={0: own, 1: said}, nodes={0: "n0", 1: "n0"})).rank == 0
    late = an_exit(0, at=0, code=1), an_exit(1, at=9, code=1)
    assert examine(an_evidence(*late, logs={0: own, 1: said})).rank == 0


def test_the_same_error_on_every_rank_names_no_rank_and_no_node():
    exits = an_exit(0, at=0, code=1), an_exit(1, at=0.1, code=1)
    verdict = examine(an_evidence(*exits, logs={0: BAD_LABEL.replace("rank1", "rank0"), 1: BAD_LABEL}))
    assert (verdict.fault, verdict.rank, verdict.node) == (Fault.CODE_ERROR, None, None)
    assert verdict.location == "/home/ann/data.py:10"


def test_only_followers_name_nobody_and_are_not_sure():
    closed = GLOO_CLOSED.replace("rank0", "rank1")
    exits = an_exit(0, code=1), an_exit(1, at=1, code=1)
    verdict = examine(an_evidence(*exits, logs={0: GLOO_CLOSED, 1: closed}))
    assert (verdict.fault, verdict.rank, verdict.followers) == (Fault.PEER_CLOSED, None, (0, 1))
    assert verdict.confidence < 0.5


def test_collectives_that_differ_are_the_programs_though_every_rank_only_waited():
    other = WATCHDOG.replace("rank0", "rank1").replace("Rank 0", "Rank 1").replace("ALLREDUCE", "BROADCAST")
    exits = an_exit(0, signal=6), an_exit(1, at=1, signal=6)
    verdict = examine(an_evidence(*exits, logs={0: WATCHDOG, 1: other}))
    assert (verdict.fault, verdict.cause, verdict.owner) == (
        Fault.PEER_CLOSED,
        "COLLECTIVE_DESYNC",
        Owner.RESEARCHER,
    )
    assert (verdict.retry, verdict.confidence > 0.7) == (False, True)


def test_a_rank_that_ended_early_with_0_is_why_the_others_lost_it():
    verdict = examine(an_evidence(an_exit(0, at=3, code=1), an_exit(1, at=1, code=0), logs={0: GLOO_CLOSED}))
    assert (verdict.fault, verdict.rank, verdict.owner, verdict.retry) == (
        Fault.PEER_CLOSED,
        1,
        Owner.RESEARCHER,
        False,
    )


def test_the_only_rank_nobody_heard_of_is_suspected():
    verdict = examine(an_evidence(an_exit(0, at=3, code=1), logs={0: GLOO_CLOSED}))
    assert (verdict.fault, verdict.rank, verdict.node) == (Fault.PEER_CLOSED, 1, "n1")


def test_a_lost_agent_comes_before_those_its_node_took_along():
    evidence = an_evidence(an_exit(0, at=5, code=1), logs={0: GLOO_CLOSED}, lost_agents={"n1": NOON})
    verdict = examine(evidence)
    assert (verdict.fault, verdict.node, verdict.rank, verdict.at) == (Fault.AGENT_LOST, "n1", None, NOON)
    assert (verdict.owner, verdict.retry, verdict.followers) == (Owner.OPERATOR, True, (0,))


def test_an_error_before_the_agent_was_lost_stays_the_first_fault():
    evidence = an_evidence(an_exit(1, at=0, code=1), logs={1: BAD_LABEL}, lost_agents={"n0": after(30)})
    assert examine(evidence).fault is Fault.CODE_ERROR


@pytest.mark.parametrize("local_rank", [0, 1])
def test_torchruns_root_cause_names_the_rank_and_its_time_in_utc(local_rank):
    said = BAD_LABEL.replace("[rank1]: ", "")
    summary = TORCHRUN_SUMMARY.format(code=1, second=1, rank=local_rank, local=local_rank)
    nodes = {0: "n0", 1: "n0", 2: "n1", 3: "n1"}
    exits = an_exit(0, at=3, code=1), an_exit(2, at=8, code=1, node="n1", stopped_by_us=True)
    verdict = examine(an_evidence(*exits, logs={0: said + summary}, nodes=nodes, stop_reason="gang"))
    assert (verdict.fault, verdict.rank, verdict.node) == (Fault.CODE_ERROR, local_rank, "n0")
    assert verdict.location == "/home/ann/data.py:10"
    assert verdict.at == after(1)


def test_a_worker_torchrun_saw_killed_is_the_killed_rank():
    summary = TORCHRUN_SUMMARY.format(code=-9, second=1, rank=1, local=1)
    evidence = an_evidence(an_exit(0, at=3, code=1), logs={0: summary}, nodes={0: "n0", 1: "n0"}, drill_rank=1)
    verdict = examine(evidence)
    assert (verdict.fault, verdict.rank, verdict.signal_name, verdict.drill) == (Fault.KILLED, 1, "SIGKILL", True)


def test_of_two_torchruns_the_one_whose_failure_is_no_follower_is_believed():
    watchdog = WATCHDOG + TORCHRUN_SUMMARY.format(code=-6, second=0, rank=0, local=0)
    error = BAD_LABEL + TORCHRUN_SUMMARY.format(code=1, second=5, rank=1, local=0)
    exits = an_exit(0, at=3, code=1), an_exit(1, at=8, code=1)
    verdict = examine(an_evidence(*exits, logs={0: watchdog, 1: error}))
    assert (verdict.fault, verdict.rank, verdict.followers) == (Fault.CODE_ERROR, 1, (0,))


def test_a_prefix_gives_a_line_to_its_rank_in_another_ranks_stream():
    said = "".join(f"[default1]:{line}\n" for line in BAD_LABEL.replace("[rank1]: ", "").splitlines())
    summary = TORCHRUN_SUMMARY.format(code=1, second=1, rank=1, local=1)
    evidence = an_evidence(an_exit(0, at=3, code=1), logs={0: said + summary}, nodes={0: "n0", 1: "n0"})
    verdict = examine(evidence)
    assert (verdict.rank, verdict.location) == (1, "/home/ann/data.py:10")
    assert [line.stream for line in verdict.lines] == [0]


@given(
    order=st.permutations(range(4)),
    killed=st.integers(0, 3),
    delays=st.lists(st.floats(0, 500), min_size=4, max_size=4),
)
def test_whatever_the_order_of_exits_the_only_rank_that_is_no_follower_comes_first(order, killed, delays):
    exits = [an_exit(r, at=delays[r], signal=9) if r == killed else an_exit(r, at=delays[r], code=1) for r in order]
    logs = {rank: GLOO_CLOSED.replace("rank0", f"rank{rank}") for rank in range(4) if rank != killed}
    verdict = examine(an_evidence(*exits, logs=logs))
    assert (verdict.fault, verdict.rank, verdict.at) == (Fault.KILLED, killed, after(delays[killed]))
    assert set(verdict.followers) == set(range(4)) - {killed}


def test_the_same_evidence_gives_the_same_verdict():
    evidence = an_evidence(an_exit(0, at=0.4, code=1), an_exit(1, signal=9), logs={0: GLOO_CLOSED})
    assert examine(evidence) == examine(evidence)
    assert examine(evidence).at - NOON == timedelta(0)


def test_a_rank_without_an_exit_speaks_through_its_lines_in_its_nodes_stream():
    evidence = an_evidence(an_exit(0, at=3, code=1), logs={0: BAD_LABEL}, nodes={0: "n0", 1: "n0"})
    verdict = examine(evidence)
    assert (verdict.fault, verdict.rank, verdict.node) == (Fault.CODE_ERROR, 1, "n0")


def test_an_exit_nobody_witnessed_does_not_hide_the_loss_of_its_agent():
    evidence = an_evidence(
        an_exit(0, at=1, code=1), an_exit(1, at=0), logs={0: GLOO_CLOSED}, lost_agents={"n1": after(9)}
    )
    assert (examine(evidence).fault, examine(evidence).node) == (Fault.AGENT_LOST, "n1")
