"""With torch: the state goes through torch.save, and ranks that can talk restore what rank 0 chose."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import verify

pytestmark = [pytest.mark.live, pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")]

ALONE = """
import sys, torch, headway
torch.manual_seed(5)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
def step():
    optimizer.zero_grad(); model(torch.rand(2, 3)).sum().backward(); optimizer.step(); scheduler.step()
checkpoints = headway.attach().checkpoints(model, optimizer, scheduler, directory=sys.argv[1])
step()
checkpoints.save(1)
step()
expected = [p.clone() for p in model.parameters()]
torch.manual_seed(99)
assert checkpoints.restore() == 1
step()
assert all(torch.equal(a, b) for a, b in zip(expected, model.parameters())), "went another way"
print("same")
"""

TOGETHER = """
import sys, json, torch, torch.distributed as dist, headway
run = headway.attach()
dist.init_process_group("gloo")
torch.manual_seed(run.rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
step = run.checkpoints(model=model, directory=sys.argv[1]).restore()
print(json.dumps([step, model.module.weight.sum().item()]))
dist.barrier()
dist.destroy_process_group()
"""

SAVING = """
import sys, torch, headway
model = torch.nn.Linear(2, 2)
checkpoints = headway.attach().checkpoints(model=model, directory=sys.argv[1])
for step in (20, 40):
    torch.nn.init.constant_(model.weight, step)
    checkpoints.save(step)
"""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return {**kept, "OMP_NUM_THREADS": "1", **more}


def python(code: str, *arguments: str, **more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more))


def outcome(program: subprocess.Popen[str]) -> str:
    try:
        out, err = program.communicate(timeout=120)
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 0, err
    return out


def test_weights_optimizer_schedule_and_random_numbers_go_on_as_if_never_interrupted(tmp_path: Path) -> None:
    assert outcome(python(ALONE, str(tmp_path))) == "same\n"
    manifest = verify(tmp_path / "step-00000001").manifest
    assert manifest is not None
    assert [entry.path for entry in manifest.files] == ["state.pt"]
    assert manifest.torch is not None


def test_ranks_that_can_talk_restore_what_rank_0_chose(tmp_path: Path) -> None:
    outcome(python(SAVING, str(tmp_path)))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    told = {"HEADWAY_RESUME_FROM": str(tmp_path / "step-00000020")}
    ranks = [
        python(TOGETHER, str(tmp_path), **shared, **told, RANK="0"),
        python(TOGETHER, str(tmp_path), **shared, RANK="1"),
    ]
    try:
        assert [json.loads(outcome(rank).splitlines()[-1]) for rank in ranks] == [[20, 80.0], [20, 80.0]]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()


def test_ranks_under_torchrun_share_a_folder_and_write_a_file_each(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import headway; run = headway.attach(); run.progress(run.rank + 1, run.world_size)")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    told = {"HEADWAY_ATTEMPT": "j-1.1", "HEADWAY_RANK_DIR": str(tmp_path)}
    command = [sys.executable, *torchrun]
    outcome(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**told))
    )
    for rank in (0, 1):
        lines = (tmp_path / f"events-{rank}.jsonl").read_text().splitlines()
        event = json.loads(lines[-1])
        assert (event["kind"], event["step"], event["total"]) == ("progress", rank + 1, 2)


def test_a_loss_still_in_its_graph_is_told_as_its_number(tmp_path: Path) -> None:
    code = "import torch, headway; headway.attach().progress(1, loss=torch.ones(1, requires_grad=True).sum())"
    told = {"HEADWAY_ATTEMPT": "j-1.1", "HEADWAY_RANK_DIR": str(tmp_path)}
    outcome(python(code, **told))
    events = [json.loads(line) for line in (tmp_path / "events-0.jsonl").read_text().splitlines()]
    assert events[-1]["metrics"] == {"loss": 1.0}
