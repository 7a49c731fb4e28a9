"""Checkpoints that torch and safetensors really wrote are known, verified, and told when they are not whole."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import warnings
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dcp

from headway.agent.checkpoints.folder import mark
from headway.agent.checkpoints.survey import survey

WEIGHTS = {"layer.weight": torch.arange(4096.0), "layer.bias": torch.ones(64)}


def the_only(root: Path) -> dict:
    (found,) = survey(str(root))
    return found


def a_state(step: int) -> dict:
    return {"model": WEIGHTS, "optimizer": {"lr": 0.1}, "global_step": step}


def write_dcp(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is only one process
        dcp.save({"model": dict(WEIGHTS)}, checkpoint_id=str(folder), no_dist=True)


def write_megatron(root: Path, step: int, tensor: int = 2, pipeline: int = 2) -> Path:
    folder = root / f"iter_{step:07d}"
    for t in range(tensor):
        for p in range(pipeline):
            rank = folder / f"mp_rank_{t:02d}_{p:03d}"
            rank.mkdir(parents=True)
            torch.save({"iteration": step, "model": WEIGHTS}, rank / "model_optim_rng.pt")
    (root / "latest_checkpointed_iteration.txt").write_text(str(step))
    return folder


def write_deepspeed(root: Path, step: int, ranks: int = 2) -> Path:
    folder = root / f"global_step{step}"
    folder.mkdir(parents=True)
    torch.save({"module": WEIGHTS, "global_steps": step}, folder / "mp_rank_00_model_states.pt")
    for rank in range(ranks):
        torch.save({"optimizer_state_dict": {}}, folder / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    (root / "latest").write_text(f"global_step{step}")
    return folder


def cut(path: Path, by: int = 100) -> None:
    os.truncate(path, path.stat().st_size - by)


def flip(path: Path) -> None:
    """Damage one byte of the tensors."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_plain_series_is_of_the_step_in_the_file_before_the_name(tmp_path: Path) -> None:
    torch.save(a_state(500), tmp_path / "model_500.pt")
    torch.save({"iter_num": 7}, tmp_path / "ckpt.pt")
    torch.save(WEIGHTS, tmp_path / "step_30.pth")
    torch.save(WEIGHTS, tmp_path / "best.pt")
    steps = {each["path"]: each["step"] for each in survey(str(tmp_path))}
    assert steps == {"model_500.pt": 500, "ckpt.pt": 7, "step_30.pth": 30}


@pytest.mark.parametrize(("harm", "reason"), [(cut, "cut-short"), (flip, "wrong-checksum")])
def test_a_damaged_file_is_told_with_its_reason(tmp_path: Path, harm, reason: str) -> None:
    torch.save(a_state(5), tmp_path / "step_5.pt")
    harm(tmp_path / "step_5.pt")
    assert the_only(tmp_path)["reason"] == reason


def test_torchs_distributed_checkpoints_are_known_by_their_metadata(tmp_path: Path) -> None:
    write_dcp(tmp_path / "step-40")
    found = the_only(tmp_path)
    assert (found["format"], found["step"], found["reason"]) == ("dcp", 40, None)
    assert found["bytes"] == sum(file.stat().st_size for file in (tmp_path / "step-40").iterdir())


def test_a_distributed_checkpoint_without_metadata_is_unfinished(tmp_path: Path) -> None:
    write_dcp(tmp_path / "step-40")
    (tmp_path / "step-40/.metadata").unlink()
    assert the_only(tmp_path)["reason"] == "unfinished"


@pytest.mark.parametrize(("harm", "reason"), [(cut, "cut-short"), (os.unlink, "missing-file")])
def test_a_shard_that_is_cut_or_gone_is_missed(tmp_path: Path, harm, reason: str) -> None:
    write_dcp(tmp_path / "step-40")
    harm(next((tmp_path / "step-40").glob("*.distcp")))
    found = the_only(tmp_path)
    assert (found["step"], found["reason"]) == (40, reason)


def test_megatrons_iterations_count_once_its_tracker_says_so(tmp_path: Path) -> None:
    write_megatron(tmp_path, 20)
    write_megatron(tmp_path, 40)
    assert [(each["step"], each["reason"]) for each in sorted(survey(str(tmp_path)), key=lambda e: e["step"])] == [
        (20, None),
        (40, None),
    ]
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("20")
    told = {each["step"]: each["reason"] for each in survey(str(tmp_path))}
    assert told == {20: None, 40: "unfinished"}


def test_megatrons_distributed_checkpoints_are_verified_by_their_metadata(tmp_path: Path) -> None:
    write_dcp(tmp_path / "iter_0000060")
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("60")
    found = the_only(tmp_path)
    assert (found["format"], found["step"], found["reason"]) == ("megatron", 60, None)


def test_what_megatron_wrote_before_the_shards_is_no_checkpoint_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "iter_0000060"
    folder.mkdir()
    torch.save({"iteration": 60}, folder / "common.pt")
    found = the_only(tmp_path)
    assert (found["format"], found["path"], found["reason"]) == ("megatron", "iter_0000060", "unfinished")


def test_a_rank_that_did_not_save_is_missed(tmp_path: Path) -> None:
    folder = write_megatron(tmp_path, 20)
    shutil.rmtree(folder / "mp_rank_01_000")
    assert the_only(tmp_path)["reason"] == "missing-rank"


def test_deepspeeds_tags_count_once_latest_names_them(tmp_path: Path) -> None:
    write_deepspeed(tmp_path, 10)
    assert the_only(tmp_path)["reason"] is None
    (tmp_path / "latest").write_text("global_step5")
    assert the_only(tmp_path)["reason"] == "unfinished"
    (tmp_path / "latest").unlink()
    assert the_only(tmp_path)["reason"] == "unfinished"


def test_a_deepspeed_rank_that_did_not_save_is_missed(tmp_path: Path) -> None:
    folder = write_deepspeed(tmp_path, 10, ranks=3)
    (folder / "zero_pp_rank_1_mp_rank_00_optim_states.pt").unlink()
    assert the_only(tmp_path)["reason"] == "missing-rank"


def test_what_was_told_is_not_read_again_until_it_is_written_over(tmp_path: Path) -> None:
    torch.save(a_state(5), tmp_path / "step_5.pt")
    write_dcp(tmp_path / "step-40")
    known = [mark(each["path"], each["saved_at"]) for each in survey(str(tmp_path))]
    assert survey(str(tmp_path), known) == []
    os.utime(tmp_path / "step_5.pt", (1, 1))
    assert [each["path"] for each in survey(str(tmp_path), known)] == ["step_5.pt"]


def test_what_the_sdk_saves_is_left_to_the_server(tmp_path: Path) -> None:
    (tmp_path / "step-00000010").mkdir()
    torch.save(a_state(10), tmp_path / "step-00000010/state.pt")
    (tmp_path / "step-00000010/manifest.json").write_text("{}")
    assert survey(str(tmp_path)) == []


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    root.mkdir()
    write_megatron(outside, 20)
    write_dcp(outside / "step-40")
    (root / "iter_0000020").symlink_to(outside / "iter_0000020")
    (root / "step-40").mkdir()
    for shard in (outside / "step-40").iterdir():
        (root / "step-40" / shard.name).symlink_to(shard)
    (root / "step_1.pt").symlink_to(outside / "iter_0000020/mp_rank_00_000/model_optim_rng.pt")
    assert survey(str(root)) == []
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(OSError, match="link"):
        survey(str(tmp_path / "link"))


class Armed:
    """Unpickled by its own rules it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_nothing_that_a_file_asks_for_is_done(tmp_path: Path) -> None:
    torch.save({"global_step": 3, "evil": Armed(tmp_path / "done")}, tmp_path / "step_3.pt")
    (tmp_path / "step-4").mkdir()
    (tmp_path / "step-4/.metadata").write_bytes(pickle.dumps(Armed(tmp_path / "done")))
    told = {each["path"]: (each["step"], each["reason"]) for each in survey(str(tmp_path))}
    assert told == {"step_3.pt": (3, None), "step-4": (4, "not-an-archive")}
    assert not (tmp_path / "done").exists()


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"\x80", b"not a pickle", b"PK\5\6" + bytes(18)])
def test_files_of_anything_are_told_or_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "step_9.pt").write_bytes(content)
    (tmp_path / "step-7").mkdir()
    (tmp_path / "step-7/.metadata").write_bytes(content)
    found = {each["path"]: each["reason"] for each in survey(str(tmp_path))}
    assert found["step-7"] is not None
    assert found.get("step_9.pt", "passed over") is not None


def test_a_pipe_does_not_hold_up_the_survey(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "step_9.pt")
    (tmp_path / "checkpoint-5").mkdir()
    os.mkfifo(tmp_path / "checkpoint-5/trainer_state.json")
    (tmp_path / "checkpoint-5/model.safetensors").write_bytes(b"\0" * 8)
    assert the_only(tmp_path)["reason"] == "unfinished"


def test_a_weights_only_checkpoint_is_nothing_to_go_on_from(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5/trainer_state.json").write_text(json.dumps({"global_step": 5}))
    (tmp_path / "checkpoint-5/model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    assert the_only(tmp_path)["reason"] == "weights-only"
