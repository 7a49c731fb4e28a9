"""A rank shows its stacks and its last collectives to whoever asks, and is not disturbed by it."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from headway.sdk.job.looking import SIGNAL

PROGRAM = """
import os, sys, time
import headway
run = headway.attach()
if os.environ.get("DISTRIBUTED"):
    import torch, torch.distributed as dist
    store = dist.FileStore(os.environ["DISTRIBUTED"], 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    for _ in range(3):
        dist.all_reduce(torch.ones(4))
def stuck_here():
    print("ready", flush=True)
    time.sleep(600)
stuck_here()
"""


def _start(folder: Path, **env: str) -> "subprocess.Popen[str]":
    contract = {"HEADWAY_ATTEMPT": "j-1.1", "HEADWAY_JOB": "j-1", "HEADWAY_RANK_DIR": str(folder), "RANK": "0"}
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env={**os.environ, **contract, "WORLD_SIZE": "1", **env},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def _wait_for(path: Path, words: str) -> str:
    """What is in a file once it holds these words."""
    deadline = time.monotonic() + 60
    while not path.exists() or words not in path.read_text():
        assert time.monotonic() < deadline, f"no {words!r} in {path}"
        time.sleep(0.01)
    return path.read_text()


def _end(program: "subprocess.Popen[str]") -> None:
    program.kill()
    program.communicate()


def test_a_signal_writes_every_threads_stack_and_the_program_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "rank-0"
    folder.mkdir()
    program = _start(folder)
    try:
        program.send_signal(SIGNAL)
        text = _wait_for(folder / "stacks.txt", "stuck_here")
        assert "(most recent call first)" in text
        assert program.poll() is None
    finally:
        _end(program)


def test_ranks_of_one_torchrun_write_apart(tmp_path: Path) -> None:
    folder = tmp_path / "rank-0"
    folder.mkdir()
    program = _start(folder, RANK="3", TORCHELASTIC_RUN_ID="x")
    try:
        program.send_signal(SIGNAL)
        _wait_for(folder / "stacks-3.txt", "stuck_here")
    finally:
        _end(program)


@pytest.mark.live
def test_the_last_collectives_are_told_when_the_agent_asks(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "rank-0"
    folder.mkdir()
    program = _start(folder, WORLD_SIZE="2", DISTRIBUTED=str(tmp_path / "meet"), TORCH_FR_BUFFER_SIZE="100")
    try:
        (folder / "look.json").write_text(json.dumps({"look": "first"}))
        told = json.loads(_wait_for(folder / "collectives.json", "first"))["collectives"]
        assert told["groups"]["0"]["last_enqueued_collective"] == "3"
        names = [(entry["profiling_name"], entry["collective_seq_id"]) for entry in told["newest"]]
        assert names == [("gloo:all_reduce", 1), ("gloo:all_reduce", 2), ("gloo:all_reduce", 3)]
    finally:
        _end(program)


def test_the_answer_names_the_look_it_answers(tmp_path: Path) -> None:
    folder = tmp_path / "rank-1"
    folder.mkdir()
    program = _start(folder, RANK="1", WORLD_SIZE="2")
    try:
        (folder / "look.json").write_text(json.dumps({"look": "first"}))
        assert json.loads(_wait_for(folder / "collectives.json", "first"))["collectives"] is None
        (folder / "look.json").write_text(json.dumps({"look": "second"}))
        _wait_for(folder / "collectives.json", "second")
    finally:
        _end(program)
