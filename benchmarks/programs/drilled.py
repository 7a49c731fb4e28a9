"""The training of the live drills: real data-parallel steps over gloo, and the trouble that the drill puts in its way.

A rank meets its trouble when the file `trouble-<rank>` appears in DRILL_DIR; what it holds says which.
"""

import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

import headway

SIZE, BATCH, FOR_EVER = 384, 32, 1_000_000
run = headway.attach()
folder = Path(os.environ["DRILL_DIR"])
trouble = folder / f"trouble-{run.rank}"


class Records(Dataset):
    """Random records; with trouble they come from a pipe that nobody feeds."""

    def __len__(self) -> int:
        return FOR_EVER

    def __getitem__(self, index: int) -> torch.Tensor:
        if told() == "feed":
            (folder / f"feed-{run.rank}").open("rb").read()
        return torch.full((SIZE,), (index % 17) / 17)


def told() -> str:
    """What trouble there is."""
    return trouble.read_text() if trouble.exists() else ""


def meet(step: int) -> None:
    """Do what the trouble says that a program does by itself."""
    what = told()
    if what == "raise":
        raise RuntimeError("the batch does not fit the model")
    if what == "eat":
        kept = []
        while True:
            kept.append(torch.ones(8 << 20))
    if what == "fill":
        torch.save(torch.ones(1 << 20), Path(os.environ["DRILL_DISK"]) / f"state-{step}.pt")
    if what == "fetch":
        (Path(os.environ["DRILL_DISK"]) / "shard.bin").read_bytes()
    if what == "wait":
        (Path(os.environ["DRILL_DEAD"]) / "shard.bin").read_bytes()


def restore() -> None:
    """Load this rank's own weights, where there are some."""
    weights = folder / f"weights-{run.rank}.pt"
    if weights.exists():
        (folder / f"began-{run.rank}").touch()
        torch.load(weights)


def main() -> None:
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    restore()
    layers = [torch.nn.Linear(SIZE, SIZE) for _ in range(4)]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    workers = int(os.environ.get("DRILL_WORKERS", "0"))
    for step, batch in enumerate(DataLoader(Records(), batch_size=BATCH, num_workers=workers), 1):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss := loss.detach())
        run.progress(step, FOR_EVER, loss=float(loss))
        meet(step)


if __name__ == "__main__":
    main()
