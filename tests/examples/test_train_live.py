"""Two real ranks train, one is killed, and the training goes on as if nothing had happened."""

from __future__ import annotations

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import newest_verified, verify
from tests.examples.conftest import StartAttempt

pytestmark = [pytest.mark.live, pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")]


def options(dataset: Path, steps: int, pace_ms: int = 0) -> list[str]:
    small = ["--batch", "1", "--block", "32", "--checkpoint-every", "10"]
    return ["--data", str(dataset), "--steps", str(steps), "--min-step-ms", str(pace_ms), *small]


def weights(checkpoint: Path) -> str:
    return hashlib.sha256((checkpoint / "hf" / "model.safetensors").read_bytes()).hexdigest()


def test_a_training_whose_rank_was_killed_ends_with_the_weights_of_one_never_interrupted(
    tmp_path: Path, dataset: Path, start_attempt: StartAttempt
) -> None:
    home = tmp_path / "interrupted"
    arguments = options(dataset, 60, pace_ms=20)
    killed = start_attempt(home, 1, arguments)
    killed.wait_for_step(25)
    killed.kill(1)
    assert killed.wait()[0] != 0
    assert "peer" in killed.log(0)
    chosen, rejected = newest_verified(home / "checkpoints")
    assert chosen is not None
    assert (chosen.step >= 20, rejected) == (True, [])

    resumed = start_attempt(home, 2, arguments, resume_from=chosen.path)
    assert resumed.wait() == [0, 0], resumed.log(0)
    for rank in (0, 1):
        (restored,) = resumed.events(rank, "restored")
        assert (restored["step"], restored["path"]) == (chosen.step, str(chosen.path))
        assert resumed.events(rank, "progress")[0]["step"] == chosen.step + 1

    whole = start_attempt(tmp_path / "whole", 1, options(dataset, 60))
    assert whole.wait() == [0, 0], whole.log(0)
    ends = [folder / "checkpoints" / "step-00000060" for folder in (home, tmp_path / "whole")]
    assert weights(ends[0]) == weights(ends[1])


def test_after_one_flipped_byte_the_checkpoint_before_is_used_on_every_rank(
    tmp_path: Path, dataset: Path, start_attempt: StartAttempt
) -> None:
    first = start_attempt(tmp_path, 1, options(dataset, 30))
    assert first.wait() == [0, 0], first.log(0)
    newest = tmp_path / "checkpoints" / "step-00000030"
    state = bytearray((newest / "state.pt").read_bytes())
    state[len(state) // 2] ^= 1
    (newest / "state.pt").write_bytes(state)

    second = start_attempt(tmp_path, 2, options(dataset, 40), resume_from=newest)
    assert second.wait() == [0, 0], second.log(0)
    (rejected,) = second.events(0, "checkpoint-rejected")
    assert (rejected["path"], rejected["step"], rejected["reason"]) == (str(newest), 30, "wrong-hash")
    assert [second.events(rank, "restored")[0]["step"] for rank in (0, 1)] == [20, 20]
    assert verify(newest).reason == "wrong-hash"
    assert verify(tmp_path / "checkpoints" / "step-00000030.1").ok


def test_asked_to_stop_all_ranks_leave_after_the_same_saved_step(
    tmp_path: Path, dataset: Path, start_attempt: StartAttempt
) -> None:
    attempt = start_attempt(tmp_path, 1, options(dataset, 100_000, pace_ms=5))
    attempt.wait_for_step(3)
    attempt.ask_to_stop(1)
    assert attempt.wait() == [0, 0], attempt.log(0)
    step = attempt.step(0)
    assert attempt.step(1) == step
    assert verify(tmp_path / "checkpoints" / f"step-{step:08d}").ok
    assert attempt.events(1, "stopping")
    assert f"saved at step {step}" in attempt.log(0)


def test_a_training_learns(tmp_path: Path, dataset: Path, start_attempt: StartAttempt) -> None:
    attempt = start_attempt(tmp_path, 1, [*options(dataset, 60), "--batch", "4"])
    assert attempt.wait() == [0, 0], attempt.log(0)
    losses = [event["metrics"]["loss"] for event in attempt.events(0, "progress")]
    assert losses[0] > 5.3
    assert sum(losses[-10:]) / 10 < 3.5
    assert [event["step"] for event in attempt.events(0, "progress")] == list(range(1, 61))
    assert {event["total"] for event in attempt.events(1, "progress")} == {60}
    assert "step 10: loss" in attempt.log(0)


def test_a_dataset_version_lists_its_files_and_hash(dataset: Path) -> None:
    manifest = json.loads((dataset / "manifest.json").read_bytes())
    content = (dataset / "data.bin").read_bytes()
    assert manifest["bytes"] == len(content) == sum(entry["bytes"] for entry in manifest["files"])
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert 100_000 < len(content) <= 300_000
    first = manifest["files"][0]
    assert hashlib.sha256(content[: first["bytes"]]).hexdigest() == first["sha256"]
