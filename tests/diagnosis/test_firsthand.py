"""What was seen first-hand rules over words: full disks, kernels and cards, memory groups, ends that went well."""

from dataclasses import replace

import pytest

from headway.diagnosis import describe, examine
from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.describe import next_step
from headway.diagnosis.evidence import MachineWord
from headway.diagnosis.hang.scene import Scene
from headway.diagnosis.verdict import Fault, Owner, Verdict
from tests.diagnosis.builders import BAD_LABEL, GLOO_CLOSED, after, an_evidence, an_exit

TORCH = "RuntimeError: [enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598"
FULL = {"path": "/ckpt", "mount": "/ckpt", "kind": "ext4", "total_bytes": 1 << 30, "free_bytes": 0, "free_files": 9}
FALLEN = "NVRM: Xid (PCI:0000:41:00): 79, pid=5209, GPU has fallen off the bus."


def traced(words: str) -> str:
    return f'Traceback (most recent call last):\n  File "/home/ann/t.py", line 3, in f\n    x()\n{words}\n'


def broken(words: str, *disks: dict[str, object], node: str = "n1") -> Verdict:
    """Rank 1 of two ends with these words while its node's disks are like this."""
    evidence = an_evidence(an_exit(0, at=2, code=1), an_exit(1, code=1), logs={0: GLOO_CLOSED, 1: traced(words)})
    return examine(replace(evidence, scenes=(Scene(node, "exit", 1.0, "exit", disks=disks),)))


def test_a_write_that_fails_on_a_full_file_system_is_a_full_disk() -> None:
    found = broken(TORCH, FULL)
    assert (found.cause, found.owner, found.rank) == (Cause.DISK_FULL, Owner.OPERATOR, 1)
    assert (found.fault, found.advice) == (Fault.MACHINE_FAULT, Retry.RESTART_AFTER_OPS_FIX)
    assert found.detail == f"{TORCH}; /ckpt is full"


def test_a_full_disk_of_another_node_or_an_error_that_is_no_write_changes_nothing() -> None:
    assert "is full" not in (broken(TORCH, FULL, node="n0").detail or "")
    other = broken("ValueError: bad batch", FULL)
    assert (other.cause, other.owner) == (Cause.USER_CODE_EXC, Owner.RESEARCHER)
    assert "is full" not in (broken(TORCH, {**FULL, "read_only": True}).detail or "")


@pytest.mark.parametrize(
    ("words", "cause", "owner"),
    [
        ("OSError: [Errno 28] No space left on device", Cause.DISK_FULL, Owner.OPERATOR),
        (
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
            Cause.CKPT_CORRUPT,
            Owner.RESEARCHER,
        ),
        ("KeyError: 'lr'", Cause.USER_CODE_EXC, Owner.RESEARCHER),
    ],
)
def test_the_last_words_name_the_class(words: str, cause: Cause, owner: Owner) -> None:
    found = broken(words)
    assert (found.cause, found.owner) == (cause, owner)


@pytest.mark.parametrize("earlier", [-100, 5])
def test_a_card_that_fell_off_goes_before_what_its_ranks_made_of_it(earlier: int) -> None:
    exits = an_exit(0, at=3, code=1), an_exit(1, at=0, signal=6)
    said = MachineWord("n1", after(earlier), FALLEN)
    evidence = an_evidence(*exits, logs={0: GLOO_CLOSED, 1: traced("RuntimeError: CUDA error: unknown error")})
    found = examine(replace(evidence, machines=(said,)))
    assert (found.fault, found.cause, found.node, found.rank) == (Fault.MACHINE_FAULT, Cause.GPU_LOST, "n1", 1)
    assert (found.owner, found.advice, found.at) == (Owner.OPERATOR, Retry.RESTART_EXCLUDE_NODE, after(earlier))
    assert found.followers == (0,)
    assert describe(found, "en").startswith("Rank 1 on n1: ")
    assert next_step(found, "zh") != next_step(found, "en") != ""


@pytest.mark.parametrize(
    "said",
    [
        MachineWord("n1", after(-4000), FALLEN),
        MachineWord("n7", after(-1), FALLEN),
        MachineWord("n1", after(-1), "NVRM: Xid (PCI:0000:41:00): 31, pid=5209, MMU Fault"),
    ],
)
def test_a_machine_long_ago_or_elsewhere_or_that_tells_of_the_program_changes_nothing(said: MachineWord) -> None:
    exits = an_exit(0, at=3, code=1), an_exit(1, at=0, code=1)
    evidence = an_evidence(*exits, logs={0: GLOO_CLOSED, 1: BAD_LABEL})
    assert examine(replace(evidence, machines=(said,))) == examine(evidence)


def test_the_card_a_machine_names_tells_the_rank() -> None:
    exits = an_exit(0, node="n0", code=1), an_exit(1, node="n0", at=1, code=1)
    evidence = an_evidence(*exits, logs={0: GLOO_CLOSED}, nodes={0: "n0", 1: "n0"})
    found = examine(replace(evidence, machines=(MachineWord("n0", after(-3), FALLEN, rank=1),)))
    assert (found.rank, found.followers) == (1, (0,))


def test_a_drill_is_a_drill_whatever_a_machine_says() -> None:
    evidence = an_evidence(an_exit(1, signal=9), an_exit(0, at=1, code=1), logs={0: GLOO_CLOSED}, drill_rank=1)
    found = examine(replace(evidence, machines=(MachineWord("n1", after(-1), FALLEN),)))
    assert (found.fault, found.drill, found.cause) == (Fault.KILLED, True, None)


def test_memory_that_ran_out_has_its_cause() -> None:
    evidence = an_evidence(an_exit(0, signal=9, oom_kill=True), nodes={0: "n0"})
    found = examine(evidence)
    assert (found.fault, found.cause, found.advice) == (Fault.HOST_OUT_OF_MEMORY, Cause.HOST_OOM, Retry.NO_RETRY)


def test_words_do_not_blame_a_rank_that_ended_with_0() -> None:
    evidence = an_evidence(an_exit(0, code=1, at=4), an_exit(1, code=0), logs={0: traced("KeyError: 1"), 1: BAD_LABEL})
    assert examine(evidence).rank == 0
