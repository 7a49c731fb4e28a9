"""What a failure is said to share: by its cause, never merely because something was there."""

import pytest

from headway.diagnosis.cases.shared import image_of, mount_of, shares
from headway.diagnosis.cause import Cause
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.ids import AttemptId
from headway.domain.job import JobKind, JobSpec
from headway.domain.resources import Request

DATA = {
    "path": "/data/x",
    "mount": "/data",
    "kind": "nfs4",
    "source": "store:/vol/data",
    "answers": True,
    "use": "named",
}
CKPT = {**DATA, "path": "/ckpt/j-1", "mount": "/ckpt", "source": "store:/vol/ckpt", "use": "checkpoints"}
LOCAL = {"path": "/tmp", "mount": "/", "kind": "ext4", "source": "/dev/vda", "answers": True, "use": "work"}


def a_verdict(cause: Cause | None, detail: str | None = None, node: str | None = "n1") -> Verdict:
    return Verdict(
        AttemptId("j-1.1"), Fault.MACHINE_FAULT, Owner.OPERATOR, True, 0.9, node=node, detail=detail, cause=cause
    )


def a_spec(*command: str, env: dict[str, str] | None = None, **parameters: str) -> JobSpec:
    request = Request(nodes=1, devices_per_node=1, ranks_per_node=1)
    return JobSpec("t", "nlp", JobKind.TRAINING, "train", command, request, parameters=parameters, env=env or {})


@pytest.mark.parametrize(
    ("spec", "image"),
    [
        (a_spec("python", "t.py"), None),
        (a_spec("srun", "--container-image=hub/llm:9", "t.py"), "hub/llm:9"),
        (a_spec("srun", "--container-image", "hub/llm:9"), "hub/llm:9"),
        (a_spec("srun", "--container-image"), None),
        (a_spec("t.py", env={"CONTAINER_IMAGE": "hub/llm:8"}), "hub/llm:8"),
        (a_spec("srun", "--image=hub/llm:9", image="hub/llm:7"), "hub/llm:7"),
    ],
)
def test_the_image_is_what_the_job_declares(spec: JobSpec, image: str | None) -> None:
    assert image_of(spec) == image


def test_the_mount_in_trouble_goes_before_one_that_is_named_and_that_before_the_only_one() -> None:
    dead = {**CKPT, "answers": False}
    named = a_verdict(Cause.STORAGE_IO, "OSError: [Errno 116] Stale file handle: '/data/x/7'")
    assert mount_of(named, [DATA, dead, LOCAL]) == "store:/vol/ckpt"
    assert mount_of(named, [CKPT, DATA, LOCAL]) == "store:/vol/data"
    assert mount_of(a_verdict(Cause.STORAGE_IO), [DATA, LOCAL]) == "store:/vol/data"
    assert mount_of(a_verdict(Cause.STORAGE_IO), [DATA, CKPT, LOCAL]) is None
    assert mount_of(a_verdict(Cause.DISK_FULL), [DATA, CKPT, LOCAL]) == "store:/vol/ckpt"


def test_a_mount_that_went_is_known_by_what_it_was() -> None:
    was = {"mount": "/data", "kind": "nfs4", "source": "store:/vol/data", "read_only": False}
    assert mount_of(a_verdict(Cause.STORAGE_IO), [{**LOCAL, "path": "/data/x", "was": was}]) == "store:/vol/data"


def test_a_disk_of_the_nodes_own_is_shared_with_nobody() -> None:
    assert mount_of(a_verdict(Cause.DISK_FULL, "/tmp is full"), [LOCAL]) is None


@pytest.mark.parametrize(
    ("cause", "kinds"),
    [
        (Cause.STORAGE_IO, {"node", "switch", "mount"}),
        (Cause.DEP_IMPORT, {"node", "switch", "image"}),
        (Cause.USER_CODE_EXC, {"node", "switch"}),
        (Cause.GPU_ECC, {"node", "switch"}),
        (None, {"node", "switch"}),
    ],
)
def test_only_what_the_cause_can_come_from_is_shared(cause: Cause | None, kinds: set[str]) -> None:
    spec = a_spec("srun", "--container-image=hub/llm:9")
    assert set(shares(a_verdict(cause), "s1", spec, [DATA])) == kinds
    assert set(shares(a_verdict(cause, node=None), "s1", spec, [DATA])) == kinds - {"node", "switch"}
