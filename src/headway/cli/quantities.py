"""Numbers, times and sizes as people read them: a unit always, `—` for what is not known, 0 for nothing."""

import re
from datetime import datetime, timedelta
from typing import Final

from headway.cli.language import say

UNKNOWN: Final = "—"
MINUTE, HOUR, DAY = 60, 3600, 86400
ISO_DURATION: Final = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>[\d.]+)S)?)?", re.ASCII
)
TYPED_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")
SECONDS: Final = {"": 1, "s": 1, "m": MINUTE, "h": HOUR, "d": DAY}


def whole(value: float | None) -> str:
    """`1,234`."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def decimal(value: float | None, digits: int = 3) -> str:
    """`0.693`."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def pace(steps_per_s: float | None) -> str:
    """`3.20 steps/s`."""
    return UNKNOWN if steps_per_s is None else say("unit.pace", value=f"{steps_per_s:,.2f}")


def steps(step: int | None, total: int | None) -> str:
    """`120/200`; without a total, `120`."""
    return whole(step) if total is None else f"{whole(step)}/{whole(total)}"


def duration(seconds: float | None) -> str:
    """`8.2 s`, `4m 05s`, `2h 03m`, `3d 4h`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 10:
        return say("unit.seconds", value=f"{seconds:.1f}")
    left = round(seconds)
    if left < MINUTE:
        return say("unit.seconds", value=left)
    if left < HOUR:
        return say("unit.minutes", minutes=left // MINUTE, seconds=left % MINUTE)
    if left < DAY:
        return say("unit.hours", hours=left // HOUR, minutes=left % HOUR // MINUTE)
    return say("unit.days", days=left // DAY, hours=left % DAY // HOUR)


def iso_duration(text: str | None) -> str:
    """A duration as JSON has it (`PT30S`)."""
    found = ISO_DURATION.fullmatch(text or "")
    if found is None:
        return text or UNKNOWN
    parts = {unit: float(value) for unit, value in found.groupdict().items() if value}
    return duration(sum(value * SECONDS[unit] for unit, value in parts.items()))


def seconds_of(text: str) -> float:
    """Seconds in `90`, `90s`, `30m`, `2h`, `1d`. Raises ValueError."""
    found = TYPED_DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return float(found[1]) * SECONDS[found[2]]


def moment_of(text: str) -> str:
    """A moment as people type it, as JSON wants it. Raises ValueError."""
    typed = text.strip()
    if typed.startswith("+"):
        return (datetime.now().astimezone() + timedelta(seconds=seconds_of(typed[1:]))).isoformat(timespec="seconds")
    return datetime.fromisoformat(typed).astimezone().isoformat(timespec="seconds")


def parse(moment: str) -> datetime:
    """A moment as JSON has it, in the reader's zone."""
    return datetime.fromisoformat(moment).astimezone()


def moment(text: str | None) -> str:
    """`2026-12-01 14:20:05 +08:00`, in the reader's zone."""
    return UNKNOWN if text is None else parse(text).isoformat(" ", "seconds").replace("+", " +")


def clock(text: str | None) -> str:
    """`12-01 14:20`, for columns whose heading names the zone."""
    return UNKNOWN if text is None else parse(text).strftime("%m-%d %H:%M")


def zone() -> str:
    """The reader's zone, `+08:00`."""
    return datetime.now().astimezone().isoformat()[-6:]


def size(count: float | None) -> str:
    """`1.5 MiB`."""
    if count is None:
        return UNKNOWN
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def device_seconds(count: int | None) -> str:
    """`1,234 device-seconds`."""
    return UNKNOWN if count is None else say("unit.device-seconds", value=whole(count))


def share(part: float | None) -> str:
    """0..1 as `95 %`."""
    return UNKNOWN if part is None else f"{part:.0%}"


def short(digest: str | None) -> str:
    """The first twelve letters of a digest."""
    return digest[:12] if digest else UNKNOWN
