"""Whom a stalled attempt waits for: every kind of evidence alone, against the others, and none at all."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.cause import Cause
from headway.diagnosis.hang.judge import judge
from headway.diagnosis.hang.scene import HostSeen, LinkSeen, ProcessSeen, RankSeen, SocketSeen, StackSeen
from headway.diagnosis.hang.stacks import Stage, apart, main_thread, stage
from tests.diagnosis.hang.scenes import LOADS, SAVES, SLEEPS, WAITS, rank, recorder, scene


def test_a_stopped_process_is_named_though_it_says_nothing() -> None:
    hang = judge([scene(rank(0, enqueued=7), node="n1"), scene(rank(1, None, state="T"), node="n2")])
    assert (hang.rank, hang.node, hang.cause, hang.by) == (1, "n2", Cause.HANG_UNKNOWN, "stopped")
    assert hang.followers == (0,)


def test_the_rank_that_has_not_come_to_the_collective_is_waited_for() -> None:
    ranks = [rank(0, enqueued=7), rank(1, enqueued=7), rank(2, LOADS, enqueued=6)]
    hang = judge([scene(*ranks)])
    assert (hang.rank, hang.cause, hang.by) == (2, Cause.DATA_STALL, "sequence")
    assert hang.location == "/job/data.py:12"
    assert "collective 7 of group 0 (gloo:all_reduce)" in hang.detail


@pytest.mark.parametrize(
    ("text", "cause", "location"),
    [
        (LOADS, Cause.DATA_STALL, "/job/data.py:12"),
        (SAVES, Cause.STORAGE_IO, "train.py:20"),
        (SLEEPS, Cause.HANG_UNKNOWN, "train.py:9"),
    ],
)
def test_without_a_recorder_the_stack_tells_who_stands_apart_and_in_what(
    text: str, cause: Cause, location: str
) -> None:
    for world in (2, 4):
        ranks = [rank(number) for number in range(world - 1)]
        hang = judge([scene(*ranks, rank(world - 1, text))])
        assert (hang.rank, hang.cause, hang.location, hang.by) == (world - 1, cause, location, "stack")


def test_a_pipe_that_nobody_writes_to_is_named() -> None:
    blocked = ProcessSeen(102, "S", call="openat", on="/data/feed")
    hang = judge([scene(rank(0), RankSeen(1, (blocked,), (StackSeen(102, "py-spy", SLEEPS),)))])
    assert (hang.rank, hang.cause) == (1, Cause.DATA_STALL)
    assert "openat on /data/feed" in hang.detail


def test_a_process_held_by_the_kernel_is_a_matter_of_storage() -> None:
    hang = judge([scene(rank(0), rank(1, None, state="D"))])
    assert (hang.rank, hang.cause, hang.by) == (1, Cause.STORAGE_IO, "held")


def test_a_rank_that_shows_nothing_while_others_do_is_suspect() -> None:
    hang = judge([scene(rank(0), rank(1), rank(2, None))])
    assert (hang.rank, hang.by) == (2, "mute")


def test_other_operations_at_the_same_place_are_the_programs_own_fault() -> None:
    odd = replace(rank(2), collectives=recorder(7, size="[[99]]"))
    hang = judge([scene(rank(0, enqueued=7), rank(1, enqueued=7), odd)])
    assert (hang.rank, hang.cause, hang.by) == (2, Cause.COLLECTIVE_DESYNC, "desync")
    of_two = judge([scene(rank(0, enqueued=7), replace(odd, rank=1))])
    assert of_two.rank is None


def test_a_link_that_is_down_goes_before_who_waits_for_whom() -> None:
    links = (LinkSeen("eth0", "up", 1, (0, 1)), LinkSeen("eth0", "lowerlayerdown", 2, (2,)))
    ranks = (rank(0, enqueued=6), rank(1, enqueued=7), rank(2, enqueued=7))
    hang = judge([scene(*ranks, links=links)])
    assert (hang.rank, hang.cause, hang.by) == (2, Cause.RDMA_LINK, "link")


def _broken(*pairs: tuple[int, int]) -> tuple[SocketSeen, ...]:
    """Both ends of a mesh of three; the first of each of these pairs gets no answer."""
    found = []
    for one, other in ((0, 1), (1, 2), (2, 0)):
        ends = f"10.0.0.{one}:{other}", f"10.0.0.{other}:{one}"
        silent = 5 if (one, other) in pairs else 0
        found.append(SocketSeen(one, *ends, unanswered_bytes=100 * silent, retransmits=silent))
        found.append(SocketSeen(other, *reversed(ends)))
    return tuple(found)


def test_the_end_of_most_silent_connections_is_named_and_between_two_nobody_is() -> None:
    ranks = (rank(0, enqueued=6), rank(1, enqueued=7), rank(2, enqueued=7))
    hang = judge([scene(*ranks, sockets=_broken((0, 1), (1, 2)))])
    assert (hang.rank, hang.cause, hang.by) == (1, Cause.COMM_TIMEOUT, "connections")
    hang = judge([scene(*ranks, sockets=_broken((0, 1)))])
    assert (hang.rank, hang.cause) == (None, Cause.COMM_TIMEOUT)
    assert "0-1" in hang.detail


def test_hosts_that_do_not_answer_tell_which_end_is_at_fault() -> None:
    ranks = (rank(0, enqueued=6), rank(1, enqueued=7), rank(2, enqueued=7))
    answers = {(0, 2): True, (2, 0): True}
    hosts = tuple(
        HostSeen(one, f"10.0.0.{other}", answers.get((one, other), False))
        for one in range(3)
        for other in range(3)
        if one != other
    )
    hang = judge([scene(*ranks, sockets=_broken((0, 1)), hosts=hosts)])
    assert (hang.rank, hang.cause, hang.by) == (1, Cause.COMM_TIMEOUT, "connections")
    mute = tuple(replace(host, answers=False) for host in hosts)
    assert judge([scene(*ranks, sockets=_broken((0, 1)), hosts=mute)]).rank is None, "a firewall that is mute to all"


def test_where_all_are_alike_nobody_is_named() -> None:
    hang = judge([scene(rank(0, enqueued=7), rank(1, enqueued=7))])
    assert (hang.rank, hang.node, hang.cause) == (None, None, Cause.HANG_UNKNOWN)
    assert judge([]).rank is None


def test_the_main_thread_is_found_in_either_print() -> None:
    assert [frame.function for frame in main_thread(StackSeen(1, "", WAITS))][:2] == ["all_reduce", "wrapper"]
    assert main_thread(StackSeen(1, "", SAVES))[0].function == "_save"
    assert stage(main_thread(StackSeen(1, "", LOADS))) is Stage.DATA
    assert main_thread(StackSeen(1, "", "nothing")) == ()


@given(
    world=st.integers(2, 12),
    guilty=st.data(),
    seed=st.integers(0, 999),
)
def test_the_odd_one_is_found_wherever_it_stands_and_in_whatever_order(
    world: int, guilty: st.DataObject, seed: int
) -> None:
    odd = guilty.draw(st.integers(0, world - 1))
    ranks = [rank(number, LOADS if number == odd else WAITS) for number in range(world)]
    Random(seed).shuffle(ranks)
    scenes = [scene(one, node=f"n{one.rank}") for one in ranks]
    hang = judge(scenes)
    assert (hang.rank, hang.node) == (odd, f"n{odd}")
    assert hang.followers == tuple(sorted(set(range(world)) - {odd}))


@given(st.text(max_size=400), st.text(alphabet='Thread "File(): 1\n', max_size=400))
def test_any_text_is_read_without_complaint(text: str, shaped: str) -> None:
    for one in (text, shaped):
        frames = main_thread(StackSeen(1, "", one))
        assert stage(frames) in Stage
        assert apart({0: frames, 1: frames}) == ()


def _dead(mount: str, use: str | None = "named") -> dict[str, object]:
    return {"path": f"{mount}/shards", "mount": mount, "kind": "nfs4", "answers": False, "use": use}


def test_the_ranks_of_a_node_whose_file_system_is_silent_are_waited_for() -> None:
    dead = replace(scene(rank(1, SLEEPS), node="n2"), disks=(_dead("/data"),))
    hang = judge([scene(rank(0), node="n1"), dead])
    assert (hang.rank, hang.node, hang.cause, hang.by) == (1, "n2", Cause.STORAGE_IO, "disk")
    assert hang.detail == "the file system /data does not answer"


def test_of_several_ranks_those_that_wait_for_a_file_there_are_named() -> None:
    waits = RankSeen(2, (ProcessSeen(102, "S", call="openat", on="/data/shards/7"),))
    hang = judge([replace(scene(rank(0), rank(1), waits), disks=(_dead("/old"), _dead("/data", None)))])
    assert (hang.rank, hang.cause, hang.by) == (2, Cause.STORAGE_IO, "disk")
    assert "/data" in hang.detail


def test_a_held_rank_on_a_silent_file_system_is_no_slow_loader() -> None:
    held = replace(rank(1, LOADS, state="D"), processes=(ProcessSeen(101, "D", call="read", on="/data/7"),))
    assert judge([scene(rank(0), held)]).cause is Cause.DATA_STALL
    hang = judge([replace(scene(rank(0), held), disks=(_dead("/data"),))])
    assert (hang.rank, hang.cause, hang.by) == (1, Cause.STORAGE_IO, "held")
    assert hang.detail.endswith("the file system /data does not answer")


def test_a_file_system_that_is_silent_everywhere_names_no_rank() -> None:
    both = [replace(scene(rank(number), node=f"n{number}"), disks=(_dead("/data"),)) for number in (0, 1)]
    hang = judge(both)
    assert (hang.rank, hang.node, hang.cause) == (None, None, Cause.STORAGE_IO)


def test_a_dead_mount_that_nobody_uses_proves_nothing() -> None:
    hang = judge([replace(scene(rank(0), rank(1)), disks=(_dead("/old", None),))])
    assert (hang.rank, hang.cause) == (None, Cause.HANG_UNKNOWN)
