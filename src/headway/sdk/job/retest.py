"""The verified program of a node's retest: every rank computes, copies and communicates what has one right answer.

Rank 0 prints one line, `headway-retest {"speeds": …, "wrong": …}`: the slowest rank's speeds, and the checks whose
results were wrong on any rank. It judges nothing: whether a speed is good enough is the server's to say. Without torch
it computes on the processor alone; speeds then have other names, so that the two are never compared.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from hashlib import blake2b
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

MARK = "headway-retest"
SIDE = 2048
COPY_BYTES = 64 << 20
REDUCED = 4 << 20

Result = Tuple[Dict[str, float], Set[str]]


def main(words: Optional[Sequence[str]] = None) -> int:
    """Measure, gather, print; the exit status is 0 whatever was found."""
    parser = argparse.ArgumentParser(prog="headway-retest", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    seconds = max(0.0, parser.parse_args(words).seconds)
    try:
        import torch
    except ImportError:
        speeds, wrong = plain(seconds)
    else:
        speeds, wrong = _with_torch(torch, seconds)
    if os.environ.get("RANK", "0") == "0":
        line = json.dumps({"speeds": speeds, "wrong": sorted(wrong)}, sort_keys=True)
        sys.stdout.write(f"{MARK} {line}\n")
        sys.stdout.flush()
    return 0


def plain(seconds: float) -> Result:
    """The processor alone: hashing, whose result is known, and copying, whose result is the source."""
    block = bytes(range(256)) * 4096
    right = blake2b(block).digest()
    hashed, hash_s, same = _repeat(seconds / 2, lambda: blake2b(block).digest() == right)
    copied, copy_s, equal = _repeat(seconds / 2, lambda: bytes(bytearray(block)) == block)
    wrong = {name for name, fine in (("hash", same), ("copy", equal)) if not fine}
    speeds = {"hash_mb_s": hashed * len(block) / hash_s / 1e6, "plain_copy_mb_s": copied * len(block) / copy_s / 1e6}
    return speeds, wrong


def _repeat(seconds: float, once: Callable[[], bool]) -> Tuple[int, float, bool]:
    """How often within the time (three times at least), the seconds that took, and whether every result was right."""
    fine, count, began = True, 0, time.perf_counter()
    while count < 3 or time.perf_counter() - began < seconds:
        fine = once() and fine
        count += 1
    return count, max(time.perf_counter() - began, 1e-9), fine


def _with_torch(torch: Any, seconds: float) -> Result:
    device, backend = _device(torch)
    speeds, wrong = _measure(torch, device, seconds * 2 / 3)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return speeds, wrong
    torch.distributed.init_process_group(backend)
    try:
        shared, broken = _all_reduce(torch, device, seconds / 3, world)
        parts: List[Any] = [None] * world
        torch.distributed.all_gather_object(parts, ({**speeds, **shared}, wrong | broken))
    finally:
        torch.distributed.destroy_process_group()
    slowest = {name: min(part[0][name] for part in parts) for name in parts[0][0]}
    return slowest, set().union(*(part[1] for part in parts))


def _device(torch: Any) -> Tuple[Any, str]:
    """This rank's accelerator and the way its like talk to each other."""
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if torch.cuda.is_available():
        torch.cuda.set_device(local % torch.cuda.device_count())
        return torch.device("cuda", torch.cuda.current_device()), "nccl"
    if hasattr(torch, "npu") and torch.npu.is_available():
        torch.npu.set_device(local % torch.npu.device_count())
        return torch.device("npu", torch.npu.current_device()), "hccl"
    return torch.device("cpu"), "gloo"


def _measure(torch: Any, device: Any, seconds: float) -> Result:
    """Products of the same two matrices are the same to the last bit, and a copy equals its source."""
    maker = torch.Generator().manual_seed(20261101)
    side = SIDE if device.type != "cpu" else SIDE // 4
    left, right = (torch.rand(side, side, generator=maker).to(device) for _ in range(2))
    first = left @ right
    source = torch.arange(COPY_BYTES // 4, dtype=torch.int32).to(device)

    def multiply() -> bool:
        return bool(torch.equal(left @ right, first))

    def copy() -> bool:
        return bool(torch.equal(source.clone(), source))

    products, product_s, same = _repeat(seconds / 2, multiply)
    copies, copy_s, equal = _repeat(seconds / 2, copy)
    speeds = {
        "matmul_gflop_s": products * 2 * side**3 / product_s / 1e9,
        "copy_mb_s": copies * COPY_BYTES / copy_s / 1e6,
    }
    return speeds, {name for name, fine in (("matmul", same), ("copy", equal)) if not fine}


def _all_reduce(torch: Any, device: Any, seconds: float, world: int) -> Result:
    """Every rank gives its number plus one: the sum is known. All do as many rounds as rank 0 has time for."""
    rank = torch.distributed.get_rank()
    given = torch.full((REDUCED // 4,), float(rank + 1), device=device)
    expected = float(world * (world + 1) // 2)

    def reduce() -> bool:
        total = given.clone()
        torch.distributed.all_reduce(total)
        return bool((total == expected).all())

    _, warm_s, fine = _repeat(0.0, reduce)
    rounds = torch.tensor([max(3, min(1000, int(seconds / (warm_s / 3))))], device=device)
    torch.distributed.broadcast(rounds, 0)
    began = time.perf_counter()
    for _ in range(int(rounds.item())):
        fine = reduce() and fine
    took = max(time.perf_counter() - began, 1e-9)
    return {"allreduce_mb_s": int(rounds.item()) * REDUCED / took / 1e6}, set() if fine else {"allreduce"}


if __name__ == "__main__":
    sys.exit(main())
