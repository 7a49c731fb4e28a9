"""`examine`: what stopped a job, from a folder of log files alone: no server, no other input.

Reads files in chunks and never writes. A file it may not read ends it, so that nothing is concluded from a part unsaid.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli import quantities
from headway.cli.command import command, json_option
from headway.cli.language import language, say, word
from headway.cli.screen import out, write_json
from headway.domain.errors import PlatformError

if TYPE_CHECKING:
    from headway.diagnosis.examine_files import ExaminedOut
    from headway.diagnosis.reading.read import Source

CHUNK = 1 << 20
_SHOWN = 160
_GZIP = b"\x1f\x8b"
_TEXT = bytes({7, 8, 9, 10, 11, 12, 13, 27, *range(32, 127), *range(128, 256)})
MOST_BINARY = 0.05
"""The share of bytes no text has (NULs aside, which hang at the end of logs) above which a file is not a log."""


@command("examine")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def examine(folder: Path, fields: tuple[str, ...] | None) -> None:
    """Examine a folder of logs."""
    from headway.diagnosis.examine_files import examine_files

    sources = list(_sources(folder))
    if not sources:
        raise PlatformError("examine-empty", folder=str(folder))
    found = examine_files(sources, language())
    if fields is not None:
        return write_json(dict(found), fields)
    return _tell(found, [source.path for source in sources])


def _sources(folder: Path) -> Iterator["Source"]:
    """Every regular file below the folder that holds text, in order of its path."""
    from headway.diagnosis.reading.read import Source

    if not folder.is_dir():
        raise PlatformError("examine-missing", folder=str(folder))
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        head = _head(path)
        if head and not _is_binary(head):
            yield Source(path.relative_to(folder).as_posix(), _chunks(path))


def _head(path: Path) -> bytes:
    return next(_chunks(path), b"")[:8192]


def _is_binary(head: bytes) -> bool:
    full = head.replace(b"\0", b"")
    return not full or len(full.translate(None, _TEXT)) > MOST_BINARY * len(full) or head.count(b"\0") > len(head) // 2


def _chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked if it is gzip: of a damaged one as much as there is."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == _GZIP
        with gzip.open(path) if packed else path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
    except OSError as error:
        detail = error.strerror or str(error)
        raise PlatformError("examine-unreadable", file=str(path), detail=detail) from error


def _tell(found: "ExaminedOut", paths: list[str]) -> None:
    """The finding for a person: the cause, where it began, whose move it is, what to read and what to do."""
    from headway.diagnosis.describe import title
    from headway.diagnosis.examine_files import reading_order

    out(f"{title(found['cause_class'], language())}  [{found['cause_class']}]")
    said = [word("move", found["actor"] or "nobody")]
    if found["cause_class"] != "NONE":
        out(f"  {say('examine.first', where=_where(found))}")
        said.append(word("retry", found["retry"]))
    out(f"  {' · '.join([*said, say('examine.sure', share=quantities.share(found['confidence']))])}")
    if found["followers"]:
        out(f"  {say('examine.followers', ranks=', '.join(map(str, found['followers'])))}")
    if found["evidence"]:
        out(f"\n{say('examine.read')} {', '.join(reading_order(found, paths))}")
    for line in found["evidence"]:
        out(f"  {line['file']} @{line['offset']}  {line['line'].strip()[:_SHOWN]}")
    out(f"\n{say('examine.next')}")
    for step in found["next_steps"]:
        out(f"  - {step}")


def _where(found: "ExaminedOut") -> str:
    rank, node, role, location = found["first_rank"], found["first_node"], found["first_role"], found["code_location"]
    parts = [
        role or (say("examine.nobody") if rank is None else say("examine.rank", rank=rank)),
        say("examine.node", node=node) if node else "",
        say("examine.location", location=location) if location else "",
    ]
    return " ".join(part for part in parts if part)
