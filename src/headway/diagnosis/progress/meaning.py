"""What a line means: its record, and whether that is progress of training, an evaluation, a summary or a file's name.

A value is taken from this line only. Numbers of an evaluation are told from those of training by the words around them.
"""

import re
from dataclasses import dataclass

from headway.diagnosis.progress import wording
from headway.diagnosis.progress.fields import Scan, scan
from headway.diagnosis.progress.record import Record
from headway.diagnosis.progress.roles import Roles

STRUCTURE = re.compile(r"\s*(?:\{|\w{1,40}\((?=\w{1,40}=))")
"""A dict, or a call such as `Namespace(epoch=5, …)`: settings, unless a figure is in it."""
LONG = 24
"""Fields of a line that, without a loss, prints settings rather than progress, unless a counter leads it."""
TELLING = 9
"""The rank of names that can mean nothing but the time of a step: such a line needs no counter."""
SIZES = 3
"""The rank up to which a counter's name, such as `batch`, may as well name a size."""
KINDS = ("mode", "split", "stage", "phase", "type", "subset")
"""Keys that say in a structured line which part of a run it is about."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A line's record, and what kind of line it is."""

    record: Record
    size: int
    has_part: bool
    has_evidence: bool
    has_evaluation: bool
    is_about_evaluation: bool
    is_about_files: bool
    is_summary: bool
    is_sanity_check: bool
    is_first_counted: bool
    is_structure: bool
    is_step_time: bool
    is_counted: bool

    @property
    def is_progress(self) -> bool:
        """A counter of training with a figure beside it, not an evaluation, a summary or a file's name."""
        told = self.record
        if self.is_about_evaluation or self.is_about_files or self.is_summary or self._is_settings:
            return False
        if told.loss is None and self.has_evaluation:
            return False
        if told.step is None and told.epoch is None:
            return self.is_step_time or (self.is_structure and told.loss is not None and self.has_evidence)
        return self._has_figure or (self.has_evidence and self.is_counted)

    @property
    def _has_figure(self) -> bool:
        return self.has_part or self.record.seconds_per_step is not None or self.record.eta_s is not None

    @property
    def _is_settings(self) -> bool:
        is_long = self.record.loss is None and self.size >= LONG and not self.is_first_counted
        return is_long or (self.is_structure and not self._has_figure)


def mean(text: str) -> Meaning:
    """The meaning of a line."""
    found = scan(text)
    roles = Roles(found.fields, text)
    before = {word.strip(".-:") for word in found.words}
    is_structure = STRUCTURE.match(text) is not None
    return Meaning(
        record=Record(
            step=roles.step,
            total_steps=roles.total,
            epoch=roles.epoch,
            loss=roles.loss,
            seconds_per_step=roles.seconds,
            eta_s=roles.eta,
        ),
        size=len(found.fields),
        has_part=roles.has_part or roles.loss is not None,
        has_evidence=roles.has_evidence,
        has_evaluation=roles.has_evaluation,
        is_about_evaluation=_is_about_evaluation(found, before, is_structure),
        is_about_files=bool(before & (wording.SAVING | wording.RESTORING | wording.SETTINGS)),
        is_summary=roles.is_summary and all(one.key != "loss" for one in found.fields),
        is_sanity_check="sanity" in before,
        is_first_counted=any(_names_a_counter(one.key) for one in found.fields[:3]),
        is_structure=is_structure,
        is_counted=roles.total is not None or roles.epoch is not None or roles.ranks["step"] > SIZES,
        is_step_time=len(found.fields) == 1 and found.fields[0].is_assigned and roles.ranks["seconds"] == TELLING,
    )


def _is_about_evaluation(found: Scan, before: set[str], is_structure: bool) -> bool:
    if before & wording.RESULTS:
        return True
    said = {value for key, value in found.strings if is_structure and key in KINDS}
    return not before & wording.FITTING and bool((before | said) & wording.EVALUATION)


def _names_a_counter(key: str) -> bool:
    return "step" in key or "iter" in key or "epoch" in key
