"""Train the tiny GPT with PyTorch DDP over gloo: the whole training, to be read in one sitting.

Every rank runs this file. It says how far it is, saves checkpoints with a servable export inside, starts where the last
good one ended, and leaves with exit code 0 when asked to stop. Data order depends on seed, step and rank alone, so
that a resumed training sees what it would have seen.

    headway template add template.toml                        # once; then, under Headway, with a registered data set:
    headway submit --template tiny-gpt --name t --project P --source . --set dataset=NAME@1
    torchrun --nproc-per-node 2 train.py --data DIR           # by hand
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from export import export
from model import Shape, TinyGPT
from torch import Tensor
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import headway


@dataclass(frozen=True)
class Options:
    """What the command line chose."""

    data: Path
    steps: int
    batch: int
    block: int
    lr: float
    checkpoint_every: int | None
    keep: int | None
    seed: int
    log_every: int
    min_step_ms: float


def parse_options() -> Options:
    parser = argparse.ArgumentParser(description="Train a byte-level GPT in Llama format.")
    parser.add_argument(
        "--data", type=Path, required=True, help="dataset version folder with data.bin and manifest.json"
    )
    parser.add_argument("--steps", type=int, default=200, help="train up to this step (default 200)")
    parser.add_argument("--batch", type=int, default=4, help="sequences per rank and step (default 4)")
    parser.add_argument("--block", type=int, default=128, help="bytes per sequence (default 128)")
    parser.add_argument("--lr", type=float, default=3e-3, help="highest learning rate (default 0.003)")
    parser.add_argument(
        "--checkpoint-every", type=int, help="steps between checkpoints (default: the job's policy, else 20)"
    )
    parser.add_argument("--keep", type=int, help="checkpoints kept (default: the job's policy, else all)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and data order (default 1)")
    parser.add_argument("--log-every", type=int, default=10, help="steps between printed lines (default 10)")
    parser.add_argument(
        "--min-step-ms", type=float, default=0.0, help="wait so that no step is shorter; to pace a demo"
    )
    return Options(**vars(parser.parse_args()))


class Bytes:
    """Batches from data.bin: the same for the same seed, step and rank, whatever ran before."""

    def __init__(self, options: Options, rank: int) -> None:
        path = options.data / "data.bin"
        size = path.stat().st_size
        if size <= options.block:
            raise SystemExit(f"{path} has {size} bytes: --block {options.block} needs more")
        self._tokens = torch.from_file(str(path), size=size, dtype=torch.uint8)
        self._options = options
        self._rank = rank

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of a step, each (batch, block)."""
        options = self._options
        generator = torch.Generator().manual_seed((options.seed * 1_000_003 + step) * 65_537 + self._rank)
        starts = torch.randint(len(self._tokens) - options.block, (options.batch, 1), generator=generator)
        window = self._tokens[starts + torch.arange(options.block + 1)].long()
        return window[:, :-1], window[:, 1:]


def learning_rate(step: int, options: Options) -> float:
    """A short linear warm-up, then half a cosine down to a tenth."""
    warm_up = max(1, min(20, options.steps // 10))
    if step <= warm_up:
        return options.lr * step / warm_up
    done = (step - warm_up) / max(1, options.steps - warm_up)
    return options.lr * (0.1 + 0.45 * (1.0 + math.cos(math.pi * min(1.0, done))))


class Trainer:
    """The model, its optimizer and one step of both."""

    def __init__(self, options: Options, rank: int, world_size: int) -> None:
        torch.manual_seed(options.seed)
        self.model = TinyGPT(Shape())
        self.ranks = DistributedDataParallel(self.model) if world_size > 1 else self.model
        self.optimizer = torch.optim.AdamW(self.ranks.parameters(), lr=options.lr, betas=(0.9, 0.95), weight_decay=0.1)
        self._bytes = Bytes(options, rank)
        self._options = options
        self._world_size = world_size

    def step(self, step: int) -> float:
        """One optimizer step; returns this rank's loss in nats a byte."""
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(step, self._options)
        inputs, targets = self._bytes.batch(step)
        loss = F.cross_entropy(self.ranks(inputs).flatten(0, 1), targets.flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.ranks.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def agree(self, loss: float, stop: bool) -> tuple[float, bool]:
        """The mean loss, and whether any rank was asked to stop: all leave after the same step."""
        if self._world_size == 1:
            return loss, stop
        told = torch.tensor([loss, float(stop)])
        dist.all_reduce(told)
        return told[0].item() / self._world_size, told[1].item() > 0


def train(options: Options, run: headway.Run) -> None:
    """From the newest verified checkpoint to the last step, or to a stop."""
    trainer = Trainer(options, run.rank, run.world_size)
    checkpoints = run.checkpoints(model=trainer.ranks, optimizer=trainer.optimizer, keep=options.keep)
    every = options.checkpoint_every or (None if run.asks_to_save else 20)

    def export_to(folder: Path) -> None:
        export(trainer.model, folder / "hf")

    first = checkpoints.restore() + 1
    run.phase("train")
    for step in range(first, options.steps + 1):
        started = time.monotonic()
        mine = trainer.step(step)
        loss, stop = trainer.agree(mine, bool(run.should_stop()))
        pace(started, options.min_step_ms)
        seconds = time.monotonic() - started
        run.progress(step, options.steps, loss=loss, step_ms=seconds * 1000)
        if run.rank == 0 and (step % options.log_every == 0 or step == first):
            print(f"step {step}: loss {loss:.4f}, time {seconds * 1000:.2f}ms", flush=True)
        due = run.should_save(step) if every is None else step % every == 0
        if stop or step == options.steps or due:
            with run.phase("save"):
                checkpoints.save(step, files=export_to)
        if stop:
            print(f"asked to stop: saved at step {step}", flush=True)
            return


def pace(started: float, min_step_ms: float) -> None:
    """Wait until the step has lasted `min_step_ms`; by default no step waits."""
    time.sleep(max(0.0, started + min_step_ms / 1000 - time.monotonic()))


@contextmanager
def together(world_size: int) -> Iterator[None]:
    """The process group of all ranks, from MASTER_ADDR and MASTER_PORT; nothing for a single one."""
    if world_size == 1:
        yield
        return
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
    yield
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    options = parse_options()
    run = headway.attach()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with together(run.world_size):
        train(options, run)


if __name__ == "__main__":
    main()
