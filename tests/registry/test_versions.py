"""What differs between versions."""

from dataclasses import replace
from datetime import UTC, datetime

from headway.domain.ids import AttemptId, JobId
from headway.domain.version import Lineage, ModelVersion
from headway.registry.lineage import Difference, differences

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)
JOB, ATTEMPT = JobId("j-22222222"), AttemptId("j-22222222.1")
LINEAGE = Lineage(
    JOB, ATTEMPT, 80, "/ckpt/step-80", "sha256:c", "tiny-gpt", {"lr": "1e-3", "wd": "0"}, "stdlib@1", "sha256:d", "abc",
    {"torch": "2.13.0"},
)  # fmt: skip
VERSION = ModelVersion("gpt", 1, "llm", "/models/gpt/1", "sha256:w", 1000, NOON, "ann", LINEAGE)


def test_a_version_differs_from_itself_in_nothing_and_from_its_copy_too():
    moved = replace(VERSION, number=2, path="/elsewhere", created_by="bo")
    assert differences(VERSION, moved) == ()


def test_differences_are_named_down_to_the_parameter_and_the_library():
    lineage = replace(LINEAGE, step=120, parameters={"lr": "2e-3", "seed": "7"}, environment={"torch": "2.14.0"})
    other = replace(VERSION, number=2, digest="sha256:x", lineage=lineage)
    assert differences(VERSION, other) == (
        Difference("digest", "sha256:w", "sha256:x"),
        Difference("step", 80, 120),
        Difference("parameters.lr", "1e-3", "2e-3"),
        Difference("parameters.wd", "0", None),
        Difference("environment.torch", "2.13.0", "2.14.0"),
        Difference("parameters.seed", None, "7"),
    )
