"""Trainings on forked ranks, so that torch is imported once for many of them: uninterrupted, killed, resumed.

`python -m tests.sdk_job.programs.ranks_of FOLDER`, orders as JSON lines on stdin:
`{"directory", "ranks", "kind": "plain" | "ddp" | "fsdp", "steps", "every", "dropout", "kill": [rank, step], ...}`.
Each is answered by one JSON line: the steps trained, the step restored, and what model, optimizer and data came to.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run

PR_SET_CHILD_SUBREAPER = 36
WIDTH, BATCH, SAMPLES = 16, 8, 4096
SAID = ("background", "patience_s", "local", "keep", "store")


class Samples:
    """An order of all samples drawn once, walked by batches for all ranks together."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(3)
        self.order = torch.randperm(SAMPLES, generator=generator)
        self.at = 0
        self.seen: list[int] = []

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]

    def batch(self, rank: int, ranks: int) -> Tensor:
        whole = self.order[self.at : self.at + BATCH]
        self.at += BATCH
        mine = whole[rank::ranks]
        self.seen += mine.tolist()
        return torch.stack([torch.randn(WIDTH, generator=torch.Generator().manual_seed(int(n))) for n in mine])


def build(kind: str, dropout: float, ranks: int, width: int) -> nn.Module:
    torch.manual_seed(1)
    model: nn.Module = nn.Sequential(
        nn.Linear(WIDTH, 2 * width), nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * width, WIDTH)
    )
    if kind == "fsdp":
        mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("shards",))
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    return DistributedDataParallel(model) if kind == "ddp" else model


def train(order: dict[str, Any], rank: int) -> dict[str, Any]:
    ranks, kind, kill = order["ranks"], order["kind"], order.get("kill")
    variables = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "HEADWAY_JOB": "j-test", "HEADWAY_ATTEMPT_NUMBER": "1"}
    run = Run(read_environment(variables))
    model = build(kind, order.get("dropout", 0.0), ranks, order.get("width", WIDTH))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)
    samples, extra = Samples(), {"note": 0}
    torch.manual_seed(100 + rank)
    said = {"background": True, "patience_s": 60.0} | {name: order[name] for name in SAID if name in order}
    checkpoints = run.checkpoints(model, optimizer, scheduler, extra, order["directory"], data=samples, **said)
    restored = checkpoints.restore()
    step = restored
    while step < order["steps"]:
        step += 1
        stepped(model, optimizer, scheduler, samples.batch(rank, ranks))
        extra["note"] = step
        if kill == [rank, step]:
            os.kill(os.getpid(), signal.SIGKILL)
        if order.get("stop_at") == [rank, step]:
            os.kill(os.getpid(), signal.SIGTERM)
        stop = checkpoints.should_stop() if "stop_at" in order else None
        is_due = step % order["every"] == 0 or step == order["steps"] or bool(stop)
        if is_due and order.get("absent") != [rank, step]:
            checkpoints.save(step)
        if stop:
            break
    checkpoints.wait()
    if order.get("is_cut"):
        os.kill(os.getpid(), signal.SIGKILL)
    assert extra["note"] == step
    return {"restored": restored, "step": step, "seen": samples.seen, **summed(model, optimizer)}


def stepped(model: nn.Module, optimizer: Any, scheduler: Any, inputs: Tensor) -> None:
    optimizer.zero_grad()
    (model(inputs) - inputs).square().mean().backward()
    optimizer.step()
    scheduler.step()


def summed(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    """Every number of the whole model and of the optimizer's moments."""
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    options = StateDictOptions(full_state_dict=True)
    weights, moments = get_state_dict(inner, optimizer, options=options)
    found = {name: value.flatten().tolist() for name, value in weights.items()}
    for name, kept in moments["state"].items():
        found |= {f"{name}.{what}": torch.as_tensor(value).flatten().tolist() for what, value in kept.items()}
    return {"weights": found}


def one_rank(order: dict[str, Any], rank: int, port: int, answer: Path) -> None:
    """A forked rank; leaves its answer in a file, or the traceback of what kept it from one."""
    try:
        if order["kind"] != "plain":
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            timeout = timedelta(seconds=60)
            dist.init_process_group("gloo", rank=rank, world_size=order["ranks"], timeout=timeout)
        said = train(order, rank)
        leave(answer, said)
        if order["kind"] != "plain":
            dist.barrier()
    except BaseException as error:
        traceback.print_exc()
        leave(answer, {"error": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def leave(answer: Path, said: dict[str, Any]) -> None:
    """Whole or not at all, as a rank may be killed while it answers."""
    building = answer.with_suffix(".tmp")
    building.write_text(json.dumps(said))
    building.rename(answer)


def performed(order: dict[str, Any], folder: Path) -> list[dict[str, Any] | None]:
    """What each rank answered; None for one that died. With a kill the others are killed as an agent would."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = Path(tempfile.mkdtemp(dir=folder))
    children = {}
    for rank in range(order["ranks"]):
        child = os.fork()
        if child == 0:
            one_rank(order, rank, port, place / str(rank))
        children[child] = rank
    with suppress(ChildProcessError):  # no child is left, nor what a killed one has left behind
        while True:
            child, status = os.wait()
            if children.pop(child, None) is not None and os.WIFSIGNALED(status):
                for other in children:
                    os.kill(other, signal.SIGKILL)
    answers = [place / str(rank) for rank in range(order["ranks"])]
    return [json.loads(answer.read_text()) if answer.exists() else None for answer in answers]


def main() -> None:
    torch.set_num_threads(1)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for line in sys.stdin:
        print(json.dumps(performed(json.loads(line), Path(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
