"""`progress`: step, loss, pace and phases, read from a log of any framework: no server, no code change.

Reads one file, or standard input as `-`, and never writes. What is no text is refused, by name.
"""

import math
import sys
from typing import TYPE_CHECKING, Any

import click

from headway.cli import quantities
from headway.cli.command import command, json_option
from headway.cli.language import say, word
from headway.cli.screen import note, out, pairs, table, write_json
from headway.domain.errors import PlatformError

if TYPE_CHECKING:
    from headway.diagnosis.progress import Progress, Record

STANDARD_INPUT = "-"
HEAD = 8192
MOST_BINARY = 0.05
"""The share of control characters in the first bytes above which a file is no text."""
CONTROLS = bytes({*range(7), *range(14, 27), *range(28, 32)})
NEWEST = 5
"""Records shown to a person."""


@command("progress")
@click.argument("file", type=click.Path(allow_dash=True))
@json_option
def progress(file: str, fields: tuple[str, ...] | None) -> None:
    """Read a log's progress."""
    from headway.diagnosis.progress import read

    found = read(_lines(_content(file), file))
    if fields is not None:
        return write_json(as_json(found), fields)
    return _tell(found)


def as_json(found: "Progress") -> dict[str, Any]:
    """The reading in the schema of acceptance: durations in seconds, `nan` and `inf` as strings."""
    from headway.diagnosis.progress import as_dict

    return {
        "reader": found.reader,
        "records": [{name: _plain(value) for name, value in as_dict(one).items()} for one in found.records],
        "phases": [
            {"from_line": one.from_line, "to_line": one.to_line, "phase": str(one.phase)} for one in found.phases
        ],
    }


def _plain(value: float | None) -> float | str | None:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _content(file: str) -> bytes:
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        with open(file, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        raise PlatformError("progress-missing", file=file) from None
    except OSError as error:
        raise PlatformError("progress-unreadable", file=file, detail=error.strerror or str(error)) from error


def _lines(content: bytes, file: str) -> list[str]:
    """The lines of a text in UTF-8, UTF-16 with its mark, or GBK; bytes that fit none are replaced."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", errors="replace")
    else:
        head = content[:HEAD]
        if head and len(head) - len(head.translate(None, CONTROLS)) > MOST_BINARY * len(head):
            raise PlatformError("progress-not-text", file=file)
        text = _decoded(content)
    return text.removesuffix("\n").split("\n") if text else []


def _decoded(content: bytes) -> str:
    for encoding in ("utf-8", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("utf-8", errors="replace")


def _tell(found: "Progress") -> None:
    if found.reader is None:
        note(say("progress.no-reader"))
    else:
        out(say("progress.reader", reader=found.reader, count=quantities.whole(len(found.records))))
        newest = found.newest
        pairs(
            [
                (say("column.step"), quantities.steps(newest.step, newest.total_steps)),
                (say("column.loss"), quantities.decimal(newest.loss)),
                (say("column.pace"), quantities.pace(_pace(newest))),
                (say("column.left"), quantities.duration(newest.eta_s)),
            ]
        )
        _table(found.records[-NEWEST:])
    for one in found.phases:
        out(say("progress.phase", first=one.from_line, last=one.to_line, phase=word("phase", str(one.phase))))


def _table(records: "tuple[Record, ...]") -> None:
    titles = [say(f"column.{name}") for name in ("line", "step", "loss", "pace")]
    rows = [
        (
            quantities.whole(one.line),
            quantities.steps(one.step, one.total_steps),
            quantities.decimal(one.loss),
            quantities.pace(_pace(one)),
        )
        for one in records
    ]
    out()
    table(titles, rows, right=titles)
    out()


def _pace(one: "Record") -> float | None:
    return 1 / one.seconds_per_step if one.seconds_per_step else None
