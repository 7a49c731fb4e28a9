"""One of two ranks that saves the same sharded state in every way there is, turn by turn (benchmarks.checkpoint).

`RANK` and its kin as torchrun sets them. Prints one JSON line: for each way the seconds, and the CPU seconds, that
saving or loading held this rank up, round by round.
"""

import argparse
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import headway

WIDTH = 1024
BYTES_A_LAYER = 12 * WIDTH * WIDTH
"""Weights and AdamW's two moments, in single precision."""


class Sharded:
    """A model and its optimizer under FSDP2, with moments that are there."""

    def __init__(self, mib: int, ranks: int) -> None:
        layers = max(1, (mib << 20) // BYTES_A_LAYER)
        self.model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(layers)))
        fully_shard(self.model, mesh=init_device_mesh("cpu", (ranks,)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.model(torch.randn(1, WIDTH)).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def state(self) -> dict[str, Any]:
        weights, moments = get_state_dict(self.model, self.optimizer)
        return {"model": weights, "optimizer": moments}

    def put_back(self, state: dict[str, Any]) -> None:
        moments = state["optimizer"]
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=moments)

    def local(self) -> list[torch.Tensor]:
        """This rank's own tensors."""
        held = [parameter.detach() for parameter in self.model.parameters()]
        held += [value for kept in self.optimizer.state.values() for value in kept.values()]
        return [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in held]


class Ways:
    """What is measured; each leaves the next one a quiet machine: whatever goes on behind it is waited for."""

    def __init__(self, sharded: Sharded, folder: Path, group: Any) -> None:
        self.sharded = sharded
        self.folder = folder
        self.group = group
        self.local = sharded.local()
        self.copies = [torch.empty_like(tensor) for tensor in self.local]
        self.checkpoints = headway.attach().checkpoints(
            sharded.model, sharded.optimizer, directory=folder / "headway", keep=2, background=True
        )
        self.step = 0

    def copy(self) -> Callable[[], None]:
        def act() -> None:
            for copy, tensor in zip(self.copies, self.local, strict=True):
                copy.copy_(tensor)

        return act

    def headway(self) -> Callable[[], None]:
        self.step += 1
        return lambda: self.checkpoints.save(self.step) and None

    def torch_save(self) -> Callable[[], None]:
        path = self.folder / f"rank-{dist.get_rank()}.pt"

        def act() -> None:
            with path.open("wb") as file:
                torch.save(self.local, file)
                file.flush()
                os.fsync(file.fileno())

        return act

    def dcp_async(self) -> Callable[[], None]:
        place = self.folder / f"dcp-{self.step}"

        def act() -> None:
            self.saving = dcp.async_save(self.sharded.state(), checkpoint_id=place, process_group=self.group)

        return act

    def finish(self, way: str) -> None:
        if way == "headway":
            self.checkpoints.wait()
        elif way == "dcp_async":
            self.saving.result()
            dist.barrier()
            if dist.get_rank() == 0:
                shutil.rmtree(self.folder / f"dcp-{self.step}")
        dist.barrier()

    def load(self) -> Callable[[], None]:
        """What a program without Headway does: the newest checkpoint's shares, trusted as they are."""
        place = self.folder / "headway" / f"step-{self.step:08d}" / "state"

        def act() -> None:
            state = self.sharded.state()
            dcp.load(state, checkpoint_id=place, process_group=self.group)
            self.sharded.put_back(state)

        return act

    def restore(self) -> Callable[[], None]:
        return lambda: self.checkpoints.restore() and None


def timed(act: Callable[[], None]) -> tuple[float, float]:
    dist.barrier()
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mib", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    ways = Ways(Sharded(options.mib, dist.get_world_size()), options.folder, dist.new_group(backend="gloo"))
    order = ["copy", "headway", "torch_save", "dcp_async"]
    found: dict[str, list[tuple[float, float]]] = {}
    for turn in range(options.rounds + 1):
        for way in order[turn % len(order) :] + order[: turn % len(order)]:
            found.setdefault(way, []).append(timed(getattr(ways, way)()))
            ways.finish(way)
        for way in ("load", "restore"):
            found.setdefault(way, []).append(timed(getattr(ways, way)()))
    print(json.dumps({"seconds": found, "bytes": sum(tensor.nbytes for tensor in ways.local)}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
