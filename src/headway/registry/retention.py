"""Decides which checkpoints of a job may go, by its policy and by how soon the disk is full. Deletes nothing.

Kept, whatever a policy or a full disk says: the newest that verified and everything newer, what a model version, a
resume or a reader needs, what somebody pinned, and what did not verify (it is evidence, and nobody's copy to count on).
Only what verified counts as one of the last, of every K steps or of the best.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.job import CheckpointPolicy

WARN_BELOW = 5
"""Somebody is told when the disk takes fewer saves than this."""
THIN_BELOW = 2
"""Checkpoints the policy keeps go, too, when the disk takes fewer saves than this."""


class Why(StrEnum):
    """Why a checkpoint is kept; in order of strength, strongest first."""

    NEWEST = "newest"
    UNVERIFIED = "unverified"
    VERSION = "version"
    RESUME = "resume"
    PINNED = "pinned"
    BEST = "best"
    EVERY = "every"
    LAST = "last"


GIVES_WAY = (Why.LAST, Why.EVERY, Why.BEST)
"""What a disk that is nearly full takes first, first to last."""


class Cause(StrEnum):
    """Why a checkpoint goes."""

    POLICY = "policy"
    SPACE = "space"


@dataclass(frozen=True, slots=True)
class Space:
    """The file system of a job's checkpoints: bytes free, bytes one more save takes, and how often one is made.

    `others_bytes_per_s`: how fast it fills beside these saves. `every` None: not known.
    """

    free_bytes: int
    save_bytes: int
    every: timedelta | None = None
    others_bytes_per_s: float = 0.0

    @property
    def saves_left(self) -> float:
        """How many more saves fit before it is full; infinite where nothing grows."""
        if self.save_bytes <= 0:
            return math.inf
        grows = self.others_bytes_per_s * self.every.total_seconds() if self.every else 0.0
        return self.free_bytes / (self.save_bytes + grows)

    @property
    def full_in(self) -> timedelta | None:
        """When it is full if nothing is deleted; None: not within a year, or not known."""
        left = self.saves_left
        if self.every is None or not math.isfinite(left):
            return None
        seconds = left * self.every.total_seconds()
        return timedelta(seconds=seconds) if seconds < 365 * 86400 else None


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes, oldest first, with its cause, and by path why each other one is kept.

    Somebody is told where the disk takes fewer than `warn_below` more saves.
    """

    goes: tuple[tuple[Checkpoint, Cause], ...] = ()
    kept: Mapping[str, Why] = field(default_factory=dict)
    space: Space | None = None
    warn_below: int = WARN_BELOW

    @property
    def short(self) -> bool:
        """Whether somebody should be told that the disk takes few more."""
        return self.space is not None and self.space.saves_left < self.warn_below


def retain(
    checkpoints: Iterable[Checkpoint],
    policy: CheckpointPolicy,
    needed: Mapping[str, Why] | None = None,
    metrics: Mapping[int, float] | None = None,
    space: Space | None = None,
) -> Decision:
    """Which of a job's checkpoints go. `needed`: by path, what must stay and why; `metrics`: the policy's, by step."""
    present = sorted(
        (each for each in checkpoints if each.state is not CheckpointState.DELETED),
        key=lambda each: (each.step, each.saved_at),
    )
    kept = _kept(present, policy, needed or {}, metrics or {})
    goes = [(each, Cause.POLICY) for each in present if each.path not in kept]
    if space is not None and space.saves_left < THIN_BELOW:
        goes += _thin(present, kept, space, sum(each.bytes for each, _ in goes))
    paths = {each.path for each, _ in goes}
    goes.sort(key=lambda gone: (gone[0].step, gone[0].saved_at))
    stays = {path: why for path, why in kept.items() if path not in paths}
    return Decision(tuple(goes), stays, space)


def left_alone(checkpoints: Iterable[Checkpoint], policy: CheckpointPolicy, space: Space | None) -> Decision:
    """Where the in-job SDK keeps the last few by itself, or a framework does as it likes: nothing goes by us.

    The SDK's saves take no more room once it keeps `policy.keep`: then one in the making, and one to be told in time.
    """
    present = [each for each in checkpoints if each.state is not CheckpointState.DELETED]
    if any(each.format for each in present):
        return Decision(space=space)
    return Decision(space=space, warn_below=min(WARN_BELOW, max(0, policy.keep - len(present)) + 2))


def _kept(
    present: Sequence[Checkpoint], policy: CheckpointPolicy, needed: Mapping[str, Why], metrics: Mapping[int, float]
) -> dict[str, Why]:
    """By path, the strongest reason to keep it."""
    verified = [each for each in present if each.state is CheckpointState.VERIFIED]
    newest = verified[-1] if verified else None
    kept = {each.path: Why.LAST for each in verified[-policy.keep :]}
    if policy.keep_every_steps is not None:
        kept |= {each.path: Why.EVERY for each in verified if each.step % policy.keep_every_steps == 0}
    kept |= {each.path: Why.BEST for each in _best(verified, policy, metrics)}
    kept |= {each.path: why for each in present if (why := needed.get(each.path)) is not None}
    kept |= {each.path: Why.UNVERIFIED for each in present if each.state is not CheckpointState.VERIFIED}
    return kept | ({newest.path: Why.NEWEST} if newest is not None else {})


def _best(verified: Sequence[Checkpoint], policy: CheckpointPolicy, metrics: Mapping[int, float]) -> list[Checkpoint]:
    """The best by the policy's metric, of equals the newest; a step without a finite value is none of them."""
    sign = -1 if policy.highest else 1
    measured = [each for each in verified if math.isfinite(metrics.get(each.step, math.nan))]
    measured.sort(key=lambda each: (sign * metrics[each.step], -each.step))
    return measured[: policy.keep_best]


def _thin(
    present: Sequence[Checkpoint], kept: Mapping[str, Why], space: Space, freed: int
) -> list[tuple[Checkpoint, Cause]]:
    """Kept ones that go, until the disk takes `THIN_BELOW` saves again: oldest of the least needed kind first."""
    wanted = space.save_bytes * THIN_BELOW - space.free_bytes - freed
    goes: list[tuple[Checkpoint, Cause]] = []
    for kind in GIVES_WAY:
        for each in present:
            if wanted <= 0:
                return goes
            if kept.get(each.path) is kind:
                goes.append((each, Cause.SPACE))
                wanted -= each.bytes
    return goes
