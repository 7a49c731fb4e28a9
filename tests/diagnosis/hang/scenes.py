"""Scenes for tests: ranks that wait in a collective, and one that does not, in frames as torch prints them."""

from dataclasses import replace

from headway.diagnosis.hang.scene import Collective, Collectives, ProcessSeen, RankSeen, Scene, StackSeen

_OTHER_THREAD = """Thread 0x00007f39b68db6c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 982 in run

"""
WAITS = (
    _OTHER_THREAD
    + """Current thread 0x00007f39b7430b80 (most recent call first):
  File "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3004 in all_reduce
  File "/v/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 81 in wrapper
  File "/job/train.py", line 40 in train_one
  File "/job/train.py", line 61 in <module>
"""
)
LOADS = (
    _OTHER_THREAD
    + """Current thread 0x00007f39b7430b80 (most recent call first):
  File "/job/data.py", line 12 in read_record
  File "/v/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py", line 52 in fetch
  File "/v/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 790 in _next_data
  File "/job/train.py", line 38 in train_one
  File "/job/train.py", line 61 in <module>
"""
)
SAVES = """Process 13688: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 13688 (idle): "MainThread"
    _save (torch/serialization.py:1203)
    save (torch/serialization.py:967)
    keep (train.py:20)
    <module> (train.py:61)
Thread 13693 (idle): "loader"
    inner (st.py:3)
"""
SLEEPS = SAVES.replace("_save (torch/serialization.py:1203)", "ponder (train.py:9)").replace(
    "    save (torch/serialization.py:967)\n", ""
)


def rank(number: int, text: str | None = WAITS, state: str = "S", enqueued: int | None = None) -> RankSeen:
    """A rank in a stack, with so many collectives enqueued (None: no recorder)."""
    process = ProcessSeen(pid=100 + number, state=state, command="python")
    stacks = () if text is None else (StackSeen(process.pid, "faulthandler", text),)
    return RankSeen(number, (process,), stacks, None if enqueued is None else recorder(enqueued))


def recorder(enqueued: int, size: str = "[[10]]") -> Collectives:
    """A flight recorder of one group."""
    newest = tuple(
        Collective(["0", "default_pg"], seq, 0, False, "gloo:all_reduce", True, seq * 10**9, size)
        for seq in range(max(1, enqueued - 5), enqueued + 1)
    )
    return Collectives({"0": {"last_enqueued_collective": str(enqueued)}}, newest)


def scene(*ranks: RankSeen, node: str = "n1", **more: object) -> Scene:
    """One node's scene."""
    return replace(Scene(node, "look-1", 1.8e9, ranks=ranks), **more)  # type: ignore[arg-type]
