"""tqdm bars: HF Trainer, Lightning, Composer, OpenRLHF, accelerate, diffusers, torchtune, ignite, whoever draws one.

A bar's label, unit and postfix say whether it is training's; where they do not, its total does (see `totals`).
"""

import re
from dataclasses import dataclass, replace

from headway.diagnosis.progress import labels
from headway.diagnosis.progress.labels import Kind
from headway.diagnosis.progress.meaning import Meaning, mean
from headway.diagnosis.progress.quantities import clock, number, seconds_per_step, whole
from headway.diagnosis.progress.record import Phase, Reading, Record
from headway.diagnosis.progress.text import without_clocks
from headway.diagnosis.progress.totals import Totals

NUMBER = r"\d{1,12}(?:\.\d{1,6})?[kKMGT]?"
COUNT = rf"(?P<step>{NUMBER})/(?P<total>{NUMBER}|\?)(?P<count_unit>[A-Za-z]{{0,12}})"
BAR = re.compile(
    r"(?:(?P<percent>\d{1,3}(?:\.\d+)?)%)?(?:Completed)? ?\|(?P<blocks>[^|]{0,300})\| *" + COUNT + r"\s{0,4}"
    r"\[(?P<elapsed>[\d:]{4,12}|\?)"
    r"<(?P<left>(?:\d{1,6} days?, )?[\d:]{0,12}|\?)(?:, *(?P<rest>[^\]\n]{0,4000}))?(?:\]|$)"
)
BRACKETED = re.compile(
    r"\[" + COUNT + r"\] {0,4}(?P<percent>\d{1,3})%\|(?P<blocks>[█▏▎▍▌▋▊▉ #0-9]{0,200})(?P<rest>[^\[\n]{0,2000})"
    r"\[(?P<elapsed>[\d:]{4,12})<(?P<left>[\d:]{4,12}|\?)\]"
)
UNBOUNDED = re.compile(
    rf"(?P<step>{NUMBER}) ?(?P<count_unit>[A-Za-z_]{{0,12}}) "
    r"\[(?P<elapsed>[\d:]{4,12}), *(?P<rest>[^\]\n]{0,4000})\]"
)
UNIT = re.compile(r"(?:[\d.]{1,16}|\?) ?(?:s/(?P<per>[A-Za-z]{1,12})|(?P<unit>[^/,\]]{1,14})/s)")
EPOCH_HEAD = re.compile(r"^\s*(\d{1,6})/(\d{1,6})\s")
LETTERS = re.compile(r"[^\W\d_]{3}")
PIPED = re.compile(r"^\s*(\d{1,6})\|(\d{1,9})\|")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A bar found in a piece of text, from `start` (its label included) to `end`."""

    label: str
    step: int | None
    total: int | None
    left: str
    rest: str
    unit: str
    start: int
    end: int


def find(text: str) -> list[Drawn]:
    """The bars of a piece of text, in order."""
    if "[" not in text:
        return []
    found: list[Drawn] = []
    at = 0
    for pattern in (BRACKETED, BAR, UNBOUNDED):
        if pattern is not UNBOUNDED and "|" not in text:
            continue
        for match in pattern.finditer(text):
            found.append(_drawn(text, match, at if pattern is UNBOUNDED else (found[-1].end if found else 0)))
        if found:
            return found
    return found


def _drawn(text: str, match: re.Match[str], after: int) -> Drawn:
    parts = match.groupdict()
    start = text.rfind("\n", after, match.start()) + 1 or after
    rest = parts.get("rest") or ""
    total = parts.get("total")
    return Drawn(
        label=text[start : match.start()],
        step=whole(number(parts["step"])),
        total=None if total in (None, "?") else whole(number(total or "")),
        left=parts.get("left") or "",
        rest=rest,
        unit=_unit(rest, parts.get("count_unit") or ""),
        start=start,
        end=match.end(),
    )


def _unit(rest: str, counted: str) -> str:
    found = UNIT.search(rest)
    if found is None:
        return counted
    return (found.group("per") or found.group("unit") or "").strip()


class Bars:
    """The reader of bars, with the memory of their totals."""

    name = "tqdm"

    def __init__(self, totals: Totals) -> None:
        self.totals = totals

    def read(self, drawn: Drawn) -> Reading:
        """A bar as a record of training, or as what else it is."""
        label = self._label(drawn.label)
        kind, phase = labels.judge(label, drawn.unit)
        if kind == Kind.OTHER:
            return Reading(phase=phase, reader=self.name)
        told = mean(f"{label} | {without_rate(drawn.rest)}")
        is_training = kind == Kind.TRAINING or EPOCH_HEAD.match(label) is not None
        if not is_training:
            is_training = drawn.step is not None and self._is_trainings(drawn, told, LETTERS.search(label) is not None)
        elif drawn.total is None and not drawn.step and told.record.epoch is None:
            is_training = False
        if not is_training:
            return Reading(phase=Phase.EVALUATION if self.totals.training else None, reader=self.name)
        return Reading(self._record(drawn, label, told.record), Phase.TRAINING, self.name)

    def _is_trainings(self, drawn: Drawn, told: Meaning, has_label: bool) -> bool:
        has_loss = told.record.loss is not None
        if has_label and not has_loss and drawn.total not in self.totals.training:
            return False
        if drawn.total is None or drawn.step is None:
            return has_loss
        return self.totals.counts(drawn.step, drawn.total, has_loss)

    def _label(self, label: str) -> str:
        text = without_clocks(label).strip()
        return text.rsplit("}", 1)[-1] if "{" in text else text

    def _record(self, drawn: Drawn, label: str, told: Record) -> Record:
        epoch = told.epoch
        if (head := EPOCH_HEAD.match(label)) is not None or (head := PIPED.match(label)) is not None:
            epoch = float(head.group(1))
        pace = seconds_per_step(drawn.rest.split(", ", 1)[0]) if drawn.rest else None
        return replace(
            told, step=drawn.step, total_steps=drawn.total, epoch=epoch, seconds_per_step=pace, eta_s=clock(drawn.left)
        )


def without_rate(rest: str) -> str:
    """A bar's tail after its rate."""
    head, _, tail = rest.partition(", ")
    return tail if UNIT.search(head) or "?" in head else rest
