"""Memory that ran out: on the device, or on the host."""

from headway.diagnosis import wording
from headway.diagnosis.rules.claim import Claim
from headway.diagnosis.seen import Seen
from headway.diagnosis.verdict import Fault

_KILL = 9


def device(seen: Seen) -> Claim | None:
    """Out of device memory, by the exception that ended the rank; by its log only where no exception is known."""
    if seen.exit.signal == _KILL:
        return None
    if seen.last_words is None:
        line = seen.first(lambda text: wording.is_device_memory(text) and not wording.is_garbage_memory(text))
        return Claim(seen, Fault.DEVICE_OUT_OF_MEMORY, 0.75, detail=line.text, lines=(line,)) if line else None
    if not wording.is_device_memory(seen.last_words) or wording.is_garbage_memory(seen.last_words):
        return None
    return _by_exception(seen, Fault.DEVICE_OUT_OF_MEMORY, 0.95)


def host(seen: Seen) -> Claim | None:
    """Out of host memory: the kernel killed the rank, an allocation failed, or a data loader's worker was killed."""
    if seen.exit.signal == _KILL and not seen.drill:
        return _kernel_kill(seen)
    said = seen.last_words or ""
    if wording.is_host_memory(said):
        return _by_exception(seen, Fault.HOST_OUT_OF_MEMORY, 0.9)
    if wording.is_loader_killed(said):
        return _by_exception(seen, Fault.HOST_OUT_OF_MEMORY, 0.9 if seen.exit.oom_kill else 0.6)
    return None


def _kernel_kill(seen: Seen) -> Claim | None:
    line = seen.first(wording.is_kernel_memory_kill)
    if not (seen.exit.oom_kill or line) or (seen.exit.stopped_by_us and not seen.exit.oom_kill):
        return None
    confidence = 0.95 if seen.exit.oom_kill else 0.8
    return Claim(
        seen,
        Fault.HOST_OUT_OF_MEMORY,
        confidence,
        detail=line.text if line else "the kernel killed it: its memory limit was reached",
        lines=(line,) if line else tuple(seen.lines[-1:]),
    )


def _by_exception(seen: Seen, fault: Fault, confidence: float) -> Claim:
    trace = seen.trace
    return Claim(
        seen,
        fault,
        confidence,
        location=trace.location if trace else None,
        detail=seen.last_words,
        lines=(trace.exception,) if trace else (),
    )
