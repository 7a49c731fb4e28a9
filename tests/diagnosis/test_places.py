"""What the place of a rank makes of its end: mounts that went read-only or away, memory groups that killed a child."""

from dataclasses import replace

import pytest

from headway.diagnosis import examine
from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.hang.scene import Scene
from headway.diagnosis.verdict import Fault, Owner, Verdict
from tests.diagnosis.builders import GLOO_CLOSED, an_evidence, an_exit

WAS = {"mount": "/ckpt", "kind": "nfs4", "source": "store:/ckpt", "read_only": False}
LOCKED = {"path": "/ckpt/j-1", **WAS, "read_only": True, "was": WAS, "answers": True}
GONE = {"path": "/ckpt/j-1", "mount": "/", "kind": "ext4", "source": "/dev/vda", "read_only": False, "was": WAS}
ALWAYS_LOCKED = {key: value for key, value in LOCKED.items() if key != "was"}
READ_ONLY = "OSError: [Errno 30] Read-only file system: '/ckpt/j-1/step-40'"
MISSING = "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/j-1/step-40/rank-1.pt'"
WORKER = "RuntimeError: DataLoader worker (pid 812) is killed by signal: Killed."


def broken(words: str, *disks: dict[str, object], node: str = "n1", memory: dict[str, int] | None = None) -> Verdict:
    """Rank 1 of two ends with these words while its node is like this."""
    traced = f'Traceback (most recent call last):\n  File "/home/ann/t.py", line 3, in f\n    x()\n{words}\n'
    evidence = an_evidence(an_exit(0, at=2, code=1), an_exit(1, code=1), logs={0: GLOO_CLOSED, 1: traced})
    scene = Scene(node, "exit", 1.0, "exit", disks=disks, memory=memory or {})
    return examine(replace(evidence, scenes=(scene,)))


@pytest.mark.parametrize(
    ("words", "disk", "seen"),
    [
        (READ_ONLY, LOCKED, "/ckpt has become read-only"),
        ("RuntimeError: [enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598", LOCKED, "read-only"),
        (MISSING, GONE, "/ckpt is not mounted any more"),
        ("RuntimeError: Parent directory /ckpt/j-1 does not exist.", GONE, "/ckpt is not mounted any more"),
        ("OSError: [Errno 116] Stale file handle: '/ckpt/j-1/a'", GONE, "/ckpt is not mounted any more"),
    ],
)
def test_a_mount_that_changed_under_a_rank_is_a_fault_of_storage(
    words: str, disk: dict[str, object], seen: str
) -> None:
    found = broken(words, disk)
    assert (found.cause, found.fault, found.rank, found.node) == (Cause.STORAGE_IO, Fault.MACHINE_FAULT, 1, "n1")
    assert (found.owner, found.advice) == (Owner.OPERATOR, Retry.RESTART_AFTER_OPS_FIX)
    assert found.detail is not None
    assert found.detail.startswith(words)
    assert seen in found.detail


@pytest.mark.parametrize(
    ("words", "disk", "node"),
    [
        (READ_ONLY, ALWAYS_LOCKED, "n1"),
        (READ_ONLY, LOCKED, "n0"),
        (MISSING, LOCKED, "n1"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/ckpt2/a'", GONE, "n1"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'ckpt/a'", GONE, "n1"),
        ("ValueError: bad batch in /ckpt/j-1/a", GONE, "n1"),
    ],
)
def test_a_mount_explains_nothing_that_it_cannot_have_caused(words: str, disk: dict[str, object], node: str) -> None:
    with_it, without = broken(words, disk, node=node), broken(words)
    assert (with_it.cause, with_it.owner, with_it.detail) == (without.cause, without.owner, without.detail)


def test_a_child_that_the_kernel_killed_for_its_memory_is_memory() -> None:
    found = broken(WORKER, memory={"oom_kill": 1, "limit_bytes": 4 << 30})
    assert (found.cause, found.fault, found.rank) == (Cause.HOST_OOM, Fault.HOST_OUT_OF_MEMORY, 1)
    assert (found.owner, found.advice, found.confidence) == (Owner.RESEARCHER, Retry.NO_RETRY, 0.95)
    assert found.detail is not None
    assert found.detail.endswith("(4.00 GiB)")


def test_a_group_that_killed_nobody_says_nothing() -> None:
    assert broken(WORKER, memory={"oom_kill": 0, "limit_bytes": 4 << 30}).detail == WORKER
    assert broken("ValueError: bad batch", memory={"oom_kill": 1}).cause == Cause.USER_CODE_EXC


def test_the_limit_that_was_met_is_told() -> None:
    evidence = an_evidence(an_exit(0, at=2, code=1), an_exit(1, signal=9, oom_kill=True), logs={0: GLOO_CLOSED})
    scene = Scene("n1", "exit", 1.0, "exit", memory={"oom_kill": 1, "limit_bytes": 3 << 29})
    found = examine(replace(evidence, scenes=(scene,)))
    assert (found.cause, found.rank) == (Cause.HOST_OOM, 1)
    assert (found.detail or "").endswith("its memory limit was reached (1.50 GiB)")
