"""Numbers and durations as frameworks print them, in plain numbers and seconds. None: not a quantity."""

import math
import re

SCALES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
SECONDS = {
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hr": 3600.0,
    "hrs": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
    "d": 86400.0,
    "day": 86400.0,
    "days": 86400.0,
}
STEPS = frozenset(
    [
        "it",
        "its",
        "iter",
        "iters",
        "iteration",
        "iterations",
        "step",
        "steps",
        "ba",
        "batch",
        "batches",
        "update",
        "updates",
        "upd",
        "train_step",
        "ep",
        "epoch",
    ]
)
"""What counts as one step in a rate such as it/s or s/step."""
RATE = re.compile(r"(\d{1,15}(?:\.\d{0,12})?(?:[eE][-+]?\d{1,3})?)\s*([^\W\d]\w{0,20})?/([^\W\d]\w{0,20})")
CLOCK = re.compile(r"(?:(\d{1,6}) days?, ?)?(?:(\d{1,6}):)?(\d{1,4}):(\d\d(?:\.\d{1,6})?)(?![\d:])")
PARTS = re.compile(r"(\d{1,9}(?:\.\d{0,9})?)\s?([a-zµ]{1,12})(?![a-z])\s?,?\s?")


def number(text: str) -> float | None:
    """A number with thousands separators or a scale (97,590; 1.2k), nan and inf included."""
    scale = SCALES.get(text[-1:], 1.0) if len(text) > 1 and text[-2:-1].isdigit() else 1.0
    try:
        return float(text[: -1 if scale != 1.0 else None].replace(",", "")) * scale
    except ValueError:
        return None


def whole(value: float | None) -> int | None:
    """A count: only what is whole, not negative and below 10**15."""
    if value is None or not math.isfinite(value) or value < 0 or value >= 1e15 or value != int(value):
        return None
    return int(value)


def clock(text: str) -> float | None:
    """Seconds of `1:02:03`, `02:03` or `2 days, 1:02:03` at the start of a text."""
    found = CLOCK.match(text)
    if found is None:
        return None
    days, hours, minutes, seconds = found.groups()
    return int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)


def duration(text: str, unit: float = 1.0) -> float | None:
    """Seconds of a duration at the start of a text: a clock, `1h 2m 3s`, or a bare number of `unit`s."""
    if (told := clock(text)) is not None:
        return told
    total, at, is_told = 0.0, 0, False
    while (part := PARTS.match(text, at)) is not None and part.group(2) in SECONDS:
        total, at, is_told = total + float(part.group(1)) * SECONDS[part.group(2)], part.end(), True
    if is_told:
        return total
    bare = re.match(r"\d{1,15}(?:\.\d{0,12})?", text)
    return float(bare.group()) * unit if bare is not None else None


def is_rate(word: str) -> bool:
    """Whether a word such as `samples/sec` or `s/it` is the unit of a rate; `time/iter` is a name."""
    above, slash, below = word.lower().partition("/")
    return bool(slash) and (above in SECONDS or (below in SECONDS and above not in ("time", "lr", "loss", "train")))


def seconds_per_step(text: str) -> float | None:
    """Seconds of one step from a rate such as `10.97it/s`, `1.53s/it` or `43.70ba/s`; None: of anything else."""
    found = RATE.search(text)
    if found is None:
        return None
    value, above, below = float(found.group(1)), found.group(2) or "", found.group(3)
    if below in SECONDS and above.lower() in STEPS:
        return SECONDS[below] / value if value > 0 else None
    return value * SECONDS[above] if above in SECONDS and below.lower() in STEPS else None
