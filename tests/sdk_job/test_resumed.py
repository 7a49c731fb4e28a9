"""Killed and resumed, a training comes to what it would have, bit for bit; on other ranks, within rounding."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from headway.sdk.job.checkpoint import newest_verified, verify
from headway.sdk.job.hashing import hash_file
from headway.sdk.job.manifest import encode_manifest

pytestmark = [pytest.mark.live, pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")]
Ordered = Callable[..., list[dict[str, Any]]]
IS_EXHAUSTIVE = os.environ.get("HEADWAY_SEEDS") == "all"
STEPS, EVERY = 24, 4
KILLS = 5 if IS_EXHAUSTIVE else 1
MOVES = [(("fsdp", 2), ("fsdp", 1)), (("plain", 1), ("fsdp", 2))]
if IS_EXHAUSTIVE:
    MOVES += [(("fsdp", 1), ("fsdp", 2)), (("ddp", 2), ("plain", 1)), (("fsdp", 2), ("plain", 1))]


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ordered]:
    """Run a training as ordered; its ranks' answers."""
    folder = tmp_path_factory.mktemp("ranks")
    command = [sys.executable, "-m", "tests.sdk_job.programs.ranks_of", str(folder)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**env, "OMP_NUM_THREADS": "1"},
        ) as program,
    ):
        assert program.stdin is not None
        assert program.stdout is not None

        def order(directory: Path, ranks: int, kind: str, **more: object) -> list[dict[str, Any]]:
            values = {"directory": str(directory), "ranks": ranks, "kind": kind, "steps": STEPS, "every": EVERY, **more}
            print(json.dumps(values), file=program.stdin, flush=True)
            answers: list[dict[str, Any]] = json.loads(program.stdout.readline())
            return answers

        yield order
        program.stdin.close()
        program.wait(60)


@pytest.mark.parametrize(("kind", "ranks"), [("plain", 1), ("ddp", 2), ("fsdp", 2)])
def test_killed_at_any_step_it_comes_to_the_same_bit_for_bit(
    ordered: Ordered, tmp_path: Path, kind: str, ranks: int
) -> None:
    whole = ordered(tmp_path / "whole", ranks, kind, dropout=0.1)
    chance = random.Random(f"{kind}{ranks}")
    for step in chance.sample(range(EVERY + 1, STEPS), KILLS):
        directory = tmp_path / f"killed-{step}"
        died = ordered(directory, ranks, kind, dropout=0.1, kill=[chance.randrange(ranks), step])
        assert None in died
        newest = newest_verified(directory)[0]
        assert newest is not None
        again = ordered(directory, ranks, kind, dropout=0.1)
        for rank in range(ranks):
            assert again[rank]["restored"] == newest.step
            assert again[rank]["weights"] == whole[rank]["weights"]
            assert again[rank]["seen"] == whole[rank]["seen"][-len(again[rank]["seen"]) :]


def test_from_a_copy_in_a_store_it_comes_to_the_same_bit_for_bit_on_every_rank(
    ordered: Ordered, tmp_path: Path
) -> None:
    directory, store = tmp_path / "lost", str(tmp_path / "store")
    whole = ordered(tmp_path / "whole", 2, "fsdp", dropout=0.1)
    ordered(directory, 2, "fsdp", dropout=0.1, steps=STEPS // 2, store=store)
    shutil.rmtree(directory)
    again = ordered(directory, 2, "fsdp", dropout=0.1, store=store)
    for rank in range(2):
        assert again[rank]["restored"] == STEPS // 2
        assert again[rank]["weights"] == whole[rank]["weights"]
        assert again[rank]["seen"] == whole[rank]["seen"][-len(again[rank]["seen"]) :]


@pytest.mark.parametrize(("before", "after"), MOVES)
def test_on_another_number_of_ranks_it_comes_to_the_same_within_rounding(
    ordered: Ordered, tmp_path: Path, before: tuple[str, int], after: tuple[str, int]
) -> None:
    whole = ordered(tmp_path / "whole", 1, "plain")
    ordered(tmp_path / "moved", before[1], before[0], steps=STEPS // 2)
    again = ordered(tmp_path / "moved", after[1], after[0])
    assert [answer["restored"] for answer in again] == [STEPS // 2] * after[1]
    for name, values in whole[0]["weights"].items():
        assert again[0]["weights"][name] == pytest.approx(values, rel=1e-3, abs=1e-5), name


def test_a_sharded_checkpoint_says_how_it_is_laid_out(ordered: Ordered, tmp_path: Path) -> None:
    ordered(tmp_path, 2, "fsdp", steps=4)
    manifest = verify(tmp_path / "step-00000004").manifest
    assert manifest is not None
    assert manifest.layout == {"kind": "sharded", "mesh": [2], "mesh_names": ["shards"], "same_data": True}
    assert (manifest.world_size, manifest.data, manifest.random) == (2, {"at": 32}, "rank-00000.pt")
    paths = ["rank-00000.pt", "rank-00001.pt", "state/.metadata", "state/__0_0.distcp", "state/__1_0.distcp"]
    assert [entry.path for entry in manifest.files] == paths


def test_one_rank_told_to_stop_makes_all_save_and_leave_at_the_same_step(ordered: Ordered, tmp_path: Path) -> None:
    answers = ordered(tmp_path, 2, "ddp", every=1000, stop_at=[1, 7])
    (step,) = {answer["step"] for answer in answers}
    assert step in (7, 8, 9)
    newest = newest_verified(tmp_path)[0]
    assert newest is not None
    assert newest.step == step


def test_a_rank_that_stays_away_is_an_error_and_what_was_saved_stays(ordered: Ordered, tmp_path: Path) -> None:
    answers = ordered(tmp_path, 2, "ddp", absent=[1, 8], patience_s=3.0, steps=8)
    assert "not all came" in answers[0]["error"]
    newest, rejected = newest_verified(tmp_path)
    assert (newest.step if newest else None, rejected) == (4, [])


def test_a_damaged_share_falls_back_to_the_one_before_on_every_rank(ordered: Ordered, tmp_path: Path) -> None:
    ordered(tmp_path, 2, "fsdp", steps=8)
    share = tmp_path / "step-00000008" / "state" / "__1_0.distcp"
    content = bytearray(share.read_bytes())
    content[len(content) // 2] ^= 1
    share.write_bytes(content)
    assert [answer["restored"] for answer in ordered(tmp_path, 2, "fsdp", steps=8)] == [4, 4]
    newest = newest_verified(tmp_path)[0]
    assert newest is not None
    assert newest.path.name == "step-00000008.1"


@pytest.mark.parametrize("file", ["__1_0.distcp", ".metadata"])
def test_shares_that_verify_and_do_not_load_are_marked_and_the_one_before_is_used_on_every_rank(
    ordered: Ordered, tmp_path: Path, file: str
) -> None:
    whole = ordered(tmp_path, 2, "fsdp", steps=8)
    newest = tmp_path / "step-00000008"
    write_garbage(newest, f"state/{file}")
    assert verify(newest).ok
    again = ordered(tmp_path, 2, "fsdp", steps=8)
    assert [answer["restored"] for answer in again] == [4, 4]
    assert [answer["weights"] for answer in again] == [answer["weights"] for answer in whole]
    assert verify(newest).reason == "marked-bad"
    assert f"state{'/.metadata' if file == '.metadata' else ' on rank'}" in verify(newest).detail


def test_where_nothing_older_is_left_a_half_filled_model_is_not_trained(ordered: Ordered, tmp_path: Path) -> None:
    ordered(tmp_path, 2, "fsdp", steps=4)
    write_garbage(tmp_path / "step-00000004", "state/__1_0.distcp")
    answers = ordered(tmp_path, 2, "fsdp", steps=8)
    assert all("half filled, and there is no older one" in answer["error"] for answer in answers)
    assert [answer["restored"] for answer in ordered(tmp_path, 2, "fsdp", steps=8)] == [0, 0]


def test_shares_that_do_not_fit_the_model_are_an_error_and_are_not_marked(ordered: Ordered, tmp_path: Path) -> None:
    ordered(tmp_path, 2, "fsdp", steps=4)
    answers = ordered(tmp_path, 2, "fsdp", steps=8, width=24)
    assert all("does not fit this model" in answer["error"] for answer in answers)
    assert verify(tmp_path / "step-00000004").ok


def write_garbage(checkpoint: Path, path: str) -> None:
    """Other content in one file, and a manifest by which it is right."""
    manifest = verify(checkpoint).manifest
    assert manifest is not None
    file = checkpoint / path
    file.write_bytes(b"not what torch writes".ljust(file.stat().st_size, b"."))
    with file.open("rb") as opened:
        hashed = hash_file(opened.fileno(), "crc32")
    entries = [replace(entry, hash=hashed) if entry.path == path else entry for entry in manifest.files]
    (checkpoint / "manifest.json").write_bytes(encode_manifest(replace(manifest, files=tuple(entries))))


def test_what_all_ranks_hold_on_their_nodes_is_published_by_the_next_attempt(ordered: Ordered, tmp_path: Path) -> None:
    place, directory = str(tmp_path / "node"), tmp_path / "c"
    whole = ordered(tmp_path / "whole", 2, "fsdp", dropout=0.1)
    ordered(directory, 2, "fsdp", dropout=0.1, steps=12, local=place, is_cut=True)
    shutil.rmtree(directory / "step-00000012")  # as if both helpers had died before they could publish it
    again = ordered(directory, 2, "fsdp", dropout=0.1, local=place)
    assert [answer["restored"] for answer in again] == [12, 12]
    assert [answer["weights"] for answer in again] == [answer["weights"] for answer in whole]


def test_a_snapshot_that_one_rank_has_lost_is_not_used(ordered: Ordered, tmp_path: Path) -> None:
    place, directory = tmp_path / "node", tmp_path / "c"
    ordered(directory, 2, "ddp", steps=12, local=str(place), is_cut=True)
    shutil.rmtree(directory / "step-00000012")
    shutil.rmtree(next(place.glob("*/*/rank-00001")))
    assert [answer["restored"] for answer in ordered(directory, 2, "ddp", local=str(place))] == [8, 8]
