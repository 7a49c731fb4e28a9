"""Whether the machines agree that nothing moves: each rank's processes and card, then the network.

A rank at work, on its processor, card or files, speaks against a stall however silent it is. A rank that polls for its
peers keeps a core and its card busy, but the card draws little: it waits. What is not measured says nothing.
"""

from enum import StrEnum

from headway.diagnosis.stall.signs import Activity, Signs

IDLE_CPU_PERCENT = 10.0
IDLE_CPU_SHARE = 0.25
IDLE_CARD_PERCENT = 5.0
POLLING_CARD_PERCENT = 90.0
POLLING_POWER_SHARE = 0.6
FILES_AT_WORK = 256 * 1024.0
DISK_AT_WORK = 1024 * 1024.0
NETWORK_WORTH_NOTING = 64 * 1024.0
SILENT_NETWORK_SHARE = 0.05
BUSY_NETWORK_SHARE = 0.3
LEARNING = 0.1
STEADY = 5
"""So many moments of stepping make a usual value."""


class Does(StrEnum):
    """What one rank does at one moment."""

    WORKS = "works"
    IDLES = "idles"
    POLLS = "polls"
    HELD = "held"
    UNKNOWN = "unknown"


class Usual:
    """What the ranks and the network do while the attempt makes steps: running means over its own past."""

    def __init__(self) -> None:
        self._means: dict[str, tuple[float, int]] = {}

    def learn(self, signs: Signs) -> None:
        """Note a moment at which steps were made."""
        self._note("network", signs.network_bytes_per_s)
        for rank, activity in signs.ranks.items():
            self._note(f"cpu {rank}", activity.cpu_percent)
            self._note(f"watts {rank}", activity.card_watts)

    def of(self, name: str, rank: int | None = None) -> float | None:
        """The usual `network`, `cpu` or `watts`; None before it is known."""
        mean, seen = self._means.get(name if rank is None else f"{name} {rank}", (0.0, 0))
        return mean if seen >= STEADY else None

    def _note(self, name: str, value: float | None) -> None:
        if value is not None:
            mean, seen = self._means.get(name, (value, 0))
            self._means[name] = (mean + max(LEARNING, 1 / (seen + 1)) * (value - mean), seen + 1)


def rank_does(rank: int, seen: Activity, usual: Usual, disk_at_work: bool) -> Does:
    """What a rank does, by the strongest evidence there is."""
    if seen.stopped:
        return Does.HELD
    on_disk = seen.uninterruptible and not seen.remote
    if (seen.file_bytes_per_s or 0.0) >= FILES_AT_WORK or (on_disk and disk_at_work):
        return Does.WORKS
    if seen.uninterruptible:
        return Does.HELD
    if (card := _card_does(rank, seen, usual)) in (Does.WORKS, Does.POLLS):
        return card
    if seen.cpu_percent is None:
        return card
    idle = max(IDLE_CPU_PERCENT, IDLE_CPU_SHARE * (usual.of("cpu", rank) or 0.0))
    return Does.IDLES if seen.cpu_percent < idle else Does.WORKS


def _card_does(rank: int, seen: Activity, usual: Usual) -> Does:
    if seen.card_percent is None:
        return Does.UNKNOWN
    if seen.card_percent < IDLE_CARD_PERCENT:
        return Does.IDLES
    at_work = usual.of("watts", rank)
    if seen.card_watts is None or at_work is None:
        return Does.UNKNOWN
    if seen.card_watts >= POLLING_POWER_SHARE * at_work:
        return Does.WORKS
    return Does.POLLS if seen.card_percent >= POLLING_CARD_PERCENT else Does.UNKNOWN


def agreeing(signs: Signs, usual: Usual) -> tuple[str, ...] | None:
    """Which evidence agrees that nothing moves (`process`, `card`, `network`); None where any speaks against it."""
    disk_at_work = (signs.disk_bytes_per_s or 0.0) >= DISK_AT_WORK
    doing = {rank: rank_does(rank, seen, usual, disk_at_work) for rank, seen in signs.ranks.items()}
    network = _network(signs, usual)
    if any(signs.ranks[rank].stopped for rank in doing):
        return ("process",)
    if Does.WORKS in doing.values() or network is Does.WORKS:
        return None
    found = []
    known = {does for does in doing.values() if does is not Does.UNKNOWN}
    if known and Does.UNKNOWN not in doing.values():
        found.append("card" if Does.POLLS in known else "process")
    if network is Does.IDLES:
        found.append("network")
    return tuple(found)


def _network(signs: Signs, usual: Usual) -> Does:
    """Whether the network fell silent; it says nothing where it never carried much."""
    now, before = signs.network_bytes_per_s, usual.of("network")
    if now is None or before is None or before < NETWORK_WORTH_NOTING:
        return Does.UNKNOWN
    if now < SILENT_NETWORK_SHARE * before:
        return Does.IDLES
    return Does.WORKS if now >= BUSY_NETWORK_SHARE * before else Does.UNKNOWN
