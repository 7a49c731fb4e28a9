"""What evidence beyond the log adds to a verdict: its class, and a full disk that the exception does not name."""

from dataclasses import replace

import pytest

from headway.diagnosis.cause import Cause
from headway.diagnosis.firsthand import with_cause
from headway.diagnosis.hang.scene import Scene
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.ids import AttemptId
from tests.diagnosis.builders import an_evidence

TORCH = "RuntimeError: [enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598"
BROKEN = Verdict(AttemptId("j-1.1"), Fault.CODE_ERROR, Owner.RESEARCHER, False, 0.9, rank=1, node="n2", detail=TORCH)
FULL = {"path": "/ckpt", "mount": "/ckpt", "kind": "ext4", "total_bytes": 1 << 30, "free_bytes": 0, "free_files": 9}


def _seen(*disks: dict[str, object], node: str = "n2") -> tuple[Scene, ...]:
    return (Scene(node, "exit", 1.0, "exit", disks=disks),)


def test_a_write_that_fails_on_a_full_file_system_is_a_full_disk() -> None:
    found = with_cause(BROKEN, replace(an_evidence(), scenes=_seen(FULL)))
    assert (found.cause, found.owner) == (Cause.DISK_FULL, Owner.OPERATOR)
    assert found.detail == f"{TORCH}; /ckpt is full"


def test_a_full_disk_of_another_node_or_an_error_that_is_no_write_changes_nothing() -> None:
    elsewhere = with_cause(BROKEN, replace(an_evidence(), scenes=_seen(FULL, node="n1")))
    assert "is full" not in (elsewhere.detail or "")
    other = replace(BROKEN, detail="ValueError: bad batch")
    found = with_cause(other, replace(an_evidence(), scenes=_seen(FULL)))
    assert (found.cause, found.owner) == (Cause.USER_CODE_EXC, Owner.RESEARCHER)
    read_only = with_cause(BROKEN, replace(an_evidence(), scenes=_seen({**FULL, "read_only": True})))
    assert "is full" not in (read_only.detail or "")


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
    found = with_cause(replace(BROKEN, detail=words), an_evidence())
    assert (found.cause, found.owner) == (cause, owner)


def test_what_is_known_already_or_was_a_drill_stays() -> None:
    known = replace(BROKEN, cause="DATA_STALL")
    assert with_cause(known, an_evidence()) is known
    assert with_cause(replace(BROKEN, drill=True), an_evidence()).cause is None
    memory = replace(BROKEN, fault=Fault.HOST_OUT_OF_MEMORY)
    assert with_cause(memory, an_evidence()) == replace(memory, cause="HOST_OOM")
