"""One path, looked at: what framework wrote it, how it is laid out, and what it lies on."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from headway.agent.checkpoints.named import inspect
from tests.agent.checkpoints.test_written import NEWEST, written

__all__ = ["written"]
PATHS = {
    "trainer": "trainer/checkpoint-4",
    "accelerate": "accelerate/checkpoints/checkpoint_1",
    "lightning": "lightning/epoch=0-step=4.ckpt",
    "deepspeed": "deepspeed/global_step4",
}
SHAPES = {"trainer": "whole", "accelerate": "whole", "lightning": "whole", "deepspeed": "zero"}


def archive(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("archive/data.pkl", b"\x80\x02N.")


@pytest.mark.parametrize("framework", NEWEST)
def test_what_a_framework_wrote_is_told_with_its_layout(written: Path, framework: str) -> None:
    path = str(written / PATHS[framework])
    told = inspect(path)
    found = told["found"]
    assert (found["format"], found["path"], found["step"]) == (framework, path, NEWEST[framework])
    assert (found["shape"]["form"], found["reason"]) == (SHAPES[framework], None)
    assert told["mount"]["source"]
    assert path.startswith(told["mount"]["at"])


def test_a_folder_above_stands_for_the_newest_whole_one_in_it(written: Path) -> None:
    for framework, path in PATHS.items():
        assert inspect(str(written / framework))["found"]["path"] == str(written / path)


@pytest.mark.parametrize("framework", NEWEST)
def test_what_is_cut_short_is_told_as_damaged(written: Path, framework: str) -> None:
    path = written / PATHS[framework]
    longest = max([path] if path.is_file() else path.iterdir(), key=lambda each: each.stat().st_size)
    os.truncate(longest, longest.stat().st_size // 2)
    assert inspect(str(path))["found"]["reason"] is not None


@pytest.mark.parametrize("path", ["/", "/no/such/folder", "/proc/self"])
def test_where_nothing_known_lies_nothing_is_told(path: str) -> None:
    assert inspect(path)["found"] is None


def test_a_link_is_not_followed_to_a_checkpoint(written: Path) -> None:
    (written / "link").symlink_to(written / PATHS["trainer"])
    assert inspect(str(written / "link"))["found"] is None


def test_megatrons_places_are_counted_and_its_shards_are_laid_out_anew(tmp_path: Path) -> None:
    for place in ("mp_rank_00_000", "mp_rank_00_001", "mp_rank_01_000", "mp_rank_01_001"):
        archive(tmp_path / "iter_0000040" / place / "model_optim_rng.pt")
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("40")
    found = inspect(str(tmp_path / "iter_0000040"))["found"]
    assert (found["format"], found["step"], found["reason"]) == ("megatron", 40, None)
    assert found["shape"] == {"form": "grid", "ranks": None, "copy": 4}


def test_zero_is_counted_by_ranks_and_what_was_converted_fits_any(tmp_path: Path) -> None:
    step = tmp_path / "global_step8"
    archive(step / "mp_rank_00_model_states.pt")
    for rank in range(4):
        archive(step / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    (tmp_path / "latest").write_text("global_step8")
    assert inspect(str(step))["found"]["shape"] == {"form": "zero", "ranks": 4, "copy": 1}
    (step / "zero").mkdir()
    assert inspect(str(step))["found"]["shape"]["form"] == "resharded"
