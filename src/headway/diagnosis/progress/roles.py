"""Gives the fields of a line their roles: step, total, epoch, loss, time of a step, time left. The best name wins."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache

from headway.diagnosis.progress import wording
from headway.diagnosis.progress.fields import Field
from headway.diagnosis.progress.quantities import SECONDS, duration, whole
from headway.diagnosis.progress.quantities import seconds_per_step as rate_of

SPLIT = re.compile(r"[\s/_.\-]+")
LONGEST_NAME = 200
"""Characters above which a key is no name."""
LONGEST_KEY = 6
"""Words of a key that are looked at."""
BARE = frozenset({"loss", "time", "seconds", "left", "total loss", "cost", "up", "it"})
"""Names that often are the end of another: they count alone, behind words of training, or behind a logger's words."""
HOURS = frozenset({"h", "min", "m"})
"""A time in these is a run's, not a step's."""
KEYLESS = 10
"""The rank of a count that has no name and stands right behind an epoch."""


class Roles:
    """What each field of one line is; None: nothing has that role."""

    def __init__(self, fields: list[Field], text: str) -> None:
        self.text = text
        self.step: int | None = None
        self.total: int | None = None
        self.epoch: float | None = None
        self.loss: float | None = None
        self.seconds: float | None = None
        self.eta: float | None = None
        self.has_evidence = self.has_evaluation = self.is_summary = self.has_part = False
        self.ranks = {"step": 0.0, "epoch": 0.0, "loss": 0.0, "seconds": 0.0}
        self._parts: list[float] = []
        self._leading: Field | None = None
        self._is_behind_evaluation = self._is_bare_time = False
        before: Field | None = None
        for one in fields:
            self._place(one, before)
            before = one
        self._settle()

    def _settle(self) -> None:
        """What only the whole line tells."""
        if self.loss is None and len(self._parts) == 1:
            self.loss = self._parts[0]
        if self.step is None and self._leading is not None and self.loss is not None:
            self.step, self.total = whole(self._leading.value), whole(self._leading.total)
        if self.step is None and self._is_bare_time:
            self.seconds = None

    def _place(self, one: Field, before: Field | None) -> None:
        key = one.key
        if not key:
            self._place_keyless(one, before)
            return
        if len(key) > LONGEST_NAME:
            return
        parts = _split(key, one.note)
        self.is_summary = self.is_summary or key.startswith(("train runtime", "train samples per second"))
        if parts & wording.EVALUATION or any(part.startswith(("eval", "valid")) for part in parts):
            self.has_evaluation = True
            self._is_behind_evaluation = self._is_behind_evaluation or self.loss is None
            return
        if self._is_eta(one) or self._is_pace(one) or self._is_loss(one, parts):
            return
        if not parts & wording.NOT_A_COUNTER or key in wording.STEP:
            self._count(one)
        elif key in wording.TOTAL_STEPS and (one.is_assigned or key.startswith("total step")):
            self.total = self.total if self.total is not None else whole(one.value)
        self.has_evidence = self.has_evidence or _is_evidence(key)

    def _place_keyless(self, one: Field, before: Field | None) -> None:
        key = before.words[-1] if before is not None and before.words else ""
        is_behind_epoch = key in wording.EPOCH or key in ("train", "training")
        if one.total is not None and is_behind_epoch and before is not None and self.ranks["step"] < KEYLESS:
            self.step, self.total, self.ranks["step"] = whole(one.value), whole(one.total), KEYLESS
            self.epoch = before.value if self.epoch is None else self.epoch
        elif before is None and one.total is not None:
            self._leading = one
        elif "/" in one.unit and self.seconds is None:
            self.seconds = rate_of(f"{one.value or 0:.12f}{one.unit}")

    def _count(self, one: Field) -> None:
        value, epoch = whole(one.value), one.value
        if (named := _worth(one, "step")) is not None:
            rank = named + (wording.WITH_TOTAL if one.total is not None else 0)
            if value is not None and rank > self.ranks["step"]:
                self.step, self.ranks["step"] = value, rank
                self.total = whole(one.total) if one.total is not None else self.total
        elif (named := _worth(one, "epoch")) is not None and named > self.ranks["epoch"]:
            self._count_epoch(epoch, named)

    def _count_epoch(self, epoch: float | None, rank: float) -> None:
        if epoch is not None and math.isfinite(epoch) and 0 <= epoch < 1e9:
            self.epoch, self.ranks["epoch"] = epoch, rank

    def _is_loss(self, one: Field, parts: frozenset[str]) -> bool:
        key, value = one.key, one.value
        if "loss" not in key and key not in wording.LOSS:
            return False
        self.has_part = self.has_part or ("loss" in key and value is not None)
        if parts & wording.NO_LOSS or value is None:
            return "loss" in key
        if self._is_behind_evaluation and key == "loss" and not one.note:
            return True
        named = _worth(one, "loss")
        if named is None and SPLIT.split(key)[-1].endswith("loss"):
            self._parts.append(value)
        elif named is not None and named > self.ranks["loss"]:
            self.loss, self.ranks["loss"] = value, named
        return True

    def _is_pace(self, one: Field) -> bool:
        value = one.value
        if one.note in wording.RATES and "speed" in one.key:
            self.seconds = 1 / value if value and value > 0 else None
            return True
        if _worth(one, "rate") is not None or (one.key == "speed" and one.unit in wording.RATES):
            if value and value > 0 and self.seconds is None:
                self.seconds = 1 / value
            return True
        named = _worth(one, "seconds")
        if named is None or one.is_clock or not value or value < 0 or one.unit in HOURS:
            return named is not None
        if named > self.ranks["seconds"]:
            self.seconds, self.ranks["seconds"] = value * _unit(one), named
            self._is_bare_time = one.key in wording.BARE_TIMES
        return True

    def _is_eta(self, one: Field) -> bool:
        unit = _worth(one, "eta")
        if unit is not None and self.eta is None:
            self.eta = duration(self.text[one.start : one.start + 48], SECONDS.get(one.note, unit))
        return unit is not None


@lru_cache(maxsize=8192)
def _split(key: str, note: str) -> frozenset[str]:
    return frozenset(SPLIT.split(key)) | frozenset(SPLIT.split(note))


def _unit(one: Field) -> float:
    """Seconds of the unit behind the number, in brackets, or in the name itself."""
    for word in (one.unit, one.note.split("/")[0], one.key.rsplit(" ", 1)[-1], one.key.split("/")[0]):
        if word in SECONDS:
            return SECONDS[word]
    return 1.0


TABLES: Mapping[str, Mapping[str, float]] = {
    "step": wording.STEP,
    "epoch": wording.EPOCH,
    "loss": wording.LOSS,
    "seconds": wording.SECONDS,
    "eta": wording.ETA,
    "rate": dict.fromkeys(wording.RATES, 1.0),
}


def _worth(one: Field, table: str) -> float | None:
    """The worth of the longest end of a key that is a name of a table; None: no end is."""
    return _worth_of(one.words[-LONGEST_KEY:], one.is_leading, table)


@lru_cache(maxsize=8192)
def _worth_of(words: tuple[str, ...], is_leading: bool, table: str) -> float | None:
    names = TABLES[table]
    for at in range(len(words)):
        name = " ".join(words[at:])
        if name in names and (at == 0 or name not in BARE or is_leading or set(words[:at]) <= wording.FITTING):
            return names[name]
    return None


@lru_cache(maxsize=8192)
def _is_evidence(key: str) -> bool:
    if key in wording.EVIDENCE:
        return True
    words = re.split(r"[ /\-]", key, maxsplit=1)[0], re.split(r"[ /]", key)[-1], " ".join(key.split(" ")[-2:])
    return any(word in wording.EVIDENCE for word in words)
