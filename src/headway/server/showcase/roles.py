"""How a played job goes: its pace, its loss, what it prints, and what becomes of each of its attempts. Pure."""

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from random import Random


class How(StrEnum):
    """How an attempt ends before its last step."""

    CODE = "code"
    MEMORY = "memory"
    NETWORK = "network"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Fault:
    """What befalls an attempt once it is at `step`; `rank` is the first to suffer."""

    step: int
    how: How
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Role:
    """A job's course. `faults`: one for each attempt in turn, None for an attempt that goes well.

    `hangs_at`: from then on it stands still, for `hangs_rank` does not come back from its data loader.
    `step_s`: seconds a step; `save_every`: steps, 0 for never; `use`: percent of its cards while it computes.
    """

    total: int
    step_s: float
    save_every: int = 0
    start_s: float = 45.0
    first_loss: float = 10.9
    last_loss: float = 1.9
    use: float = 93.0
    faults: tuple[Fault | None, ...] = ()
    hangs_at: datetime | None = None
    hangs_rank: int = 9

    def fault(self, attempt: int) -> Fault | None:
        """What befalls the attempt of this number."""
        return self.faults[attempt - 1] if attempt <= len(self.faults) else None

    def loss(self, step: int) -> float:
        """A curve that falls fast, then slowly, with noise that is the same at every look."""
        fallen = math.exp(-6.0 * step / self.total) * 0.6 + 0.4 * math.exp(-40.0 * step / self.total)
        noise = Random(step).gauss(0.0, 0.02) * (0.4 + fallen)
        return self.last_loss + (self.first_loss - self.last_loss) * fallen * 0.9 + noise


SERVES = Role(total=0, step_s=1.0, start_s=70.0, use=46.0)
"""A replica of a service: it answers until it is stopped."""

USUAL = Role(total=600, step_s=2.0, save_every=200)
"""Whatever somebody submits while the showcase is served."""


def line_of(role: Role, step: int, at: str) -> str:
    """What rank 0 prints at a step."""
    rate = 1000 * role.step_s
    return (
        f"[{at}] iteration {step:8d}/{role.total:8d} | elapsed time per iteration (ms): {rate:.1f} | "
        f"learning rate: {3e-4 * (1 - step / role.total):.3E} | lm loss: {role.loss(step):.6E} | grad norm: "
        f"{0.4 + 0.2 * Random(step).random():.3f}\n"
    )


TRACE = """\x1b[31mTraceback (most recent call last):\x1b[0m
  File "/srv/code/train.py", line 214, in <module>
    main()
  File "/srv/code/train.py", line 187, in main
    loss = step(batch)
  File "/srv/code/data/collate.py", line 58, in collate
    return torch.stack(tokens)
RuntimeError: stack expects each tensor to be equal size, but got [4096] at entry 0 and [3712] at entry 5
"""
OUT_OF_MEMORY = """Traceback (most recent call last):
  File "/srv/code/finetune.py", line 133, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.11 GiB of \
which 1.84 GiB is free. Process has 77.26 GiB memory in use.
"""
FOLLOWS = (
    "[{at}] [rank{rank}]:[E ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=48210, OpType=ALLREDUCE, NumelIn=33554432, Timeout(ms)=600000) ran for 600012 milliseconds before "
    "timing out.\n"
)
BREAKS = (
    "[{at}] node: mlx5_0: got completion with error 12, opcode 0, len 0, vendor err 129 (Recv)\n"
    "[{at}] [rank{rank}]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a "
    "network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a network error or a remote "
    "process exiting prematurely.\n"
)
WAITS = """Thread 0x7f3a (most recent call first):
  File "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py", line 3004 in all_reduce
  File "/srv/code/optim.py", line 91 in sync_gradients
  File "/srv/code/train.py", line 187 in main
"""
LOADS = """Thread 0x7f3a (most recent call first):
  File "/srv/code/data/shards.py", line 77 in read_record
  File "/usr/lib/python3/site-packages/torch/utils/data/dataloader.py", line 790 in _next_data
  File "/srv/code/train.py", line 181 in main
"""
