"""`resume`: what is asked of the server, and what a dry run tells."""

import pytest

from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

MOVE = {
    "spec": {},
    "step": 40,
    "path": "/c/step-00000040",
    "carries": [
        {"what": "world", "carried": "yes", "code": "carry-world-whole", "sentence": "one whole state"},
        {"what": "random", "carried": "no", "code": "carry-random-other", "sentence": "rank 0's only"},
    ],
    "forecast": {"job": "new", "as_of": "2026-12-01T06:20:05Z", "p50": None, "p90": None, "unknown": "quota"},
}


def test_only_what_is_to_be_different_is_sent(stub: Stub, headway: Headway) -> None:
    made = {"id": "j-2", "spec": {"origin": {"job": "j-1", "step": 40, "path": "/c/step-00000040"}}}
    stub.on("POST", "/jobs/j-1/resume", made)
    ran = headway("resume", "j-1", "--pool", "slurm/h200", "--nodes", "2", "--from", "40")
    assert (ran.code, ran.out) == (0, "j-2\n")
    assert "step 40 of j-1" in ran.err
    (asked,) = stub.asked
    assert asked.body == {"pool": "slurm/h200", "nodes": 2, "checkpoint": "40"}


@pytest.mark.parametrize(("language", "words"), [("en", ("ranks", "random numbers")), ("zh", ("进程数", "随机数"))])
def test_a_dry_run_tells_what_is_carried_over_and_creates_nothing(
    stub: Stub, headway: Headway, language: str, words: tuple[str, str]
) -> None:
    stub.on("POST", "/jobs/j-1/resume/dry-run", MOVE)
    ran = headway("resume", "j-1", "--dry-run", language=language)
    assert ran.code == 0
    for word in (*words, "one whole state", "/c/step-00000040"):
        assert word in ran.out
    assert [asked.path for asked in stub.asked] == ["/jobs/j-1/resume/dry-run"]


def test_what_could_not_be_verified_is_not_called_verified(stub: Stub, headway: Headway) -> None:
    told = {"what": "checkpoint", "carried": "unsure", "code": "carry-checkpoint-copy", "sentence": "a copy"}
    stub.on("POST", "/jobs/j-1/resume/dry-run", MOVE | {"carries": [told]})
    assert "from step 40, not verified here: /c/step-00000040" in headway("resume", "j-1", "--dry-run").out
    stub.on("POST", "/jobs/j-1/resume/dry-run", MOVE | {"carries": [told | {"carried": "yes"}]})
    assert "from step 40, verified: /c/step-00000040" in headway("resume", "j-1", "--dry-run").out
