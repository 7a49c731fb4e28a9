"""The words by which machines say things: one test per meaning, each a single linear scan of one line."""

import re
from collections.abc import Callable

Test = Callable[[str], bool]


def _any(*patterns: str) -> Test:
    search = re.compile("|".join(patterns)).search
    return lambda text: search(text) is not None


is_follower = _any(
    r"[Cc]onnection closed by (?:remote )?peer",
    r"[Cc]onnection reset by peer",
    r"ConnectionResetError|ConnectionRefusedError|ConnectionAbortedError",
    r"[Bb]roken ?pipe|BrokenPipeError",
    r"remote worker|remote process exit|ncclRemoteError|Socket recv failed",
    r"Watchdog caught collective operation timeout|watchdog thread terminated",
    r"Some NCCL operations have failed or timed out|taking the entire process down",
    r"Timed out waiting \d{1,12}ms for (?:recv|send|unbound)",
    r"failed to recv, got 0 bytes|DistNetworkError|DistStoreError",
    r"SignalException: Process \d{1,9} got signal: 15",
    r"HeartbeatMonitor|EI0002|Notify[_ ]?[Ww]ait",
)
"""What a rank says when another one left it: never the first fault where any other rank has a better claim."""

is_device_memory = _any(
    r"(?:CUDA|NPU|HIP|XPU|MUSA|MLU|GCU) out of memory",
    r"OutOfMemoryError:",
    r"Cuda failure 'out of memory'|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
    r"EL0004",
)
is_garbage_memory = _any(r"Tried to allocate more than 1EB")
"""Printed for a freed communicator, not for want of memory."""

is_kernel_memory_kill = _any(
    r"Out of memory: Kill", r"Memory cgroup out of memory", r"oom[-_]kill|oom_reaper|OOM[Kk]illed|OOM Killed"
)
is_host_memory = _any(
    r"^(?:[\w.]{1,100}\.)?_?(?:Array)?MemoryError\b",
    r"Cannot allocate memory|can't allocate memory|std::bad_alloc",
)
is_loader_killed = _any(
    r"DataLoader worker \(pid(?:\(s\))? [\d, ]{1,200}\) (?:is killed by signal: Killed|exited unex)"
)

is_crash_line = _any(
    r"Fatal Python error:",
    r"Caught signal \d",
    r"Segmentation fault|Bus error|Illegal instruction|Floating point exception",
    r"terminate called",
    r"Assertion [`'].{0,400} failed",
    r"SIG(?:SEGV|BUS|ILL|FPE|ABRT)",
)
is_launch_complaint = _any(
    r"can't open file|No module named|: command not found|: not found$|: Permission denied$",
    r"^[\w./-]{1,200}: error: ",
    r"^Error: (?:Invalid value|No such option|Missing (?:option|argument)|Got unexpected)",
)
is_command_missing = _any(r"No such file or directory|Exec format error|command not found")
is_interrupt = _any(r"^KeyboardInterrupt\b")
