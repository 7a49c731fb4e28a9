"""Whether a retest passed: its numbers beside the stored reference of the same shape.

A shape is the pool, how many nodes and how many cards on each: numbers of another shape are never compared.
"""

from dataclasses import dataclass, field
from enum import StrEnum

TOLERANCE = 0.1
"""How far a speed may stay below the reference: repeated runs of healthy nodes differ by a few percent."""


class Outcome(StrEnum):
    """How a retest ended. `inconclusive`: it ran, but there is nothing to compare with."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class RetestShape:
    """What makes two retests comparable; `program` names the program and its version."""

    engine: str
    device_type: str
    nodes: int
    devices_per_node: int
    program: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.device_type}/{self.nodes}x{self.devices_per_node}/{self.program}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What the program measured: speeds (more is better) by name, and the checks of results that came out wrong."""

    speeds: dict[str, float] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One number beside its reference; `share` is measured over reference."""

    name: str
    measured: float
    reference: float

    @property
    def share(self) -> float:
        return self.measured / self.reference

    @property
    def is_low(self) -> bool:
        return self.share < 1 - TOLERANCE


@dataclass(frozen=True, slots=True)
class Judgement:
    """`wrong`: checks with wrong results; `missing`: numbers that the reference has and the retest has not."""

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    wrong: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def judge(measured: Measured | None, reference: dict[str, float] | None) -> Judgement:
    """None measured: the program did not come to its end, which fails. A wrong result fails whatever the speeds."""
    if measured is None:
        return Judgement(Outcome.FAILED)
    if measured.wrong:
        return Judgement(Outcome.FAILED, wrong=measured.wrong)
    if not reference:
        return Judgement(Outcome.INCONCLUSIVE)
    known = [name for name in sorted(reference) if name in measured.speeds]
    findings = tuple(Finding(name, measured.speeds[name], reference[name]) for name in known)
    missing = tuple(name for name in sorted(reference) if name not in measured.speeds)
    passed = not missing and not any(finding.is_low for finding in findings)
    return Judgement(Outcome.PASSED if passed else Outcome.FAILED, findings, missing=missing)
