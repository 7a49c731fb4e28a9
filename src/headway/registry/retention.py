"""Decides which checkpoints of a job may be deleted. Deletes nothing, and when in doubt keeps.

Never: the newest verified one, what somebody needs (pinned, registered, or resumed from by a live attempt), what is
newer than the newest verified one (it may still be verified), and, while nothing at all is verified, anything.
"""

from collections.abc import Collection, Sequence

from headway.domain.checkpoint import Checkpoint, CheckpointState

RESTORABLE = (CheckpointState.SAVED, CheckpointState.VERIFIED)


def expendable(checkpoints: Sequence[Checkpoint], keep: int, needed: Collection[str]) -> tuple[Checkpoint, ...]:
    """The checkpoints of one job that may go, oldest first.

    `keep`: how many of the newest restorable ones stay; `needed`: paths that stay whatever their age. A path that one
    record keeps stays, even if another record of it could go.
    """
    present = sorted((each for each in checkpoints if each.state is not CheckpointState.DELETED), key=_age)
    verified = [each for each in present if each.state is CheckpointState.VERIFIED]
    if not verified:
        return ()
    restorable = [each for each in present if each.state in RESTORABLE]
    kept = {each.path for each in restorable if _age(each) >= _age(verified[-1])}
    kept |= {each.path for each in restorable[max(0, len(restorable) - keep) :]} | set(needed)
    return tuple(each for each in present if each.path not in kept)


def _age(checkpoint: Checkpoint) -> tuple[int, float]:
    return checkpoint.step, checkpoint.saved_at.timestamp()
