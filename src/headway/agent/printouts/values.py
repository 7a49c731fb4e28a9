"""What a printed field holds: a number in our unit, or a word that says why there is none. Decides no meaning.

Units out: percent, MiB, degrees Celsius, watts. MB is taken as MiB, as the makers' tools mean it.
"""

from __future__ import annotations

import re

_NOTHING = re.compile(
    r"n/a|na|-{1,3}|/|n/s|unsupported|not_(?:supported|found|available|applicable)|function_not_found|none|null|nan|不支持|无",
    re.IGNORECASE,
)
_ERRORS = (
    "err!",
    "err",
    "error",
    "failed",
    "read error",
    "unknown error",
    "unknown_error",
    "gpu is lost",
    "lost",
    "gpu requires reset",
    "requires reset",
    "insufficient permissions",
    "unknown",
)
_BLOTTED = re.compile(r"[*?#x█▒░]{2,}(?:\s*[a-z%°]{1,3})?")
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_MIB = {
    "b": 1 / 1048576,
    "byte": 1 / 1048576,
    "bytes": 1 / 1048576,
    "k": 1 / 1024,
    "kb": 1 / 1024,
    "kib": 1 / 1024,
    "m": 1.0,
    "mb": 1.0,
    "mib": 1.0,
    "g": 1024.0,
    "gb": 1024.0,
    "gib": 1024.0,
    "t": 1048576.0,
    "tb": 1048576.0,
    "tib": 1048576.0,
}


def is_absent(text: str) -> bool:
    """Whether the tool says that it has no such value (`N/A`, `-`, `[Not Supported]`)."""
    return bool(_NOTHING.fullmatch(text.strip().strip("[]").strip().replace(" ", "_")))


def is_error(text: str) -> bool:
    """Whether the tool tried and could not read it (`ERR!`, `[Unknown Error]`, blotted out)."""
    word = text.strip().strip("[]").strip().lower()
    return word in _ERRORS or bool(_BLOTTED.fullmatch(word))


def number(text: str) -> float | None:
    """The number a field begins with (`24.87 W`, `56631/ 65536`, `84C`), whole ones as int; None: it holds none."""
    found = _NUMBER.match(text.strip())
    if found is None:
        return None
    word = found.group().replace(",", "")
    try:
        return int(word)
    except ValueError:
        return float(word)


def unit(text: str) -> str:
    """What follows the number, in small letters, without what follows a slash."""
    text = text.strip()
    found = _NUMBER.match(text)
    return "" if found is None else text[found.end() :].partition("/")[0].strip().lower()


def mebibytes(text: str, assumed: str = "mib") -> float | None:
    """An amount of memory in MiB; `assumed`: its unit where none is printed."""
    value = number(text)
    if value is None:
        return None
    factor = _MIB.get(unit(text) or assumed, 1.0)
    return value if factor == 1.0 else whole(value * factor)


def watts(text: str) -> float | None:
    """A power in watts."""
    value = number(text)
    return value if value is None or unit(text) != "mw" else whole(value / 1000)


def celsius(text: str) -> float | None:
    """A temperature; one in Fahrenheit is converted."""
    value = number(text)
    return value if value is None or unit(text) not in ("f", "°f") else round((value - 32) / 1.8, 2)


def percent(text: str) -> float | None:
    """A share in percent."""
    return number(text)


def whole(value: float) -> float:
    """The same number, as int where it is one."""
    return int(value) if value == int(value) else value


def pair(text: str) -> tuple[str, str]:
    """`used / total` as two texts; the second is empty where there is no slash. `N/A` alone is no pair."""
    text = text.strip()
    inside = re.match(r"(N/A|NA|n/a|[^/]*?)\s*/\s*(\S.*)$", text)
    if inside is None or is_absent(text):
        return text, ""
    return inside.group(1).strip(), inside.group(2).strip()
