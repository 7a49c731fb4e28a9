"""How many fields of a print-out were read as its truth says; shared by the tests and the benchmark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("HEADWAY_SHARED", Path(__file__).resolve().parents[4] / "shared"))
PRINTOUTS = SHARED / "data" / "probes"
NOT_COMPARED = ("maker", "tool", "command", "driver_version", "source", "basis", "note", "cards", "exit_code")


def compare(found: dict[str, Any], truth: dict[str, Any]) -> tuple[int, list[str]]:
    """How many fields are right, and a sentence for each that is wrong."""
    if len(found["cards"]) != len(truth["cards"]):
        return 0, [f"{len(found['cards'])} cards instead of {len(truth['cards'])}"]
    checks = [(key, found.get(key), value) for key, value in truth.items() if key not in NOT_COMPARED]
    checks.append(("cards", len(found["cards"]), len(truth["cards"])))
    for card, expected in zip(found["cards"], truth["cards"], strict=True):
        checks += [(f"card {expected['index']}: {key}", card.get(key), value) for key, value in _fields(card, expected)]
    wrong = [f"{name}: {got!r} instead of {value!r}" for name, got, value in checks if not _same(got, value)]
    return len(checks) - len(wrong), wrong


def _fields(card: dict[str, Any], expected: dict[str, Any]) -> list[tuple[str, Any]]:
    said = ("unreadable", "not_available")
    return [
        *((key, value) for key, value in expected.items() if key not in said),
        *((k, expected.get(k)) for k in said),
    ]


def _same(got: Any, expected: Any) -> bool:
    """Lists of keys in any order; a process may say more than the truth (its name)."""
    if isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
        if all(isinstance(one, dict) and isinstance(two, dict) for one, two in zip(got, expected, strict=True)):
            return all({key: one.get(key) for key in two} == two for one, two in zip(got, expected, strict=True))
        return sorted(map(str, got)) == sorted(map(str, expected))
    return bool(got == expected)
