"""Takes a line of output apart: segments between carriage returns, without colours, backspaces and what wraps the line.

Every pattern is linear and looks at `LONGEST` characters of a segment at most. No segment is dropped: they are counted.
"""

import re

LONGEST = 8192
"""Characters of a segment that are read."""

ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
BACKSPACES = re.compile(r"[ \x08]*\x08[ \x08]*")
CONTROLS = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f\ufeff]")
CONTAINER = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] ")
WRAPPED = re.compile(r'\{"(?:log|message|msg)":"((?:[^"\\]|\\.){0,8000})"')
PREFIX = re.compile(
    r"\s*(?:"
    r"\[(?:(?:default|rank ?)\d{1,6}\]:?|\d{1,6}\]:)|rank\d{1,6}(?:\[\d+\])?(?:\[\w+\])?:"
    r"|\[\d+,\d+\]<std(?:out|err)>:?|\d{1,5}: (?=\D|\d{4}-\d\d-|\d{1,9}/\d)"
    r"|\([A-Za-z_][\w.]{0,80}(?: pid=\d{1,9}[^()]{0,80})\)|\[pod/[\w./-]{1,200}\]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w./-]{1,80}(?:\[\d{1,9}\])?:"
    r")\s?"
)
"""Who printed a line: ranks of torchrun, Ray, mpirun and srun, containers, syslog."""
CLOCK = re.compile(
    r"(?<![\w/.])[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d(?:[ T-]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)?"
    r"|\d\d[/-]\d\d(?:/\d{2,4})? \d\d:\d\d:\d\d"
    r"|[IWE]\d{4} \d\d:\d\d:\d\d\.\d{1,9}(?: +\d{1,20})?"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4})"
    r"(?:Z|[+-]\d\d:?\d\d)?[\])]?"
)
BARE_CLOCK = re.compile(r"\s{0,8}[\[(]?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[\])]?(?=\s)")
SOURCE = re.compile(r"[\w./-]{1,120}\.(?:py|cc|cpp|cu|h|go):\d{1,6}")
LEVEL = re.compile(r"\[?(?:INFO|WARNING|WARN|DEBUG)\]?(?=\s)[\s|-]{0,4}")
HEAD = 160
"""Clocks are taken out of the first characters only: further on they are times left."""


def segments(line: str) -> list[str]:
    """The parts of a line between its carriage returns."""
    return line.split("\r")


def clean(segment: str) -> str:
    """The words of a segment, without escapes, control characters, container wrappers and rank prefixes."""
    text = segment[:LONGEST]
    if "\x1b" in text:
        text = ESCAPES.sub("", text)
    if "\x08" in text:
        text = BACKSPACES.sub("\n", text)
    if not text.isprintable():
        text = CONTROLS.sub("", text)
    text = _unwrapped(text)
    for _ in range(3):
        prefix = PREFIX.match(text)
        if prefix is None:
            break
        text = text[prefix.end() :]
    return text


def without_clocks(text: str) -> str:
    """The text without the dates, times, levels and source places that loggers put in front."""
    head = SOURCE.sub(" ", CLOCK.sub(" ", text[:HEAD]))
    if (bare := BARE_CLOCK.match(head)) is not None:
        head = head[bare.end() :]
    head = head.lstrip(" \t]:,|")
    level = LEVEL.match(head)
    return head[level.end() if level is not None else 0 :] + text[HEAD:]


def _unwrapped(text: str) -> str:
    if text[:1].isdigit() and (found := CONTAINER.match(text)) is not None:
        text = text[found.end() :]
    if text.startswith('{"') and (log := WRAPPED.match(text)) is not None:
        text = log.group(1).replace('\\"', '"').replace("\\n", "").replace("\\r", " ").replace("\\t", "\t")
    return text
