"""Decides which split of a service's requests may follow which. Moves nothing: the gateway acts on the routes.

A split is a value; a rollback is a new split with the shares of an earlier one, so that the history says what was live
when.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headway.domain.errors import PlatformError
from headway.domain.service import Share, Split

WHOLE = 100


@dataclass(frozen=True, slots=True)
class Change:
    """When a split was changed, by whom and why."""

    at: datetime
    by: str
    reason: str = ""


def shift(
    current: Split | None, shares: Mapping[str, int], ready: Collection[str], service: str, change: Change
) -> Split:
    """The split that follows `current`.

    Raises `bad-split` unless the weights are whole, 0 or more, add up to 100 and name versions that are ready or in the
    current split; `version-not-ready` if a version without a ready replica would get requests.
    """
    known = {*ready, *(share.version for share in (current.shares if current else ()))}
    for version, weight in shares.items():
        if type(weight) is not int or weight < 0:
            raise _bad(f"shares.{version}", weight, "0, 1, 2 … 100")
        if version not in known and not weight:
            raise _bad("shares", version, ", ".join(sorted(known)) or "—")
    total = sum(shares.values())
    if total != WHOLE:
        raise _bad("shares", total, f"= {WHOLE}")
    _check_ready(service, shares, ready)
    listed = tuple(Share(version, weight) for version, weight in shares.items())
    return Split(service, current.number + 1 if current else 1, listed, change.at, change.by, change.reason)


def rollback(history: Sequence[Split], ready: Collection[str], change: Change) -> Split:
    """The split that goes back to the shares before the present ones, saying which split it undoes.

    `history` in order of number. A split that was rolled back from is never gone back to: rolling back twice goes back
    two splits. Raises `nothing-to-roll-back`, or `version-not-ready` if an earlier version is no longer served.
    """
    line = _line(history)
    if len(line) < 2:
        raise PlatformError("nothing-to-roll-back", service=history[-1].service if history else None)
    present, target = history[-1], line[-2]
    _check_ready(present.service, _weights(target), ready)
    return Split(
        service=present.service,
        number=present.number + 1,
        shares=target.shares,
        at=change.at,
        by=change.by,
        reason=change.reason,
        rollback_of=present.number,
    )


def _line(history: Sequence[Split]) -> list[Split]:
    """The splits that lead to the present one, each different from the one before; what was undone is left out."""
    line: list[Split] = []
    for split in history:
        if split.rollback_of is not None:
            while line and _weights(line[-1]) != _weights(split):
                line.pop()
        if not line or _weights(line[-1]) != _weights(split):
            line.append(split)
    return line


def _weights(split: Split) -> dict[str, int]:
    return {share.version: share.weight for share in split.shares if share.weight}


def _check_ready(service: str, shares: Mapping[str, int], ready: Collection[str]) -> None:
    for version, weight in shares.items():
        if weight and version not in ready:
            raise PlatformError("version-not-ready", service=service, version=version, weight=weight)


def _bad(field: str, value: object, rule: str) -> PlatformError:
    return PlatformError("bad-split", field=field, value=str(value)[:80], rule=rule)
