"""The course of a job: where it makes progress, where it ended, and whether it went on after something that was said.

Reads no figures; it only has to tell a training step from other lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.reading.entry import Entry

_STEP = re.compile(
    r"(?i)\b(?:step|steps|iter(?:ation)?s?|it|batch|global_step|update|"
    r"epoch)\b[\]:=\s|/#]{0,6}\[?\s{0,8}\d|\d{1,9}/\d{1,9} \[\d{1,3}:\d\d|"
    r"\bloss\b['\":= ]{1,4}-?\d|(?:it/s|s/it|examples/s|tokens/s)\b|步数|轮次|第 ?\d+ ?步"
)
_LONG = re.compile(
    r"(?i)tokeniz|running tokenizer|\bmap(?:ping)?\b.{0,30}(?:num_proc|"
    r"examples)|converting format|preprocess|pre-process|packing|grouping texts|"
    r"building .{0,40}(?:index|indices|dataset)|"
    r"compil|saving .{0,40}(?:checkpoint|state|model|optimizer)|filtering|"
    r"generating (?:train|split)|downloading|copying|loading checkpoint shards|"
    r"warm-?up|dataset map|分词|预处理|编译|保存检查点|生成索引"
)
_BARRIER = re.compile(r"(?i)main_process_first|barrier|wait_for_everyone|torch_distributed_zero_first|zero_first")
_DONE = re.compile(
    r"(?i)training (?:is )?(?:completed?|finished|done)|train_runtime|"
    r"finished training|训练(?:已)?(?:完成|结束)|job (?:completed|finished|"
    r"succeeded)|all done|exited? (?:with )?(?:code|status)[ :=]{0,2}0\b|"
    r"\bsucceeded\b|reached max_steps|`trainer\.fit` stopped: `max|"
    r"end of training|completed successfully|successfully completed|exit code 0|run complete"
)
_SILENT = re.compile(
    r"(?i)\(?(?:no (?:further )?(?:output|line|log)|log silent|silent|无输出|没有输出|日志停止)[^)]{0,80}"
)
_BEGUN = re.compile(
    r"(?i)\b(?:step|iter(?:ation)?|it)\b[\]:=\s|/#]{1,6}\[?\s{0,8}[1-9]|"
    r"\bloss\b['\":= ]{1,4}-?\d|(?<!\d)[1-9]\d{0,8}/\d{1,9} \[\d{1,3}:\d\d.{0,30}(?:it/s|s/it)"
)
_BAR = re.compile(r"(?P<n>\d{1,9})/(?P<of>\d{1,9}) \[(?:(?P<h>\d{1,3}):)?(?P<m>\d{1,3}):(?P<s>\d\d)<")
STANDS_S = 300.0
"""Seconds of its own clock through which a bar that still shows the same count stands still."""


@dataclass(frozen=True, slots=True)
class Course:
    """`steps`: entries that show training going on; `is_done`: the job says that it came to its end."""

    steps: tuple[Entry, ...]
    long: tuple[Entry, ...]
    done: tuple[Entry, ...]
    silent: tuple[Entry, ...]
    begun: bool

    @property
    def runs(self) -> bool:
        """Whether training went on for a while: three different steps, anywhere."""
        return len({entry.text for entry in self.steps}) >= 3

    def ended_before(self, claim: Claim) -> bool:
        """Whether the job said in the same file, before, that it came to its end."""
        file, number = claim.place
        return any(entry.file == file and entry.number < number for entry in self.done)

    def goes_on_after(self, claim: Claim) -> bool:
        """Whether the one who said it went on training: three different steps after it, or a good end."""
        file, number = claim.place
        after = [
            e
            for e in self.steps
            if e.file == file
            and e.number > number
            and (claim.rank is None or e.rank in (claim.rank, None))
            and not _LONG.search(e.text)
        ]
        ended_well = any(e.file == file and e.number > number for e in self.done)
        return len({e.text for e in after}) >= 3 or ended_well

    def goes_on_later(self, claim: Claim) -> bool:
        """Whether training goes on at a later time in any file: for what a machine, not a rank, says."""
        if claim.at is None:
            return False
        later = {e.text for e in self.steps if e.at is not None and claim.at is not None and e.at > claim.at + 60}
        return len(later) >= 3 or any(e.at is not None and e.at > claim.at for e in self.done)


def course_of(entries: Sequence[Entry]) -> Course:
    """What kind of going-on each entry shows."""
    steps = tuple(entry for entry in entries if is_step(entry.text))
    return Course(
        steps=steps,
        long=tuple(entry for entry in entries if _LONG.search(entry.text[:400])),
        done=tuple(entry for entry in entries if _DONE.search(entry.text[:400])),
        silent=tuple(entry for entry in entries if _SILENT.match(entry.text)) or _standing_bar(entries),
        begun=any(_BEGUN.search(entry.text[:400]) and not _LONG.search(entry.text[:200]) for entry in steps),
    )


def _standing_bar(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The last progress bar's first and last line at its last count, where its clock went on and the count did not."""
    bars = [(found, entry) for entry in entries if (found := _BAR.search(entry.text))]
    if not bars or any(_DONE.search(entry.text[:400]) for entry in entries):
        return ()
    last, end = bars[-1]
    same = [(found, entry) for found, entry in bars if entry.file == end.file and found["n"] == last["n"] != last["of"]]
    alike = [(found, entry) for found, entry in same if found["of"] == last["of"] and entry.rank == end.rank]
    stood = _seconds(last) - _seconds(alike[0][0]) if alike else 0.0
    return (alike[0][1], end) if stood >= STANDS_S else ()


def _seconds(bar: re.Match[str]) -> float:
    return 3600.0 * int(bar["h"] or 0) + 60.0 * int(bar["m"]) + int(bar["s"])


def is_step(text: str) -> bool:
    """Whether a line shows training going on."""
    return bool(_STEP.search(text[:600]))


def is_barrier(text: str) -> bool:
    """Whether a line stands in a barrier where ranks wait for one that prepares something."""
    return bool(_BARRIER.search(text))
