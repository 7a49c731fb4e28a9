"""Records that take several lines: Composer's and LLM Foundry's `[batch=1/48000]:`, OLMo's `[step=10/1000]`, each with
indented figures below; and MindFormers' second line, which holds only the time left."""

import re
from dataclasses import dataclass, field, replace

from headway.diagnosis.progress.meaning import mean
from headway.diagnosis.progress.quantities import clock, whole
from headway.diagnosis.progress.record import Phase, Reading, Record

HEAD = re.compile(
    r"\s*\[(?:(?P<kind>[A-Za-z]{1,12}) )?(?:batch|step)=(?P<step>\d{1,12})(?:/(?P<total>\d{1,12}))?"
    r"(?P<more>(?:,\s*\w{1,16}=[^,\]]{1,32}){0,4})\]"
)
INSIDE = re.compile(r"(?:\s*(?:Train|Eval)\s+(?=\w{1,40}[/:-])|\s{2,})\S.{0,200}[:=]\s*\S")
COUNTERS = re.compile(r"time/(?!epoch|remaining_estimate)")
"""Composer's clocks count batches, samples and tokens: `time/batch: 365` is no time."""
EVALUATION = re.compile(r"\s*(?:\[Eval |Eval )")
MINDFORMERS = re.compile(
    r"\d{1,3}\.\d%\s{1,4}\|[^|]{0,120}\|\s{1,4}\d[\d.]{0,12} samples/s/p\s{1,4}(?P<left>\d{1,6}:\d\d:\d\d)"
)


@dataclass
class Blocks:
    """Collects the lines of one block and gives its record when the block ends."""

    name = "composer"
    head: Record | None = None
    lines: list[str] = field(default_factory=list)

    def takes(self, text: str) -> bool:
        """Whether a line belongs to the open block."""
        return self.head is not None and INSIDE.match(text) is not None and EVALUATION.match(text) is None

    def add(self, text: str) -> None:
        """Keep a line of the open block."""
        told = text.strip().removeprefix("Train ")
        if COUNTERS.match(told) is None:
            self.lines.append(told)

    def opens(self, text: str) -> Reading | None:
        """A block's first line: an evaluation's is read at once, training's when its block ends."""
        found = HEAD.match(text)
        if found is None:
            return None
        if (found["kind"] or "train").lower() not in ("train", "batch"):
            return Reading(phase=Phase.EVALUATION, reader=self.name)
        more = mean(found["more"].strip(", ")).record
        self.head = replace(
            more, step=int(found["step"]), total_steps=whole(float(found["total"])) if found["total"] else None
        )
        self.lines = []
        if rest := text[found.end() :].strip(" :"):
            self.add(rest)
        return Reading(phase=Phase.TRAINING, reader=self.name)

    def place(self, line: int, segment: int | None) -> None:
        """Where the block began."""
        if self.head is not None:
            self.head = self.head.at(line, segment)

    def close(self) -> Reading | None:
        """The record of the block that ended; a head without a figure below is none."""
        head, lines, self.head, self.lines = self.head, self.lines, None, []
        if head is None or not lines:
            return None
        told = mean(" | ".join(lines)).record
        made = replace(
            head,
            epoch=head.epoch if head.epoch is not None else told.epoch,
            loss=told.loss,
            seconds_per_step=told.seconds_per_step,
            eta_s=head.eta_s if head.eta_s is not None else told.eta_s,
        )
        return Reading(made, Phase.TRAINING, self.name)


def mindformers(text: str) -> Reading | None:
    """The second line of a MindFormers step."""
    found = MINDFORMERS.search(text) if "samples/s/p" in text else None
    return None if found is None else Reading(Record(eta_s=clock(found["left"])), Phase.TRAINING, "mindspore")
